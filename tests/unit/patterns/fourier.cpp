#include "pattern_examples.hpp"

namespace ovir::testing::patterns::fourier {
namespace {

void transformed(Net& n, std::string_view operation, const Shape& shape, std::initializer_list<i64> axes,
                 std::initializer_list<i64> sizes = {}) {
  std::vector<int> inputs{n.input(shape), n.indices(axes)};
  if (sizes.size() > 0) inputs.push_back(n.indices(sizes));
  n.result(n.op(operation, inputs));
}

void last(Net& n) { transformed(n, "DFT-7", {20, 64, 2}, {1}); }
void inner(Net& n) { transformed(n, "DFT-7", {2, 60, 19, 2}, {-2}); }
void plane(Net& n) { transformed(n, "DFT-7", {3, 8, 14, 2}, {1, 2}, {10, -1}); }
void prime(Net& n) { transformed(n, "DFT-7", {3, 37, 2}, {1}, {29}); }
void back(Net& n) { transformed(n, "IDFT-7", {18, 45, 2}, {-1}); }
void back_inner(Net& n) { transformed(n, "IDFT-7", {12, 5, 2}, {0}); }
void real(Net& n) { transformed(n, "RDFT-9", {33, 32}, {1}); }
void real_inner(Net& n) { transformed(n, "RDFT-9", {2, 15, 4}, {1}, {18}); }
void real_volume(Net& n) { transformed(n, "RDFT-9", {2, 6, 5, 8}, {1, 2, 3}); }
void to_real(Net& n) { transformed(n, "IRDFT-9", {17, 9, 2}, {1}); }
void to_real_odd(Net& n) { transformed(n, "IRDFT-9", {17, 9, 2}, {1}, {15}); }
void to_real_plane(Net& n) { transformed(n, "IRDFT-9", {2, 6, 5, 3, 2}, {1, 2}); }

// clang-format off
constexpr Example kExamples[] = {
    {"fourier", last},
    {"fourier", last, kOnce, kOpen},
    {"fourier", inner},
    {"fourier", plane},
    {"fourier", prime},
    {"fourier", back},
    {"fourier", back_inner},
    {"fourier", real},
    {"fourier", real_inner},
    {"fourier", real_volume},
    {"fourier", to_real},
    {"fourier", to_real_odd},
    {"fourier", to_real_plane},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"fourier", kExamples};

}  // namespace ovir::testing::patterns::fourier
