#include "convolution_checks.hpp"
#include "fast/kernels/convolution/clipped.hpp"
#include "fast/kernels/convolution/depthwise.hpp"
#include "fast/kernels/convolution/direct.hpp"
#include "fast/kernels/convolution/gathered.hpp"
#include "fast/kernels/convolution/groups.hpp"
#include "fast/kernels/convolution/planar.hpp"
#include "fast/kernels/convolution/pointwise.hpp"
#include "fast/kernels/convolution/reorder.hpp"
#include "fast/kernels/convolution/transposed_few.hpp"
#include "fast/kernels/convolution/transposed_product.hpp"
#include "fast/kernels/convolution/transposed_winograd.hpp"
#include "fast/kernels/convolution/winograd.hpp"

namespace ovir::fast {
namespace {

double winograd_rounding(const ConvolutionShape& s, WinogradTile tile) {
  return rounding(s) * (tile == WinogradTile::two ? 1 : 2);
}

/// Those that can compute it.
std::vector<WinogradTile> tiles_for(const ConvolutionShape& s) {
  using enum WinogradTile;
  std::vector<WinogradTile> tiles;
  for (const auto tile : {two, four, line, strided, strided_line, four_taps, five_taps})
    if (winograd_fits(s, tile)) tiles.push_back(tile);
  REQUIRE_FALSE(tiles.empty());
  return tiles;
}

void check_direct(const ConvolutionShape& s) {
  const Data d(s);
  const auto sums = naive(s, d.in, d.filters);
  ThreadPool pool(4);
  const Buffer filters(direct_filters_size(s));
  direct_pack(s, d.filters.data(), filters.data(), pool);
  check(
      s, d, sums,
      [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
        const Buffer scratch(direct_scratch_size(s, 4));  // depends on the instruction set
        direct_convolution(s, filters.data(), in, out, e, scratch.data(), threads);
      },
      rounding(s));
  if (volume_packs_by_panels(s)) {
    const Buffer room(volume_once_scratch_size(s, 4));
    check(
        s, d, sums,
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          direct_volume_once(s, d.filters.data(), in, out, e, room.data(), threads);
        },
        rounding(s));
  }
  if (s.is_pointwise())
    check(
        s, d, sums,
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          pointwise_convolution(s, filters.data(), in, out, e, threads);
        },
        rounding(s));
  if (s.is_pointwise() && s.groups == 1) {
    const Buffer room(pointwise_once_scratch_size(s, 4));
    check(
        s, d, sums,
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          pointwise_convolution_once(s, d.filters.data(), in, out, e, room.data(), threads);
        },
        rounding(s));
  }
}

TEST_CASE("direct convolution") {
  check_direct(shape(1, 1, 3, 5, 6, 7, 3, 3, 1, 1, 1));
  check_direct(shape(2, 1, 40, 70, 9, 8, 3, 3, 1, 1, 1));
  check_direct(shape(1, 1, 32, 48, 15, 17, 3, 3, 2, 1, 1));
  check_direct(shape(1, 1, 16, 16, 12, 31, 5, 3, 2, 2, 2, 1));
  check_direct(shape(2, 1, 33, 17, 5, 29, 1, 1, 1, 1, 0));
  check_direct(shape(1, 1, 64, 100, 14, 14, 1, 1, 1, 1, 0));
  check_direct(shape(1, 1, 20, 20, 13, 13, 1, 1, 2, 1, 0));
  check_direct(shape(1, 1, 24, 30, 1, 50, 1, 7, 2, 1, 3));    // one axis
  check_direct(shape(1, 1, 32, 16, 130, 70, 3, 3, 1, 1, 1));  // in bands
  check_direct(shape(1, 1, 8, 8, 3, 3, 3, 3, 1, 1, 3));       // more padding than plane
  check_direct(shape(1, 1, 17, 16, 6, 6, 2, 2, 1, 1, 0));     // none
}

