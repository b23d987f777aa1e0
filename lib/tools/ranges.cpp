#include "tools/ranges.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tensor/dispatch.hpp"

namespace ovir::tools {
namespace {

constexpr FloatLimits kF16{ElementType::f16, 65504, 65520, 0x1p-14, 0x1p-25};
constexpr FloatLimits kBf16{ElementType::bf16, 0x1.FEp127, 0x1.FFp127, 0x1p-126, 0x1p-134};

void add(ValueRange& range, const Tensor& given, const std::vector<ElementType>& types) {
  const bool narrow = given.type() != ElementType::f32 && given.type() != ElementType::f64;
  const auto t = narrow ? convert(given, ElementType::f32) : given;
  dispatch(t.type(), Floats{}, [&]<class T>() {
    for (const auto x : t.values<T>()) {
      const auto v = std::abs(static_cast<double>(x));
      if (!std::isfinite(v)) continue;
      ++range.count;
      range.largest = std::max(range.largest, v);
      if (v == 0) continue;
      range.smallest = range.smallest == 0 ? v : std::min(range.smallest, v);
      for (std::size_t k = 0; k < types.size(); ++k) {
        const auto& limits = limits_of(types[k]);
        auto& share = range.shares[k];
        if (v >= limits.beyond) ++share.too_large;
        else if (v <= limits.zero) ++share.to_zero;
        else if (v < limits.normal) ++share.subnormal;
      }
    }
  });
}

}  // namespace

const FloatLimits& limits_of(ElementType type) {
  if (type == ElementType::f16) return kF16;
  if (type == ElementType::bf16) return kBf16;
  throw std::logic_error("only the limits of f16 and bf16 are known");
}

double ValueRange::headroom(const FloatLimits& limits) const {
  return largest == 0 ? std::numeric_limits<double>::infinity() : limits.largest / largest;
}

Verdict RangeWatch::after(Event& event) {
  for (int o = 0; o < std::ssize(event.outputs); ++o) {
    const auto port = o;
    const auto& t = event.outputs[o];
    if (!t || !is_float(t.type()) || !what_.takes(event, port)) continue;
    const auto [place, added] = place_.try_emplace({&event.node, port}, ranges_.size());
    if (added) {
      ranges_.push_back({&event.model, event.index, port, 0, 0, 0, {}});
      ranges_.back().shares.resize(types_.size());
    }
    add(ranges_[place->second], t, types_);
  }
  return Verdict::go_on;
}

}  // namespace ovir::tools
