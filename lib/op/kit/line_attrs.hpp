// Attributes of operations along an axis: selection, running sums, normalizations; the fast tier reads them too.
#pragma once
#include <cstdint>
#include <string_view>

#include "op/attributes.hpp"

namespace ovir {

enum class TopKMode : std::uint8_t { max, min };
constexpr auto words(TopKMode) {
  return std::to_array<Word<TopKMode>>({{"max", TopKMode::max}, {"min", TopKMode::min}});
}
enum class TopKSort : std::uint8_t { value, index, none };
constexpr auto words(TopKSort) {
  return std::to_array<Word<TopKSort>>(
      {{"value", TopKSort::value}, {"index", TopKSort::index}, {"none", TopKSort::none}});
}
struct TopKAttrs {
  i64 axis = 0;
  TopKMode mode{};
  TopKSort sort{};
  bool stable = false;
  ElementType index_element_type = ElementType::i32;
};

struct CumSumAttrs {
  bool exclusive = false, reverse = false;
};

enum class NormalizeL2Eps : std::uint8_t { add, max };
constexpr auto words(NormalizeL2Eps) {
  return std::to_array<Word<NormalizeL2Eps>>({{"add", NormalizeL2Eps::add}, {"max", NormalizeL2Eps::max}});
}
struct NormalizeL2Attrs {
  double eps = 0;
  NormalizeL2Eps eps_mode{};
};

struct GrnAttrs {
  double bias = 0;
};

struct LrnAttrs {
  double alpha = 0, beta = 0, bias = 0;
  i64 size = 1;
};

enum class OneHotNegative : std::uint8_t { ignored, normalized };
// Files spell the first with an underscore, the specification with a hyphen.
constexpr auto words(OneHotNegative) {
  return std::to_array<Word<OneHotNegative>>({{"ignore_negative", OneHotNegative::ignored},
                                              {"ignore-negative", OneHotNegative::ignored},
                                              {"normalize", OneHotNegative::normalized}});
}
struct OneHotAttrs {
  i64 axis = 0;
  OneHotNegative negative_indices_mode = OneHotNegative::ignored;
};

enum class BoxEncoding : std::uint8_t { corner, center };
constexpr auto words(BoxEncoding) {
  return std::to_array<Word<BoxEncoding>>({{"corner", BoxEncoding::corner}, {"center", BoxEncoding::center}});
}
struct NonMaxSuppressionAttrs {
  BoxEncoding box_encoding = BoxEncoding::corner;
  bool sort_result_descending = true;
  ElementType output_type = ElementType::i64;
};

struct BucketizeAttrs {
  ElementType output_type = ElementType::i64;
  bool with_right_bound = true;
};

struct CtcGreedyDecoderSeqLenAttrs {
  bool merge_repeated = true;
  ElementType classes_index_type = ElementType::i32, sequence_length_type = ElementType::i32;
};

}  // namespace ovir
