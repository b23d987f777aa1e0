#include "tensor/dim.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace ovir {

namespace {

constexpr auto kUnbounded = Dim::kUnbounded;

/// The least length must stay below "unbounded", or an overflowing length would pass for a known one.
Dim make(i64 min, i64 max, std::uint32_t symbol = 0) {
  min = std::clamp<i64>(min, 0, kUnbounded - 1);
  max = std::max(min, max);
  return {min, max, min == max ? 0 : symbol};
}

i64 add(i64 a, i64 b) { return checked_add(a, b).value_or(kUnbounded); }
i64 multiply(i64 a, i64 b) { return checked_mul(a, b).value_or(kUnbounded); }
bool is(const Dim& d, i64 n) { return d.is_static() && d.min == n; }
/// The symbol that stays where the other operand is the neutral element.
std::uint32_t kept_symbol(const Dim& a, const Dim& b, i64 neutral) {
  if (is(b, neutral)) return a.symbol;
  return is(a, neutral) ? b.symbol : 0;
}

}  // namespace

Dim operator+(Dim a, Dim b) { return make(add(a.min, b.min), add(a.max, b.max), kept_symbol(a, b, 0)); }

Dim operator-(Dim a, Dim b) {
  const auto min = b.is_bounded() ? a.min - b.max : 0;
  return make(min, a.is_bounded() ? a.max - b.min : kUnbounded, is(b, 0) ? a.symbol : 0);
}

Dim operator*(Dim a, Dim b) {
  return make(multiply(a.min, b.min), a.max == 0 || b.max == 0 ? 0 : multiply(a.max, b.max), kept_symbol(a, b, 1));
}

Dim div_floor(Dim a, i64 n) {
  if (n <= 0) return {};
  return make(a.min / n, a.is_bounded() ? a.max / n : kUnbounded, n == 1 ? a.symbol : 0);
}

Dim div_ceil(Dim a, i64 n) {
  if (n <= 0) return {};
  const auto up = [n](i64 x) { return x / n + (x % n != 0 ? 1 : 0); };
  return make(up(a.min), a.is_bounded() ? up(a.max) : kUnbounded, n == 1 ? a.symbol : 0);
}

std::optional<Dim> intersect(const Dim& a, const Dim& b) {
  if (!a.compatible(b)) return std::nullopt;
  return make(std::max(a.min, b.min), std::min(a.max, b.max), a.symbol != 0 ? a.symbol : b.symbol);
}

Dim hull(const Dim& a, const Dim& b) {
  return make(std::min(a.min, b.min), std::max(a.max, b.max), a.symbol == b.symbol ? a.symbol : 0);
}

std::optional<Dim> broadcast(const Dim& a, const Dim& b) {
  const bool a_one = a.contains(1), b_one = b.contains(1);
  const auto same = intersect(a, b);
  if (same && a.symbol != 0 && a.symbol == b.symbol) return same;
  // A length that cannot be 1 is the result, whatever the other is.
  if (!a_one && !b_one) return same;
  if (!b_one || is(a, 1)) return b;
  if (!a_one || is(b, 1)) return a;
  return make(std::min(a.min, b.min), std::max(a.max, b.max));
}

bool PartialShape::is_static() const {
  return ranked_ && std::all_of(dims_.begin(), dims_.end(), [](const Dim& d) { return d.is_static(); });
}

Shape PartialShape::to_shape() const {
  Shape lengths;
  for (const auto& d : dims_) lengths.push_back(d.length());
  return lengths;
}

Dim PartialShape::element_count() const {
  if (!ranked_) return {};
  Dim n = 1;
  for (const auto& d : dims_) n = n * d;
  // An overflow before a zero length is none.
  return std::any_of(dims_.begin(), dims_.end(), [](const Dim& d) { return is(d, 0); }) ? Dim(0) : n;
}

bool PartialShape::compatible(const PartialShape& o) const {
  if (!ranked_ || !o.ranked_) return true;
  return std::equal(dims_.begin(), dims_.end(), o.dims_.begin(), o.dims_.end(),
                    [](const Dim& a, const Dim& b) { return a.compatible(b); });
}

bool PartialShape::contains(const Shape& s) const {
  return !ranked_ ||
         std::equal(dims_.begin(), dims_.end(), s.begin(), s.end(), [](const Dim& d, i64 n) { return d.contains(n); });
}