TEST_CASE("direct convolution of small planes, and of weights in parts") {
  for_each_isa([] {
    const auto s = shape(1, 1, 100, 40, 14, 14, 3, 3, 2, 1, 1);
    CHECK(gathers(s, forward(s)));
  });
  const auto large = shape(1, 1, 100, 40, 14, 28, 3, 3, 1, 1, 1);
  CHECK_FALSE(gathers(large, forward(large)));
  check_direct(shape(1, 1, 100, 40, 14, 14, 3, 3, 2, 1, 1));
  check_direct(shape(2, 1, 100, 70, 7, 7, 3, 3, 1, 1, 1));
  check_direct(shape(1, 1, 96, 40, 15, 15, 3, 3, 2, 2, 2));
  check_direct(shape(1, 1, 33, 20, 20, 20, 4, 4, 3, 1, 1));
  check_direct(shape(1, 1, 20, 20, 9, 9, 3, 3, 1, 1, 0));
  check_direct(shape(1, 1, 130, 33, 6, 7, 2, 5, 1, 1, 2, 1));
  check_direct(shape(1, 2, 192, 128, 7, 7, 3, 3, 1, 1, 1));
  check_direct(shape(1, 1, 100, 40, 14, 28, 3, 3, 1, 1, 1));  // whose rows are long enough
  check_direct(shape(1, 1, 150, 33, 24, 30, 3, 3, 1, 1, 1));  // in bands
}

TEST_CASE("direct convolution, packed by panels") {
  for (const auto& s : {shape(1, 1, 20, 264, 5, 4, 3, 3, 1, 1, 1), shape(1, 1, 33, 289, 9, 7, 3, 3, 2, 1, 1),
                        shape(1, 1, 7, 256, 6, 6, 2, 2, 1, 1, 0), shape(1, 1, 16, 300, 5, 5, 1, 1, 2, 1, 0),
                        shape(3, 1, 20, 264, 5, 4, 3, 3, 1, 1, 1)}) {
    REQUIRE(volume_packs_by_panels(s));
    check_direct(s);
  }
  CHECK_FALSE(volume_packs_by_panels(shape(1, 1, 20, 200, 5, 4, 3, 3, 1, 1, 1)));
  CHECK_FALSE(volume_packs_by_panels(shape(1, 1, 128, 256, 130, 70, 3, 3, 1, 1, 1)));
}

TEST_CASE("direct convolution in groups") {
  check_direct(shape(1, 2, 32, 64, 9, 9, 3, 3, 1, 1, 1));
  check_direct(shape(2, 8, 32, 32, 7, 9, 3, 3, 1, 1, 1));  // four channels each, as ResNeXt
  check_direct(shape(1, 3, 9, 6, 5, 5, 3, 3, 2, 1, 1));    // joined to one
  check_direct(shape(1, 4, 96, 64, 6, 6, 1, 1, 1, 1, 0));  // 24 to 16
  check_direct(shape(1, 6, 6, 12, 5, 7, 3, 3, 1, 1, 1));   // a multiplier of two
  // The last joined group has fewer than the others.
  check_direct(shape(2, 7, 56, 56, 9, 9, 3, 3, 2, 1, 1));
  check_direct(shape(2, 3, 72, 72, 5, 6, 3, 3, 1, 1, 1));
  check_direct(shape(2, 3, 120, 72, 5, 6, 1, 1, 1, 1, 0));
  check_direct(shape(1, 5, 40, 200, 70, 90, 3, 3, 1, 1, 1));
  check_direct(shape(2, 5, 200, 200, 75, 73, 3, 3, 1, 1, 1));  // in bands
}

