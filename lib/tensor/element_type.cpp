#include "tensor/element_type.hpp"

#include <array>
#include <vector>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace ovir {

namespace {

struct Row {
  std::string_view name, precision;
  int bits;
};

/// In the order of the enumerators.
constexpr std::array<Row, kElementTypeCount> kRows{{
    {"dynamic", "UNSPECIFIED", 0},
    {"f64", "FP64", 64},
    {"f32", "FP32", 32},
    {"f16", "FP16", 16},
    {"bf16", "BF16", 16},
    {"f8e4m3", "F8E4M3", 8},
    {"f8e5m2", "F8E5M2", 8},
    {"f8e8m0", "F8E8M0", 8},
    {"f4e2m1", "F4E2M1", 4},
    {"nf4", "NF4", 4},
    {"i64", "I64", 64},
    {"i32", "I32", 32},
    {"i16", "I16", 16},
    {"i8", "I8", 8},
    {"i4", "I4", 4},
    {"u64", "U64", 64},
    {"u32", "U32", 32},
    {"u16", "U16", 16},
    {"u8", "U8", 8},
    {"u6", "U6", 6},
    {"u4", "U4", 4},
    {"u3", "U3", 3},
    {"u2", "U2", 2},
    {"u1", "BIN", 1},
    {"boolean", "BOOL", 8},
    {"string", "STRING", 0},
}};

constexpr const Row& row(ElementType t) { return kRows[static_cast<std::size_t>(t)]; }

}  // namespace

std::string_view name(ElementType t) { return row(t).name; }
std::string_view precision_name(ElementType t) { return row(t).precision; }
int bit_width(ElementType t) { return row(t).bits; }

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

int byte_width(ElementType t) {
  if (t == ElementType::string) return sizeof(std::string_view);
  return (bit_width(t) + 7) / 8;
}

std::optional<std::int64_t> packed_size(ElementType t, std::int64_t count) {
  if (t == ElementType::string || count < 0) return std::nullopt;
  const std::int64_t bits = bit_width(t);
  if (bits >= 8 || bits == 0) return checked_mul(count, bits / 8);
  // Elements that share bytes, and how many bytes they share: a group is stored whole where its elements straddle
  // bytes.
  const bool planes = t == ElementType::u3 || t == ElementType::u6;
  const std::int64_t group = t == ElementType::u6 ? 4 : planes ? 8 : 8 / bits;
  return (count / group + (count % group != 0 ? 1 : 0)) * (planes ? 3 : 1);
}

}  // namespace ovir
