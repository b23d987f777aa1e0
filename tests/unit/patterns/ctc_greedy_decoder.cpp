#include "pattern_examples.hpp"

namespace ovir::testing::patterns::ctc_greedy_decoder {
namespace {

void decoded(Net& n, const std::vector<int>& inputs, std::string_view merges, std::string_view type) {
  const auto result = n.op("CTCGreedyDecoderSeqLen-6", inputs,
                           {{"merge_repeated", std::string(merges)},
                            {"classes_index_type", std::string(type)},
                            {"sequence_length_type", std::string(type)}},
                           2);
  n.result(result, 0);
  n.result(result, 1);
}

void merged(Net& n) { decoded(n, {n.input({2, 30, 4}), n.indices({30, 17})}, "true", "i32"); }
void all(Net& n) { decoded(n, {n.input({3, 9, 300}), n.indices({9, 0, 5}), n.index(2)}, "false", "i64"); }

// clang-format off
constexpr Example kExamples[] = {
    {"ctc_greedy", merged},
    {"ctc_greedy", all},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"ctc_greedy_decoder", kExamples};

}  // namespace ovir::testing::patterns::ctc_greedy_decoder