TEST_CASE("direct convolution of each group by itself") {
  for (const auto& s : {
           shape(2, 4, 64, 64, 14, 14, 3, 3, 1, 1, 1),      // rows of 14 in pairs
           shape(1, 8, 192, 192, 28, 28, 3, 3, 1, 1, 1),    // 24 of which blocks hold parts
           shape(1, 3, 72, 72, 9, 7, 3, 3, 1, 1, 1),        // the last joined group has one
           shape(2, 3, 120, 72, 15, 33, 3, 3, 2, 1, 1),     // 40 to 24, columns apart
           shape(1, 4, 48, 80, 6, 61, 3, 5, 1, 2, 3),       // 12 to 20, dilated
           shape(1, 3, 54, 30, 8, 9, 3, 3, 3, 1, 1),        // 18 to 10: not by fours
           shape(2, 5, 25, 35, 5, 6, 3, 3, 1, 1, 0),        // 5 to 7, without padding
           shape(1, 2, 112, 112, 7, 7, 3, 3, 1, 1, 1),      // rows of 7, by fours
           shape(1, 2, 48, 48, 3, 3, 3, 3, 1, 1, 3),        // more padding than plane
           shape(3, 2, 48, 48, 1, 50, 1, 7, 2, 1, 3),       // one axis
           shape(1, 2, 80, 48, 9, 40, 1, 1, 1, 1, 0),       // single pixels
           shape(1, 2, 48, 24, 11, 13, 1, 1, 2, 1, 0),      // some of them
           shape(1, 2, 48, 48, 75, 200, 3, 3, 1, 1, 1, 0),  // in bands
       }) {
    const Data d(s);
    check(
        s, d, naive(s, d.in, d.filters),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          const Buffer filters(groups_filters_size(s)), scratch(groups_scratch_size(s, 4));  // depend on vectors
          groups_pack(s, d.filters.data(), filters.data(), threads);
          groups_convolution(s, filters.data(), in, out, e, scratch.data(), threads);
        },
        rounding(s));
  }
  CHECK(groups_pay(shape(1, 8, 192, 192, 28, 28, 3, 3, 1, 1, 1)));
  CHECK_FALSE(groups_pay(shape(1, 4, 128, 128, 28, 28, 3, 3, 1, 1, 1)));  // of whole panels
}

TEST_CASE("convolution whose taps fall beside the plane") {
  for (const auto& s : {shape(2, 1, 40, 50, 13, 15, 3, 3, 1, 9, 9), shape(1, 1, 64, 33, 9, 8, 3, 3, 1, 12, 12),
                        shape(1, 1, 32, 16, 20, 21, 3, 3, 2, 10, 10), shape(1, 1, 36, 90, 11, 40, 5, 3, 1, 6, 12),
                        shape(1, 1, 32, 40, 1, 30, 1, 5, 1, 8, 16), shape(1, 1, 130, 40, 9, 30, 3, 3, 1, 2, 2),
                        shape(2, 1, 132, 261, 30, 31, 3, 3, 1, 4, 4)}) {
    const Data d(s);
    ThreadPool pool(4);
    REQUIRE(clipped_pays(s));
    const Buffer filters(clipped_filters_size(s));
    clipped_pack(s, d.filters.data(), filters.data(), pool);
    check(
        s, d, naive(s, d.in, d.filters),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          clipped_convolution(s, filters.data(), in, out, e, threads);
        },
        rounding(s));
    const Buffer room(clipped_once_scratch_size(s, 4));
    check(
        s, d, naive(s, d.in, d.filters),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          clipped_convolution_once(s, d.filters.data(), in, out, e, room.data(), threads);
        },
        rounding(s));
  }
  CHECK_FALSE(clipped_pays(shape(1, 1, 64, 64, 28, 28, 3, 3, 1, 1, 1)));
  CHECK_FALSE(clipped_pays(shape(1, 1, 64, 64, 28, 28, 3, 3, 1, 2, 2)));
}

TEST_CASE("convolution of plain planes") {
  for (const auto& s : {shape(1, 1, 3, 32, 30, 41, 7, 7, 2, 1, 3), shape(2, 1, 1, 20, 28, 28, 5, 5, 1, 1, 0),
                        shape(1, 1, 3, 64, 64, 64, 16, 16, 16, 1, 0), shape(1, 1, 4, 17, 9, 33, 3, 3, 1, 2, 2),
                        shape(1, 1, 1, 8, 1, 400, 1, 10, 5, 1, 0), shape(1, 1, 2, 20, 1, 700, 1, 5, 2, 2, 4)}) {
    const Data d(s);
    ThreadPool pool(4);
    const Buffer filters(planar_filters_size(s)), scratch(planar_scratch_size(s, 4));
    REQUIRE(planar_taps(s) <= kMaxPlanarTaps);
    planar_pack(s, d.filters.data(), filters.data(), pool);
    check(
        s, d, naive(s, d.in, d.filters),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          planar_convolution(s, filters.data(), in, out, e, scratch.data(), threads);
        },
        rounding(s), true);
  }
}

