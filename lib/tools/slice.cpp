#include "tools/slice.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>

#include "base/text.hpp"
#include "tensor/copy.hpp"

namespace ovir::tools {
namespace {

/// The elements first, first + step, ... of an axis; `dropped`: the one element, without the axis.
struct Part {
  i64 first = 0, step = 1, count = 0;
  bool dropped = false;
};

[[noreturn]] void malformed(std::string_view word) {
  throw std::invalid_argument(fmt::format("'{}': expected a number, begin:end:step or ...", printable(word)));
}

std::optional<i64> number(std::string_view word) {
  if (trim(word).empty()) return std::nullopt;
  const auto n = parse_number<i64>(word);
  if (!n) malformed(word);
  return n;
}

Part range(std::string_view word, i64 length) {
  std::vector<std::optional<i64>> parts;
  for (std::size_t begin = 0; begin <= word.size();) {
    const auto end = std::min(word.find(':', begin), word.size());
    parts.push_back(number(word.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (parts.size() > 3) malformed(word);
  parts.resize(3);
  const auto step = parts[2].value_or(1);
  if (step == 0) throw std::invalid_argument(fmt::format("'{}': the step must not be 0", printable(word)));
  // A border lies in [0, length] going forwards, in [-1, length - 1] going backwards.
  const i64 low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1;
  const auto border = [&](const std::optional<i64>& given, i64 otherwise) {
    if (!given) return otherwise;
    return std::clamp(*given < 0 ? *given + length : *given, low, high);
  };
  const auto begin = border(parts[0], step > 0 ? low : high), end = border(parts[1], step > 0 ? high : low);
  const auto distance = step > 0 ? end - begin : begin - end;
  // -step may not be a number of 64 bits.
  const auto stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const auto count = distance <= 0 ? 0 : static_cast<i64>((static_cast<std::uint64_t>(distance) - 1) / stride) + 1;
  return {begin, count > 1 ? step : 1, count, false};
}

Part part(std::string_view word, i64 axis, i64 length) {
  if (word.find(':') != word.npos) return range(word, length);
  const auto n = number(word);
  if (!n) malformed(word);
  if (*n < -length || *n >= length)
    throw std::invalid_argument(fmt::format("{} is outside axis {}, which has length {}", *n, axis, length));
  return {*n < 0 ? *n + length : *n, 1, 1, true};
}

}  // namespace

Tensor slice(const Tensor& given, std::string_view text) {
  const auto t = given.unpacked();
  std::vector<std::string_view> words;
  for (const auto word : split(text, ',')) words.push_back(trim(word));
  const auto dots = std::count(words.begin(), words.end(), "...");
  const auto named = std::ssize(words) - dots;
  if (dots > 1)
    throw std::invalid_argument(fmt::format("expected \"...\" at most once, but it is there {} times", dots));
  if (named > t.rank())
    throw std::invalid_argument(fmt::format("expected at most {} for shape {}, but there {}",
                                            counted(t.rank(), "index", "indices"), to_string(t.shape()),
                                            named == 1 ? "is 1" : fmt::format("are {}", named)));
  if (dots == 0) words.emplace_back("...");
  const auto strides = strides_of(t.shape());
  i64 first = 0, axis = 0;
  Shape shape, steps;
  const auto take = [&](const Part& p) {
    first += p.count > 0 ? p.first * strides[axis] : 0;
    if (!p.dropped) {
      shape.push_back(p.count);
      steps.push_back(p.step * strides[axis]);
    }
    ++axis;
  };
  for (const auto word : words) {
    if (word != "...") {
      take(part(word, axis, t.dim(axis)));
      continue;
    }
    for (auto rest = t.rank() - named; rest > 0; --rest) take({0, 1, t.dim(axis), false});
  }
  Tensor out(t.type(), shape);
  if (t.type() == ElementType::string) out.keep_alive(t);
  if (out.size() > 0) gather_strided(t, first, steps, shape, out);
  return out;
}

}  // namespace ovir::tools
