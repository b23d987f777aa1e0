// Inputs that a target makes up, small enough to run many of them.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.hpp"

namespace fuzz {

/// Choices that an input makes: its bytes one after another, then numbers that follow from all of them.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes), state_(0x9e3779b97f4a7c15) {
    for (const char c : bytes) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::uint64_t number() {
    std::uint64_t n = 0;
    if (at_ + 2 <= bytes_.size()) {
      n = static_cast<unsigned char>(bytes_[at_]) |
          static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_ + 1])) << 8;
      at_ += 2;
      return n;
    }
    state_ += 0x9e3779b97f4a7c15;  // SplitMix64
    n = state_;
    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
    n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
    return n ^ (n >> 31);
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : number() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t state_;
};

enum class Fill { zeros, ones, small, fractions, special };

/// A tensor of numbers (or short strings); booleans are 0 or 1.
inline ovir::Tensor filled(ovir::ElementType type, const ovir::Shape& shape, Fill fill, Choices& choices) {
  using namespace ovir;
  constexpr double kSpecial[] = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 1e38,
                                 -1e38,
                                 1e-40,
                                 65504,
                                 2147483648.0,
                                 -9.3e18,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  const auto count = static_cast<std::size_t>(element_count(shape));
  if (type == ElementType::string) {
    std::vector<std::string> texts(count);
    for (auto& text : texts) text = std::string(choices.below(4), static_cast<char>('a' + choices.below(3)));
    return Tensor::strings(shape, texts);
  }
  std::vector<double> values(count);
  for (auto& v : values) {
    if (fill == Fill::ones) v = 1;
    else if (fill == Fill::small) v = static_cast<double>(choices.below(9)) - 2;
    else if (fill == Fill::fractions) v = static_cast<double>(choices.below(2001)) / 500 - 2;
    else if (fill == Fill::special) v = choices.pick(kSpecial);
    if (type == ElementType::boolean) v = v > 0 ? 1 : 0;
  }
  return convert(Tensor::of<double>(ElementType::f64, shape, values), type);
}

/// A shape that the partial one allows, of at most about `largest` elements; nothing where it has none so small.
inline std::optional<ovir::Shape> some_shape(ovir::PartialShape partial, ovir::i64 largest, Choices& choices) {
  using namespace ovir;
  if (!partial.has_rank()) partial = PartialShape::of_rank(static_cast<i64>(choices.below(5)));
  Shape shape;
  i64 count = 1;
  for (const auto& d : partial) {
    const i64 room = d.max == Dim::kUnbounded ? 4 : std::min<i64>(d.max - d.min, 4);
    const auto n = d.min + static_cast<i64>(choices.below(static_cast<std::size_t>(room) + 1));
    if (n > largest || (n > 0 && count > largest / n)) return std::nullopt;
    count *= std::max<i64>(n, 1);
    shape.push_back(n);
  }
  return shape;
}

}  // namespace fuzz