TEST_CASE("Winograd convolution") {
  for (const auto& s : {shape(1, 1, 32, 32, 28, 28, 3, 3, 1, 1, 1), shape(2, 1, 40, 50, 9, 13, 3, 3, 1, 1, 1),
                        shape(1, 1, 16, 16, 4, 5, 3, 3, 1, 1, 0), shape(1, 1, 130, 140, 25, 31, 3, 3, 1, 1, 1, 0),
                        shape(1, 1, 48, 16, 60, 57, 3, 3, 1, 1, 1), shape(2, 1, 33, 34, 27, 21, 3, 3, 1, 2, 2),
                        shape(1, 1, 32, 40, 14, 50, 3, 3, 1, 5, 3), shape(1, 1, 40, 33, 13, 30, 3, 1, 1, 1, 1),
                        shape(2, 1, 33, 40, 50, 21, 1, 3, 1, 3, 3), shape(2, 1, 64, 70, 1, 139, 1, 3, 1, 1, 1),
                        shape(1, 1, 96, 40, 5, 1300, 3, 1, 1, 1, 1), shape(1, 1, 130, 130, 9, 900, 3, 1, 1, 2, 2),
                        shape(2, 3, 48, 96, 14, 15, 3, 3, 1, 1, 1), shape(1, 2, 160, 192, 12, 14, 3, 3, 1, 1, 1),
                        shape(1, 1, 48, 130, 1, 300, 1, 3, 1, 32, 40), shape(1, 1, 140, 130, 1, 45, 1, 3, 1, 7, 7),
                        shape(1, 1, 130, 140, 25, 31, 3, 3, 1, 2, 2),
                        // Of stride 2, with even and odd sizes, and pads.
                        shape(1, 1, 32, 32, 28, 28, 3, 3, 2, 1, 1), shape(2, 1, 40, 50, 21, 17, 3, 3, 2, 1, 1),
                        shape(1, 1, 130, 140, 50, 63, 3, 3, 2, 1, 0), shape(1, 1, 48, 33, 60, 57, 3, 3, 2, 1, 0, 1),
                        shape(1, 1, 33, 40, 4, 5, 3, 3, 2, 1, 1), shape(2, 2, 64, 96, 14, 15, 3, 3, 2, 1, 1),
                        shape(2, 1, 64, 70, 1, 139, 1, 3, 2, 1, 1), shape(1, 1, 130, 130, 1, 900, 1, 3, 2, 1, 0),
                        shape(1, 1, 33, 40, 1, 64, 1, 3, 2, 1, 0, 1),
                        // Of four and five taps a side.
                        shape(1, 1, 32, 32, 28, 28, 4, 4, 1, 1, 0), shape(2, 1, 40, 50, 9, 13, 4, 4, 1, 1, 1),
                        shape(1, 1, 130, 140, 25, 31, 4, 4, 1, 1, 2, 1), shape(1, 1, 33, 34, 27, 21, 4, 4, 1, 2, 3),
                        shape(2, 2, 64, 96, 14, 15, 4, 4, 1, 1, 2), shape(1, 1, 32, 32, 29, 28, 5, 5, 1, 1, 2),
                        shape(2, 1, 40, 50, 9, 13, 5, 5, 1, 1, 2), shape(1, 1, 130, 140, 25, 31, 5, 5, 1, 1, 0),
                        shape(1, 1, 33, 34, 27, 21, 5, 5, 1, 2, 4), shape(2, 2, 64, 96, 14, 15, 5, 5, 1, 1, 2)})
    for (const auto tile : tiles_for(s)) {
      const Data d(s);
      ThreadPool pool(4);
      const Buffer filters(winograd_filters_size(s, tile)), scratch(winograd_scratch_size(s, tile, 4));
      winograd_pack(s, tile, d.filters.data(), filters.data(), pool);
      check(
          s, d, naive(s, d.in, d.filters),
          [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
            winograd_convolution(s, tile, filters.data(), in, out, e, scratch.data(), threads);
          },
          winograd_rounding(s, tile));
    }
}

