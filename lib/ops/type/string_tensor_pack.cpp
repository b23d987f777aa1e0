// StringTensorPack: strings from a row of bytes, given where each begins and ends.
// Spec: operation-sets/operation-specs/type/string-tensor-pack-15
#include "op/op.hpp"
#include "op/ports.hpp"

namespace ovir::ops::string_tensor_pack {
namespace {

enum Input { begins, ends, symbols };

/// String `i` lies within the symbols.
void check(const Version& version, std::size_t i, i64 begin, i64 end, i64 size) {
  if (begin < 0 || begin > size)
    fail_at(
        version, begins, Code::E0508,
        fmt::format("element {} of input \"begins\" of StringTensorPack must be in 0..{}, but is {}", i, size, begin));
  if (end < begin || end > size)
    fail_at(version, ends, Code::E0508,
            fmt::format("element {} of input \"ends\" of StringTensorPack must be in {}..{}, from where the string "
                        "begins to the number of symbols, but is {}",
                        i, begin, size, end));
}

void infer(InferContext& c) {
  c.require_rank(symbols, 1);
  if (const auto first = c.peek_ints(begins), last = c.peek_ints(ends); first && last && first->size() == last->size())
    for (std::size_t i = 0; i < first->size(); ++i)
      check(c.version(), i, (*first)[i], (*last)[i], axis_count(c.shape(symbols)).max);
  c.output(0, c.require_same_shape(begins, ends));
}

void eval(EvalContext& c) {
  const auto first = c.ints(begins), last = c.ints(ends);
  const auto& text = c.in(symbols);
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < first.size(); ++i) {
    check(c.version(), i, first[i], last[i], text.size());
    strings.emplace_back(reinterpret_cast<const char*>(text.bytes()) + first[i], last[i] - first[i]);
  }
  c.set_out(0, Tensor::strings(c.in(begins).shape(), strings));
}

constexpr TypeVar TString{"T_STRING", set_of(ElementType::string)}, TIndex{"T_IDX", kIndex},
    TByte{"T_U8", set_of(ElementType::u8)};
constexpr PortDef kInputs[] = {{"begins", TIndex}, {"ends", TIndex}, {"symbols", TByte}};
constexpr PortDef kOutputs[] = {{"result", TString}};
constexpr Version kVersions[] = {
    {.since = 15, .inputs = kInputs, .outputs = kOutputs, .infer = infer, .eval = eval, .lift = Lift::moves},
};

}  // namespace

extern constinit const OpDef def{.type = "StringTensorPack", .spec = "type/string-tensor-pack", .versions = kVersions};

}  // namespace ovir::ops::string_tensor_pack
