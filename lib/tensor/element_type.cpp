#include "tensor/element_type.hpp"

#include <array>
#include <vector>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace ovir {

namespace {

struct Row {
  std::string_view name, precision;
};

/// In the order of the enumerators.
constexpr std::array<Row, kElementTypeCount> kRows{{
    {"dynamic", "UNSPECIFIED"},
    {"f64", "FP64"},
    {"f32", "FP32"},
    {"f16", "FP16"},
    {"bf16", "BF16"},
    {"f8e4m3", "F8E4M3"},
    {"f8e5m2", "F8E5M2"},
    {"f8e8m0", "F8E8M0"},
    {"f4e2m1", "F4E2M1"},
    {"nf4", "NF4"},
    {"i64", "I64"},
    {"i32", "I32"},
    {"i16", "I16"},
    {"i8", "I8"},
    {"i4", "I4"},
    {"u64", "U64"},
    {"u32", "U32"},
    {"u16", "U16"},
    {"u8", "U8"},
    {"u6", "U6"},
    {"u4", "U4"},
    {"u3", "U3"},
    {"u2", "U2"},
    {"u1", "BIN"},
    {"boolean", "BOOL"},
    {"string", "STRING"},
}};

constexpr const Row& row(ElementType t) { return kRows[static_cast<std::size_t>(t)]; }

}  // namespace

std::string_view name(ElementType t) { return row(t).name; }
std::string_view precision_name(ElementType t) { return row(t).precision; }

std::optional<ElementType> parse_element_type(std::string_view word) {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (equals_ignoring_case(word, kRows[i].name) || equals_ignoring_case(word, kRows[i].precision))
      return static_cast<ElementType>(i);
  if (equals_ignoring_case(word, "undefined")) return ElementType::dynamic;
  return std::nullopt;
}

std::optional<ElementType> nearest_element_type(std::string_view word) {
  std::vector<std::string_view> words;
  for (const auto& r : kRows) words.insert(words.end(), {r.name, r.precision});
  const auto near = nearest(word, words);
  return near ? parse_element_type(*near) : std::nullopt;
}

std::optional<i64> packed_size(ElementType t, i64 count) {
  if (t == ElementType::string || count < 0) return std::nullopt;
  const i64 bits = bit_width(t);
  if (bits >= 8 || bits == 0) return checked_mul(count, bits / 8);
  // Elements that share bytes, and how many bytes they share: a group is stored whole where its elements straddle
  // bytes.
  const bool planes = t == ElementType::u3 || t == ElementType::u6;
  const i64 bytes = planes ? 3 : 1, group = 8 * bytes / bits;
  return (count / group + (count % group != 0 ? 1 : 0)) * bytes;
}

}  // namespace ovir