TEST_CASE("Winograd convolution, packed by panels") {
  for (const auto& s : {shape(1, 1, 40, 290, 9, 7, 3, 3, 1, 1, 1), shape(1, 1, 33, 257, 6, 10, 3, 3, 1, 1, 0),
                        shape(1, 1, 40, 290, 20, 21, 3, 3, 1, 1, 1), shape(1, 1, 40, 290, 19, 21, 3, 3, 1, 3, 3),
                        shape(3, 1, 200, 250, 7, 8, 3, 3, 1, 1, 1), shape(2, 1, 50, 260, 21, 19, 3, 3, 1, 3, 3),
                        shape(1, 1, 40, 250, 28, 31, 3, 3, 1, 4, 4), shape(1, 1, 130, 290, 1, 81, 1, 3, 1, 3, 3),
                        shape(1, 1, 130, 257, 20, 9, 1, 3, 1, 1, 0), shape(1, 1, 40, 290, 15, 12, 3, 3, 2, 1, 1),
                        shape(1, 1, 130, 290, 1, 81, 1, 3, 2, 1, 1), shape(1, 1, 40, 290, 19, 21, 4, 4, 1, 1, 1),
                        shape(1, 1, 130, 257, 12, 11, 5, 5, 1, 1, 2)})
    for (const auto tile : tiles_for(s)) {
      REQUIRE(winograd_packs_by_panels(s, tile));
      const Data d(s);
      const Buffer scratch(winograd_once_scratch_size(s, tile, 4));
      check(
          s, d, naive(s, d.in, d.filters),
          [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
            winograd_convolution_once(s, tile, d.filters.data(), in, out, e, scratch.data(), threads);
          },
          winograd_rounding(s, tile));
    }
}

TEST_CASE("depthwise convolution") {
  for (const auto& s : {shape(1, 5, 5, 5, 6, 7, 3, 3, 1, 1, 1), shape(2, 48, 48, 48, 56, 56, 3, 3, 1, 1, 1),
                        shape(1, 20, 20, 20, 113, 90, 3, 3, 2, 1, 1), shape(1, 16, 16, 16, 7, 7, 7, 7, 1, 1, 3),
                        shape(1, 32, 32, 32, 14, 15, 5, 5, 2, 1, 2, 1), shape(1, 17, 17, 17, 20, 64, 3, 3, 1, 3, 3),
                        shape(1, 8, 8, 8, 1, 100, 1, 9, 1, 1, 4), shape(1, 16, 16, 16, 2, 2, 5, 5, 1, 1, 2),
                        shape(1, 20, 20, 20, 9, 27, 5, 5, 1, 2, 2), shape(1, 16, 16, 16, 4, 19, 3, 7, 1, 2, 3),
                        // several outputs a channel
                        shape(2, 20, 20, 40, 14, 15, 7, 7, 2, 1, 3), shape(2, 24, 24, 48, 30, 11, 3, 3, 2, 1, 1),
                        shape(1, 16, 16, 32, 40, 60, 7, 7, 2, 1, 3), shape(2, 7, 7, 21, 9, 8, 5, 5, 1, 1, 2),
                        shape(1, 3, 3, 96, 9, 8, 1, 9, 1, 1, 4), shape(2, 33, 33, 132, 6, 6, 3, 3, 1, 2, 2)}) {
    const Data d(s);
    const Buffer filters(depthwise_filters_size(s)), scratch(depthwise_scratch_size(s, 4));
    depthwise_pack(s, d.filters.data(), filters.data());
    check(
        s, d, naive(s, d.in, d.filters),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          depthwise_convolution(s, filters.data(), in, out, e, scratch.data(), threads);
        },
        rounding(s));
  }
}

