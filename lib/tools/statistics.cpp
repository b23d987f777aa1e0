#include "tools/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <zlib.h>

#include "io/npy.hpp"
#include "io/storable.hpp"
#include "tools/numbers.hpp"

namespace ovir::tools {
std::uint32_t digest_of(const Tensor& tensor) {
  const auto t = tensor.unpacked();
  uLong crc = ::crc32_z(0, nullptr, 0);
  const auto add = [&](const Tensor& part) {
    const auto bytes = io::npy_elements(io::storable(part));
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.view.data()), bytes.size());
  };
  // The width of texts in a file is that of the longest one.
  if (t.type() == ElementType::string) add(t);
  else each_part(t, [&](const Tensor& part, i64) { add(part); });
  return static_cast<std::uint32_t>(crc);
}

std::uint32_t digest_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(::crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Statistics statistics_of(const Tensor& tensor) {
  Statistics s;
  s.count = tensor.size();
  s.digest = digest_of(tensor);
  if (tensor.type() == ElementType::string) return s;
  double sum = 0;
  auto low = std::numeric_limits<double>::infinity(), high = -low;
  each_number(tensor, [&](double v) {
    if (std::isnan(v)) {
      ++s.nan;
    } else if (std::isinf(v)) {
      ++(v > 0 ? s.positive_infinite : s.negative_infinite);
    } else {
      if (v == 0) ++s.zero;
      low = std::min(low, v);
      high = std::max(high, v);
      sum += v;
    }
  });
  if (s.finite() == 0) return s;
  const auto n = static_cast<double>(s.finite());
  s.min = low;
  s.max = high;
  s.mean = sum / n;
  double squares = 0;
  // Of the halves, so that the width of no range overflows.
  const double width = high / 2 - low / 2;
  each_number(tensor, [&](double v) {
    if (!std::isfinite(v)) return;
    squares += (v - s.mean) * (v - s.mean);
    const auto bin = width > 0 ? static_cast<int>((v / 2 - low / 2) / width * Statistics::kBins) : 0;
    ++s.histogram[std::clamp(bin, 0, Statistics::kBins - 1)];
  });
  s.deviation = std::sqrt(squares / n);
  return s;
}

}  // namespace ovir::tools
