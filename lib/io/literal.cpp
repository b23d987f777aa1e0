#include "io/literal.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "diag/diagnostic.hpp"
#include "io/files.hpp"
#include "io/number.hpp"

namespace ovir::io {

namespace {

struct Head {
  Shape shape;
  ElementType type;
};

/// "2x3xf32": dims, then a type.
std::optional<Head> parse_head(std::string_view text) {
  auto words = split(text, 'x');
  if (words.empty()) return std::nullopt;
  const auto type = parse_element_type(words.back());
  if (!type || *type == ElementType::dynamic) return std::nullopt;
  words.pop_back();
  Head head{{}, *type};
  for (const auto word : words) {
    const auto n = parse_number<i64>(word);
    if (!n || *n < 0) return std::nullopt;
    head.shape.push_back(*n);
  }
  return head;
}

constexpr bool separates(char c) { return c == ' ' || c == ',' || (c >= '\t' && c <= '\r'); }

/// In a quoted word a backslash takes the next character as it stands.
std::string take_quoted(std::string_view& rest) {
  std::string word;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return word;
    }
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    word += rest[i];
  }
  fail(Code::E0705, "a quote is not closed: {}", printable(rest));
}

std::vector<std::string> words_of(std::string_view rest) {
  std::vector<std::string> words;
  for (;;) {
    while (!rest.empty() && separates(rest.front())) rest.remove_prefix(1);
    if (rest.empty()) return words;
    if (rest.front() == '"') {
      words.push_back(take_quoted(rest));
      continue;
    }
    std::size_t end = 0;
    while (end < rest.size() && !separates(rest[end])) ++end;
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
}

/// Types of so few values do not round in silence.
void require_exact(const Tensor& tensor, const std::vector<std::string>& words, const std::vector<Number>& numbers) {
  const auto values = to_f64(tensor);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto nearest = static_cast<float>(values[i]);
    if (nearest == static_cast<float>(numbers[i].real) || std::isnan(numbers[i].real)) continue;
    fail(Code::E0705, "{} cannot represent {}; the nearest is {}", name(tensor.type()), printable(words[i]), nearest);
  }
}

}  // namespace

std::optional<Tensor> parse_literal(std::string_view text, bool wide) {
  const auto equals = text.find('=');
  if (equals == text.npos) return std::nullopt;
  const auto head = parse_head(trim(text.substr(0, equals)));
  if (!head) return std::nullopt;
  const auto body = trim(text.substr(equals + 1));
  const bool is_text = head->type == ElementType::string;
  if (body.starts_with('@') && !is_text) return read_raw(std::string(body.substr(1)), head->type, head->shape);

  // One text needs no quotes around its blanks.
  const auto words =
      is_text && head->shape.empty() && !body.starts_with('"') ? std::vector{std::string(body)} : words_of(body);
  const auto count = checked_product(head->shape);
  if (!count) fail(Code::E0705, "{}{} has 2^63 elements or more", name(head->type), to_string(head->shape));
  if (*count != std::ssize(words))
    fail(Code::E0705, "expected {} for {}{}, but got {}", counted(*count, "value"), name(head->type),
         to_string(head->shape), words.size());
  if (is_text) return Tensor::strings(head->shape, words);

  std::vector<Number> numbers;
  numbers.reserve(words.size());
  for (const auto& word : words) {
    const auto n = parse_number_word(word);
    if (!n)
      fail(Code::E0705, "\"{}\" is not {}", printable(word),
           head->type == ElementType::boolean ? "a boolean: true, false, 0 or 1" : "a number");
    numbers.push_back(*n);
  }
  const bool narrow = contains(kNarrowFloat, head->type);
  auto tensor = tensor_of(narrow && wide ? ElementType::f32 : head->type, head->shape, numbers);
  if (narrow && !wide) require_exact(tensor, words, numbers);
  return tensor;
}

}  // namespace ovir::io