TEST_CASE("convolution of groups of which a block holds some") {
  for (const auto& s : {shape(2, 3, 24, 24, 9, 17, 3, 3, 1, 1, 1), shape(1, 5, 20, 20, 7, 7, 3, 3, 1, 1, 1),
                        shape(1, 6, 48, 48, 15, 12, 3, 3, 2, 1, 1), shape(2, 9, 36, 36, 12, 21, 5, 5, 2, 1, 2, 1),
                        shape(1, 4, 32, 32, 14, 9, 5, 5, 1, 1, 2), shape(1, 2, 16, 16, 2, 2, 5, 5, 1, 1, 2),
                        shape(1, 4, 16, 16, 1, 40, 1, 3, 1, 1, 1), shape(1, 7, 56, 56, 20, 31, 7, 3, 1, 1, 0)}) {
    REQUIRE(groups_slide(s));
    const Data d(s);
    const Buffer filters(depthwise_filters_size(s));
    depthwise_pack(s, d.filters.data(), filters.data());
    check(
        s, d, naive(s, d.in, d.filters),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          depthwise_convolution(s, filters.data(), in, out, e, nullptr, threads);
        },
        rounding(s));
  }
  for (const auto& s : {shape(1, 2, 32, 32, 7, 7, 3, 3, 1, 1, 1), shape(1, 3, 24, 12, 7, 7, 3, 3, 1, 1, 1),
                        shape(1, 3, 24, 24, 7, 7, 7, 7, 1, 1, 3), shape(1, 3, 24, 24, 7, 7, 3, 3, 1, 2, 2),
                        shape(1, 1, 8, 8, 7, 7, 3, 3, 1, 1, 1)})
    CHECK(!groups_slide(s));
}

ConvolutionShape transposed(i64 batch, i64 groups, i64 channels, i64 outputs, i64 height, i64 width, i64 kernel,
                            i64 stride, i64 dilation, i64 pad, i64 more) {
  ConvolutionShape s{batch,
                     groups,
                     channels,
                     outputs,
                     height,
                     width,
                     0,
                     0,
                     height == 1 ? 1 : kernel,
                     kernel,
                     height == 1 ? 1 : stride,
                     stride,
                     dilation,
                     dilation,
                     height == 1 ? 0 : pad,
                     pad};
  s.out_height = height == 1 ? 1 : (height - 1) * stride + (kernel - 1) * dilation + 1 - 2 * pad + more;
  s.out_width = (width - 1) * stride + (kernel - 1) * dilation + 1 - 2 * pad + more;
  return s;
}

TEST_CASE("transposed convolution") {
  for (const auto& s : {transposed(1, 1, 32, 16, 8, 9, 2, 2, 1, 0, 0), transposed(2, 1, 20, 33, 5, 6, 3, 2, 1, 1, 1),
                        transposed(1, 1, 16, 16, 7, 7, 4, 2, 1, 1, 0), transposed(1, 2, 32, 32, 4, 5, 3, 1, 1, 1, 0),
                        transposed(1, 1, 8, 5, 4, 4, 2, 3, 1, 0, 1), transposed(1, 1, 16, 20, 1, 30, 10, 5, 1, 2, 1),
                        transposed(1, 1, 6, 4, 5, 5, 3, 2, 2, 1, 0), transposed(2, 3, 24, 24, 5, 6, 3, 2, 1, 1, 1),
                        transposed(1, 1, 20, 70, 1, 1, 5, 2, 1, 1, 0), transposed(1, 1, 32, 40, 60, 70, 4, 2, 1, 1, 1),
                        transposed(1, 1, 40, 33, 18, 30, 5, 3, 1, 2, 2), transposed(1, 1, 8, 9, 1, 1, 1, 5, 1, 0, 0)}) {
    const Data d(s, true);
    ThreadPool pool(4);
    const Buffer filters(direct_filters_size(s)), scratch(transposed_scratch_size(s, 4));
    transposed_pack(s, d.filters.data(), filters.data(), pool);
    check(
        s, d, naive_transposed(s, d),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          transposed_convolution(s, filters.data(), in, out, e, scratch.data(), threads);
        },
        rounding(s));
  }
}

TEST_CASE("transposed convolution of small planes, as a product") {
  for (const auto& s : {transposed(1, 1, 100, 70, 1, 1, 4, 1, 1, 0, 0), transposed(3, 1, 20, 33, 1, 1, 5, 2, 1, 1, 0),
                        transposed(2, 1, 33, 40, 4, 4, 4, 2, 1, 1, 0), transposed(1, 1, 16, 17, 3, 5, 3, 2, 2, 1, 1),
                        transposed(2, 1, 24, 8, 1, 20, 7, 3, 1, 2, 1), transposed(1, 1, 8, 5, 2, 3, 2, 3, 1, 0, 1)}) {
    REQUIRE(transposed_product_pays(s));
    const Data d(s, true);
    ThreadPool pool(4);
    const Buffer filters(transposed_product_filters_size(s)), scratch(transposed_product_scratch_size(s));
    transposed_product_pack(s, d.filters.data(), filters.data(), pool);
    check(
        s, d, naive_transposed(s, d),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          transposed_product(s, filters.data(), in, out, e, scratch.data(), threads);
        },
        rounding(s));
  }
  CHECK_FALSE(transposed_product_pays(transposed(1, 2, 32, 32, 4, 5, 3, 1, 1, 1, 0)));
  CHECK_FALSE(transposed_product_pays(transposed(1, 1, 32, 32, 6, 6, 4, 2, 1, 1, 0)));
}

