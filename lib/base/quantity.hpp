// Amounts with units, as people write and read them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/int.hpp"

namespace ovir {

/// "48 bytes", "3.5 MB": steps of 1000, as disks and networks count.
std::string size_text(i64 bytes);

/// "850 ns", "12.3 us", "4.56 ms", "2 s": three significant digits.
std::string duration_text(double ms);

struct TimeUnit {
  const char* name;
  double per_ms;  ///< how many are a millisecond
};
/// For a column of times of which this is a typical one: "us" below 0.1 ms, else "ms".
TimeUnit time_unit(double ms);

/// "300M", "64 MiB", "1.5": a number, and k, M, G or T in steps of 1000, KiB, MiB, GiB or TiB in steps of 1024; a B
/// may follow, and letter case does not matter. Nothing for any other text.
std::optional<double> parse_quantity(std::string_view text);

/// Seconds: "60s", "500ms", "1.5": a positive number with ms, s, m or min, or h; alone it is seconds. Nothing for any
/// other text.
std::optional<double> parse_duration(std::string_view text);

}  // namespace ovir
