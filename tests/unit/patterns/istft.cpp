#include <cmath>

#include "pattern_examples.hpp"

namespace ovir::testing::patterns::istft {
namespace {

int window(Net& n, i64 size) {
  std::vector<float> values;
  for (i64 i = 0; i < size; ++i)
    values.push_back(0.6F - 0.3F * std::cos(6.28F * static_cast<float>(i) / static_cast<float>(size)));
  return n.constant(convert(floats({size}, values), n.type()));
}
void signals(Net& n, const PartialShape& spectra, i64 in_window, i64 size, i64 step, const char* center,
             const char* normalized, i64 length = 0) {
  std::vector<int> inputs{n.input(spectra), window(n, in_window), n.index(size), n.index(step)};
  if (length > 0) inputs.push_back(n.index(length));
  n.result(n.op("ISTFT-16", inputs, {{"center", center}, {"normalized", normalized}}));
}
void whole(Net& n) { signals(n, {3, 9, 20, 2}, 16, 16, 5, "false", "false"); }
void centered(Net& n) { signals(n, {2, 11, 30, 2}, 21, 21, 4, "true", "true"); }
/// Its first frames have parts that belong to no element.
void short_window(Net& n) { signals(n, {1, 17, 12, 2}, 20, 32, 8, "false", "true"); }
void of_one(Net& n) { signals(n, {17, 40, 2}, 32, 32, 8, "true", "false"); }
void longer(Net& n) { signals(n, {2, 17, 12, 2}, 32, 32, 8, "false", "false", 200); }
void cut(Net& n) { signals(n, {2, 65, 40, 2}, 128, 128, 64, "true", "false", 1900); }

// clang-format off
constexpr Example kExamples[] = {
    {"istft", whole, kOften, kOpen},
    {"istft", centered},
    {"istft", short_window},
    {"istft", of_one, kOnce},
    {"istft", longer},
    {"istft", cut},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"istft", kExamples};

}  // namespace ovir::testing::patterns::istft
