// StringTensorUnpack: strings as one row of bytes, and where each begins and ends.
// Spec: operation-sets/operation-specs/type/string-tensor-unpack-15
#include "op/op.hpp"

namespace ovir::ops::string_tensor_unpack {
namespace {

enum Input { data };
enum Output { begins, ends, symbols };

i64 total(const Tensor& strings) {
  i64 bytes = 0;
  for (const auto s : strings.values<std::string_view>()) bytes += std::ssize(s);
  return bytes;
}

void infer(InferContext& c) {
  c.output(begins, c.shape(data));
  c.output(ends, c.shape(data));
  c.output(symbols, PartialShape{c.peek(data) ? Dim(total(*c.peek(data))) : Dim()});
}

void eval(EvalContext& c) {
  const auto& strings = c.in(data);
  const auto bytes = total(strings);
  if (bytes > std::numeric_limits<std::int32_t>::max())
    fail(Code::E0003, "the strings have {} bytes, more than 32-bit positions can address", bytes);
  auto *begin = c.out(begins, strings.shape()).mutable_data<std::int32_t>(),
       *end = c.out(ends, strings.shape()).mutable_data<std::int32_t>();
  auto* to = c.out(symbols, {bytes}).mutable_data<std::uint8_t>();
  std::int32_t at = 0;
  for (const auto s : strings.values<std::string_view>()) {
    *begin++ = at;
    to = std::copy(s.begin(), s.end(), to);
    at += static_cast<std::int32_t>(s.size());
    *end++ = at;
  }
}

constexpr TypeVar TString{"T_STRING", set_of(ElementType::string)}, TIndex{"T_IDX", set_of(ElementType::i32)},
    TByte{"T_U8", set_of(ElementType::u8)};
constexpr PortDef kInputs[] = {{"data", TString}};
constexpr PortDef kOutputs[] = {{"begins", TIndex}, {"ends", TIndex}, {"symbols", TByte}};
constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .infer = infer,
     .sized_by_data = true,
     .eval = eval,
     .lift = Lift::moves},
};

}  // namespace

extern constinit const OpDef def{
    .type = "StringTensorUnpack", .spec = "type/string-tensor-unpack", .versions = kVersions};

}  // namespace ovir::ops::string_tensor_unpack
