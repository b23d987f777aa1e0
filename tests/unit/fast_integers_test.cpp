// Operations and reductions of integers against arithmetic in 128 bits.
#include <limits>
#include <numeric>
#include <type_traits>

#include "fast/isa/lines.hpp"
#include "kernels.hpp"

namespace ovir::fast {
namespace {

__extension__ using Wide = __int128;
__extension__ using Unsigned = unsigned __int128;

template <class T>
constexpr WholeType kType{.bytes = sizeof(T), .is_signed = std::is_signed_v<T>};

/// Small numbers, those around the limits of what floats, words and doubles hold, and any.
template <class T>
std::vector<T> numbers(bool small) {
  std::vector<T> v;
  for (int i = -7; i <= 7; ++i) v.push_back(static_cast<T>(i));
  if (small && std::is_unsigned_v<T>) v.erase(v.begin(), v.begin() + 7);
  for (const unsigned bits : {7, 15, 22, 30, 31, 50}) {
    if (bits + 1 >= 8 * sizeof(T)) break;
    for (const int beside : {-1, 0}) v.push_back(static_cast<T>((std::uint64_t{1} << bits) + static_cast<T>(beside)));
    if (small) break;
  }
  if (small) return v;
  using Limits = std::numeric_limits<T>;
  for (const T x : {Limits::min(), Limits::max(), static_cast<T>(Limits::max() / 3), static_cast<T>(Limits::min() + 1)})
    v.push_back(x);
  std::mt19937_64 engine(sizeof(T));
  for (int i = 0; i < 20; ++i) v.push_back(static_cast<T>(engine() >> (i % 4) * 10));
  return v;
}

Wide power(Wide a, Wide b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1;
  for (auto square = static_cast<std::uint64_t>(a); b != 0; b /= 2, square *= square)
    if (b % 2 != 0) result *= square;
  return static_cast<Wide>(result);
}

/// What f(a, b) is before it wraps.
Wide exact(Whole f, Wide a, Wide b) {
  const Wide quotient = b == 0 ? 0 : a / b, remainder = b == 0 ? 0 : a % b;
  const bool below = remainder != 0 && (remainder < 0) != (b < 0);
  switch (f) {
    case Whole::add: return a + b;
    case Whole::subtract: return a - b;
    case Whole::multiply: return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
    case Whole::squared_difference:
      return static_cast<Wide>(static_cast<Unsigned>(a - b) * static_cast<Unsigned>(a - b));
    case Whole::maximum: return std::max(a, b);
    case Whole::minimum: return std::min(a, b);
    case Whole::bits_and: return a & b;
    case Whole::bits_or: return a | b;
    case Whole::bits_xor: return a ^ b;
    case Whole::absolute: return a < 0 ? -a : a;
    case Whole::sign: return (a > 0) - (a < 0);
    case Whole::divide: return quotient;
    case Whole::floor_divide: return quotient - below;
    case Whole::mod: return remainder;
    case Whole::floor_mod: return below ? remainder + b : remainder;
    case Whole::power: return power(a, b);
    case Whole::equal: return a == b;
    case Whole::not_equal: return a != b;
    case Whole::less: return a < b;
    case Whole::less_equal: return a <= b;
    case Whole::greater: return a > b;
    case Whole::greater_equal: return a >= b;
  }
  return 0;
}

template <class T>
void check_operations(bool small) {
  const auto values = numbers<T>(small);
  const auto n = static_cast<i64>(values.size());
  for (auto f = Whole::add; f <= Whole::greater_equal; f = static_cast<Whole>(static_cast<int>(f) + 1)) {
    if ((f == Whole::absolute || f == Whole::sign) && std::is_unsigned_v<T>) continue;
    for (const T by : values) {
      const std::vector<T> row(values.size(), by);
      const auto check = [&](const T* a, i64 a_step, const T* b, i64 b_step) {
        std::vector<T> y(values.size());
        line_isa().whole(f, kType<T>, a, a_step, b, b_step, y.data(), n);
        for (std::size_t i = 0; i < y.size(); ++i) {
          const T left = a[static_cast<i64>(i) * a_step], right = b[static_cast<i64>(i) * b_step];
          const auto expected = exact(f, left, right);
          const bool same = f >= Whole::equal ? reinterpret_cast<const std::uint8_t*>(y.data())[i] == expected
                                              : y[i] == static_cast<T>(expected);
          INFO("operation " << static_cast<int>(f) << " of " << +left << " and " << +right << " gives " << +y[i]);
          REQUIRE(same);
        }
      };
      check(values.data(), 1, row.data(), 1);
      check(values.data(), 1, &by, 0);
      check(&by, 0, values.data(), 1);
    }
    if (f >= Whole::equal) continue;
    std::vector<T> y(values.size());
    auto in_place = values;
    line_isa().whole(f, kType<T>, values.data(), 1, values.data() + 1, 0, y.data(), n);
    line_isa().whole(f, kType<T>, in_place.data(), 1, values.data() + 1, 0, in_place.data(), n);
    REQUIRE(in_place == y);
  }
}

Wide joined(Fold f, Wide a, Wide b) {
  switch (f) {
    case Fold::product: return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
    case Fold::maximum: return std::max(a, b);
    case Fold::minimum: return std::min(a, b);
    case Fold::absolute: return a + (b < 0 ? -b : b);
    default: return a + b;
  }
}

template <class T>
void check_folds() {
  constexpr i64 kRows = 5, kStep = 203;
  const auto some = numbers<T>(false);
  std::vector<T> x(at(kRows * kStep));
  std::mt19937 engine(3);
  for (auto& v : x) v = some[engine() % some.size()];
  for (const auto f : {Fold::sum, Fold::absolute, Fold::product, Fold::maximum, Fold::minimum})
    for (i64 n = 0; n <= 200; ++n) {
      const Wide start = f == Fold::product   ? 1
                         : f == Fold::maximum ? std::numeric_limits<T>::min()
                         : f == Fold::minimum ? std::numeric_limits<T>::max()
                                              : 0;
      const auto join = [&](Wide a, T b) { return static_cast<Wide>(static_cast<T>(joined(f, a, b))); };
      const auto expected = std::accumulate(x.begin(), x.begin() + n, start, join);
      T row;
      line_isa().whole_row(f, kType<T>, x.data(), n, &row);
      INFO("fold " << static_cast<int>(f) << " of " << n);
      REQUIRE(row == static_cast<T>(expected));
      std::vector<T> columns(at(n), T{3});
      line_isa().whole_columns(f, kType<T>, x.data(), kStep, kRows, columns.data(), n);
      for (i64 c = 0; c < n; ++c) {
        Wide all = 3;
        for (i64 r = 0; r < kRows; ++r) all = join(all, x[at(r * kStep + c)]);
        REQUIRE(columns[at(c)] == static_cast<T>(all));
      }
    }
  for (i64 n = 0; n <= 200; ++n) {
    const auto add = [](std::uint64_t a, T b) { return a + static_cast<std::uint64_t>(b); };
    REQUIRE(static_cast<std::uint64_t>(line_isa().whole_sum(kType<T>, x.data(), n)) ==
            std::accumulate(x.begin(), x.begin() + n, std::uint64_t{0}, add));
    std::vector<i64> columns(at(n));
    line_isa().whole_sums(kType<T>, x.data(), kStep, kRows, columns.data(), n);
    for (i64 c = 0; c < n; ++c) {
      std::uint64_t sum = 0;
      for (i64 r = 0; r < kRows; ++r) sum = add(sum, x[at(r * kStep + c)]);
      REQUIRE(static_cast<std::uint64_t>(columns[at(c)]) == sum);
    }
  }
}

template <class Check>
void for_each_type(Check check) {
  check(std::int8_t{});
  check(std::int16_t{});
  check(std::int32_t{});
  check(i64{});
  check(std::uint8_t{});
  check(std::uint16_t{});
  check(std::uint32_t{});
  check(std::uint64_t{});
}

TEST_CASE(
    "operations of integers: what wraps, division by 0 and -1, and of numbers that floats or doubles can't hold") {
  for_each_isa([] {
    for_each_type([](auto of_type) {
      check_operations<decltype(of_type)>(true);
      check_operations<decltype(of_type)>(false);
    });
  });
}

TEST_CASE("reductions of integers: rows and columns of any length") {
  for_each_isa([] { for_each_type([](auto of_type) { check_folds<decltype(of_type)>(); }); });
}

}  // namespace
}  // namespace ovir::fast
