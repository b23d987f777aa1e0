// Conversions of the fast tier, between any two of its types, against those of tensors.
#include <cstring>
#include <limits>

#include "fast/kernels/elementwise/convert.hpp"
#include "kernels.hpp"
#include "small_model.hpp"
#include "tensor/tensor.hpp"

namespace ovir::fast {
namespace {

/// Numbers that wrap, saturate, are rounded or are none, and enough small ones for pieces without them.
Tensor numbers() {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> values;
  for (int i = 0; i < 600; ++i) values.push_back(static_cast<float>(i - 300) * 0.75F);
  for (const auto v : {0.0F,          0.5F,          1e-8F,    127.5F,   128.0F,   255.9F,   256.0F,
                       300.0F,        32768.0F,      65504.0F, 65520.0F, 65536.0F, 70000.3F, 2147483520.0F,
                       2147483648.0F, 4294967296.0F, 5e9F,     9.2e18F,  9.3e18F,  1e30F,    kInf})
    for (const auto sign : {1.0F, -1.0F}) values.push_back(sign * v);
  values.push_back(std::nanf(""));
  return ::floats({static_cast<i64>(values.size())}, values);
}

TEST_CASE("conversions: the same bits as those of tensors") {
  for_each_isa([] {
    for (int f = 0; f < kElementTypeCount; ++f)
      for (int t = 0; t < kElementTypeCount; ++t) {
        const auto from = static_cast<ElementType>(f), to = static_cast<ElementType>(t);
        if (from == to || !contains(kConverted, from) || !contains(kConverted, to)) continue;
        INFO(name(from) << " to " << name(to));
        const auto x = convert(numbers(), from), expected = convert(x, to);
        Tensor y(to, x.shape());
        convert_elements(from, x.bytes(), to, y.mutable_bytes(), x.size());
        CHECK(std::memcmp(y.bytes(), expected.bytes(), expected.byte_size()) == 0);
      }
    for (const auto narrow : {ElementType::f16, ElementType::bf16}) {
      const auto x = numbers(), expected = convert(convert(x, narrow), ElementType::f32);
      Floats y(at(x.size()));
      round_elements(x.data<float>(), narrow, y.data(), x.size());
      CHECK(std::memcmp(y.data(), expected.bytes(), expected.byte_size()) == 0);
    }
  });
}

}  // namespace
}  // namespace ovir::fast