TEST_CASE("transposed convolution by Winograd") {
  for (const auto& s :
       {transposed(1, 1, 32, 16, 8, 8, 4, 2, 1, 1, 0), transposed(2, 1, 40, 33, 9, 13, 4, 2, 1, 1, 1),
        transposed(1, 1, 33, 70, 10, 8, 4, 2, 1, 0, 0), transposed(1, 1, 64, 48, 17, 20, 4, 2, 1, 2, 1),
        transposed(1, 1, 48, 20, 12, 11, 4, 2, 1, 3, 0), transposed(1, 1, 32, 40, 30, 40, 4, 2, 1, 1, 0)}) {
    REQUIRE(transposed_winograd_pays(s));
    const Data d(s, true);
    ThreadPool pool(4);
    const Buffer filters(transposed_winograd_filters_size(s)), scratch(transposed_winograd_scratch_size(s, 4));
    transposed_winograd_pack(s, d.filters.data(), filters.data(), pool);
    check(
        s, d, naive_transposed(s, d),
        [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
          transposed_winograd(s, filters.data(), in, out, e, scratch.data(), threads);
        },
        rounding(s));
  }
  CHECK_FALSE(transposed_winograd_fits(transposed(1, 2, 64, 64, 16, 16, 4, 2, 1, 1, 0)));
  CHECK_FALSE(transposed_winograd_fits(transposed(1, 1, 64, 64, 16, 16, 3, 2, 1, 1, 1)));
  CHECK_FALSE(transposed_winograd_fits(transposed(1, 1, 64, 64, 1, 16, 4, 2, 1, 1, 0)));
}

TEST_CASE("transposed convolution of few outputs") {
  for (const auto& s : {transposed(1, 1, 64, 3, 9, 11, 4, 2, 1, 1, 0), transposed(2, 1, 20, 4, 6, 7, 5, 2, 1, 2, 1),
                        transposed(1, 1, 33, 1, 8, 6, 8, 4, 1, 2, 0), transposed(1, 1, 24, 2, 1, 40, 12, 6, 1, 3, 0),
                        transposed(1, 1, 16, 1, 7, 9, 4, 3, 1, 0, 2), transposed(1, 1, 40, 3, 5, 6, 3, 2, 1, 1, 1)}) {
    REQUIRE(transposed_few_pays(s));
    const Data d(s, true);
    ThreadPool pool(4);
    const Buffer filters(transposed_few_filters_size(s)), scratch(transposed_few_scratch_size(s, 4));
    transposed_few_pack(s, d.filters.data(), filters.data(), pool);
    for (const bool planes : {false, true})
      check(
          s, d, naive_transposed(s, d),
          [&](const float* in, float* out, const Epilogue& e, ThreadPool& threads) {
            if (!planes) return transposed_few(s, filters.data(), in, out, false, e, scratch.data(), threads);
            Floats plain(at(s.batch * s.outputs * s.out_plane()));
            transposed_few(s, filters.data(), in, plain.data(), true, e, scratch.data(), threads);
            to_blocked(plain.data(), out, s.batch, s.outputs, s.out_plane(), threads);
          },
          rounding(s), false, false);
  }
  CHECK_FALSE(transposed_few_pays(transposed(1, 1, 64, 5, 9, 11, 4, 2, 1, 1, 0)));  // 20 outputs
  CHECK_FALSE(transposed_few_pays(transposed(1, 1, 64, 3, 9, 11, 4, 1, 1, 1, 0)));  // one phase
  CHECK_FALSE(transposed_few_pays(transposed(1, 2, 64, 2, 9, 11, 4, 2, 1, 1, 0)));
}

}  // namespace
}  // namespace ovir::fast