std::optional<PartialShape> intersect(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank()) return std::nullopt;
  PartialShape both;
  for (i64 i = 0; i < a.rank(); ++i) {
    const auto d = intersect(a[i], b[i]);
    if (!d) return std::nullopt;
    both.push_back(*d);
  }
  return both;
}

PartialShape hull(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return PartialShape::unknown_rank();
  PartialShape either;
  for (i64 i = 0; i < a.rank(); ++i) either.push_back(hull(a[i], b[i]));
  return either;
}

std::optional<PartialShape> broadcast(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank()) return PartialShape::unknown_rank();
  const auto rank = std::max(a.rank(), b.rank());
  // Missing leading axes count as 1.
  const auto from_end = [rank](const PartialShape& s, i64 i) {
    return i < rank - s.rank() ? Dim(1) : s[i - (rank - s.rank())];
  };
  PartialShape out;
  for (i64 i = 0; i < rank; ++i) {
    const auto d = broadcast(from_end(a, i), from_end(b, i));
    if (!d) return std::nullopt;
    out.push_back(*d);
  }
  return out;
}

std::string to_string(const Dim& d) {
  if (d.is_static()) return std::to_string(d.min);
  if (!d.is_bounded()) return d.min == 0 ? "?" : std::to_string(d.min) + "..";
  return std::to_string(d.min) + ".." + std::to_string(d.max);
}

std::string attribute_text(const PartialShape& s) {
  const auto text = to_string(s);
  return text.substr(1, text.size() - 2);
}

std::string to_string(const PartialShape& s) {
  if (!s.has_rank()) return "[...]";
  std::string text = "[";
  for (i64 i = 0; i < s.rank(); ++i) {
    if (i > 0) text += ',';
    text += to_string(s[i]);
  }
  return text + ']';
}

std::string to_string(const Shape& s) { return to_string(PartialShape(s)); }

namespace {

std::optional<Dim> parse_dim(std::string_view text) {
  text = trim(text);
  if (text == "?" || text == "-1") return Dim();
  Dim d;
  const auto dots = text.find("..");
  const auto low = trim(text.substr(0, dots)), high = dots == text.npos ? low : trim(text.substr(dots + 2));
  if (low.empty() && high.empty()) return std::nullopt;
  for (const auto& [word, end] : {std::pair{low, &d.min}, std::pair{high, &d.max}}) {
    if (word.empty()) continue;
    const auto n = parse_number<i64>(word);
    if (!n || *n < 0 || word.front() == '+') return std::nullopt;
    *end = *n;
  }
  if (d.min > d.max || d.min == kUnbounded) return std::nullopt;
  return d;
}

std::string why_no_dim(std::string_view text) {
  text = trim(text);
  if (text.empty()) return "a dim is missing beside a comma";
  const auto dots = text.find("..");
  const auto low = trim(text.substr(0, dots)), high = dots == text.npos ? low : trim(text.substr(dots + 2));
  for (const auto word : {low, high}) {
    if (word.empty()) continue;
    if (!is_integer(word) || word.front() == '+') return '"' + printable(word) + "\" is not a length, a range or ?";
    if (word.front() == '-') return std::string(word) + " is negative";
    const auto n = parse_number<i64>(word);
    if (n == Dim::kUnbounded) return std::string(word) + " is too large";
    if (!n) return std::string(word) + " does not fit in 64 bits";
  }
  return "the range " + printable(text) + " is empty";
}

}  // namespace

std::string why_no_shape(std::string_view text) {
  text = trim(text);
  if (text.starts_with('[') != text.ends_with(']')) return "a bracket is missing";
  if (text.starts_with('[')) text = trim(text.substr(1, text.size() - 2));
  for (const auto part : split(text, ','))
    if (!parse_dim(part)) return why_no_dim(part);
  return "it is malformed";
}

std::optional<PartialShape> parse_shape(std::string_view text) {
  text = trim(text);
  const bool opened = text.starts_with('['), closed = text.ends_with(']');
  if (opened != closed) return std::nullopt;
  if (opened) text = trim(text.substr(1, text.size() - 2));
  if (text == "...") return PartialShape::unknown_rank();
  PartialShape shape;
  for (const auto part : split(text, ',')) {
    const auto d = parse_dim(part);
    if (!d) return std::nullopt;
    shape.push_back(*d);
  }
  return shape;
}

}  // namespace ovir
