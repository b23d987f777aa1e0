#include <cmath>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::stft {
namespace {

int window(Net& n, i64 size) {
  std::vector<float> values;
  for (i64 i = 0; i < size; ++i)
    values.push_back(0.5F - 0.4F * std::cos(6.28F * static_cast<float>(i + 1) / static_cast<float>(size)));
  return n.constant(convert(floats({size}, values), n.type()));
}
void spectra(Net& n, const PartialShape& signal, i64 in_window, i64 size, i64 step, const char* transpose_frames) {
  n.result(n.op("STFT-15", {n.input(signal), window(n, in_window), n.index(size), n.index(step)},
                {{"transpose_frames", transpose_frames}}));
}
void by_frame(Net& n) { spectra(n, {3, 100}, 16, 16, 5, "false"); }
void by_bin(Net& n) { spectra(n, {2, 301}, 15, 21, 4, "true"); }
void of_one(Net& n) { spectra(n, {90}, 32, 32, 8, "false"); }
void one_frame(Net& n) { spectra(n, {2, 40}, 10, 37, 50, "true"); }

// clang-format off
constexpr Example kExamples[] = {
    {"stft", by_frame, kOften, kOpen},
    {"stft", by_bin},
    {"stft", of_one, kOnce},
    {"stft", one_frame},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"stft", kExamples};

}  // namespace ovir::testing::patterns::stft
