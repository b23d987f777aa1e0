// Transposition, gathering, resizing, pooling.
#include <array>
#include <cstddef>

#include "fast/kernels/movement/gather.hpp"
#include "fast/kernels/movement/permute.hpp"
#include "fast/kernels/movement/resize.hpp"
#include "fast/kernels/pooling/blocked.hpp"
#include "kernels.hpp"

namespace ovir::fast {
namespace {

TEST_CASE("permute: every order of four dims") {
  ThreadPool four(4);
  for_each_isa([&] {
    for (const auto& dims : {std::array<i64, 4>{3, 17, 5, 33},
                             {2, 1, 70, 9},
                             {40, 9, 7, 19},
                             {3, 260, 2, 2},
                             {1, 1, 1, 1},
                             {2, 3, 0, 4}}) {
      const auto count = dims[0] * dims[1] * dims[2] * dims[3];
      const auto x = random_floats(count, 1);
      std::array<i64, 4> order{0, 1, 2, 3};
      do {
        Floats y(x.size());
        permute(dims, order, x.data(), y.data(), four);
        i64 to = 0;
        std::array<i64, 4> out{}, i{};
        for (std::size_t d = 0; d < 4; ++d) out[d] = dims[at(order[d])];
        for (; to < count; ++to) {
          auto rest = to;
          for (std::size_t d = 4; d-- > 0; rest /= out[d]) i[at(order[d])] = rest % out[d];
          REQUIRE(y[at(to)] == x[at(((i[0] * dims[1] + i[1]) * dims[2] + i[2]) * dims[3] + i[3])]);
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
  });
}

TEST_CASE("gather: slices of every size, negative indices, and those beyond the data") {
  ThreadPool pool(2);
  for (const i64 slice : {1, 6}) {
    const auto table = random_floats(2 * 10 * slice, 1);
    Floats y(at(2 * 4 * slice), 5.0f);
    const i64 indices[] = {9, -10, -1, 10};
    gather(Gathering{1, 2, 10, 4, slice * 4}, reinterpret_cast<const std::byte*>(table.data()), indices,
           reinterpret_cast<std::byte*>(y.data()), pool);
    const auto require = [&](i64 pick, i64 from) {
      for (i64 o = 0; o < 2; ++o)
        for (i64 i = 0; i < slice; ++i)
          REQUIRE(y[at((o * 4 + pick) * slice + i)] == (from < 0 ? 0 : table[at((o * 10 + from) * slice + i)]));
    };
    require(0, 9);
    require(1, 0);
    require(2, 9);
    require(3, -1);
  }
}

TEST_CASE("resize: nearest and linear, of blocked and plain planes and of channels that come last") {
  ThreadPool pool(2);
  const AxisSource all_rows[] = {{0, 1, 0.25f}, {1, 2, 0.5f}, {2, 2, 0}, {2, 0, 1}},
                   columns[] = {{0, 1, 0}, {0, 1, 0.75f}, {1, 1, 0}};
  for (const auto& [count, lanes] : {std::pair{4, kBlock}, {4, 1}, {4, 20}, {2, kBlock}, {2, 1}, {2, 3}}) {
    const auto rows = std::span(all_rows).first(at(count));
    const auto x = random_floats(2 * 3 * 2 * lanes, 1);
    for (const bool nearest : {true, false}) {
      Floats y(at(2 * count * 3 * lanes));
      const Resizing what{2, 3, 2, rows, columns, nearest, lanes};
      Floats scratch(at(resize_scratch_size(what, 2)));
      resize(what, x.data(), y.data(), scratch.data(), pool);
      for (i64 p = 0; p < 2; ++p)
        for (i64 r = 0; r < count; ++r)
          for (i64 c = 0; c < 3; ++c)
            for (i64 k = 0; k < lanes; ++k) {
              const auto in = [&](i64 i, i64 j) {
                return static_cast<double>(x[at(((p * 3 + i) * 2 + j) * lanes + k)]);
              };
              const auto &a = rows[at(r)], &b = columns[c];
              auto exact = in(a.first, b.first);
              if (!nearest)
                exact = (1 - a.weight) * ((1 - b.weight) * in(a.first, b.first) + b.weight * in(a.first, b.second)) +
                        a.weight * ((1 - b.weight) * in(a.second, b.first) + b.weight * in(a.second, b.second));
              REQUIRE(std::abs(y[at(((p * count + r) * 3 + c) * lanes + k)] - exact) < (nearest ? 1e-12 : 3e-7));
            }
    }
  }
}

TEST_CASE("pooling of blocks: maximum and average, with pads counted and not") {
  ThreadPool one(1), four(4);
  struct Case {
    i64 height, width, kernel, stride, dilation, pad, pad_end;
  };
  for_each_isa([&] {
    for (const auto& c : {Case{9, 30, 3, 2, 1, 1, 1},
                          {7, 7, 7, 1, 1, 0, 0},
                          {5, 6, 2, 2, 1, 0, 1},
                          {12, 11, 3, 1, 2, 2, 2},
                          {40, 41, 5, 1, 1, 2, 2},
                          {14, 30, 3, 1, 1, 1, 1},
                          {8, 17, 2, 1, 1, 1, 0},
                          {13, 24, 5, 2, 1, 2, 2},
                          {12, 21, 2, 2, 1, 1, 1},
                          {3, 2, 3, 1, 1, 1, 1},
                          {1, 1, 5, 1, 1, 2, 2},
                          {4, 3, 3, 1, 1, 4, 3}}) {  // windows that meet nothing
      ConvolutionShape s{.batch = 2, .channels = 20, .height = c.height, .width = c.width};
      s.kernel_height = s.kernel_width = c.kernel;
      s.stride_x = s.stride_y = c.stride;
      s.dilation_x = s.dilation_y = c.dilation;
      s.pad_top = s.pad_left = c.pad;
      s.out_height = (c.height + c.pad + c.pad_end - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
      s.out_width = (c.width + c.pad + c.pad_end - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
      const auto x = random_floats(s.batch * 2 * s.plane() * kBlock, 1);
      enum Mode { max, mean, mean_padded };
      for (const auto mode : {max, mean, mean_padded}) {
        Floats y(at(s.batch * 2 * s.out_plane() * kBlock)), again = y;
        const auto run = [&](Floats& to, ThreadPool& pool) {
          if (mode == max) max_pool(s, x.data(), to.data(), pool);
          else average_pool(s, c.pad_end, c.pad_end, mode == mean_padded, x.data(), to.data(), pool);
        };
        run(y, four);
        run(again, one);
        CHECK(y == again);
        for (i64 i = 0; i < static_cast<i64>(y.size()); ++i) {
          const auto lane = i % kBlock, px = i / kBlock % s.out_width, py = i / kBlock / s.out_width % s.out_height,
                     plane = i / kBlock / s.out_plane();
          double sum = 0, largest = -1e30;
          i64 count = 0, padded = 0;
          for (i64 a = 0; a < c.kernel; ++a)
            for (i64 b = 0; b < c.kernel; ++b) {
              const auto iy = py * c.stride - c.pad + a * c.dilation, ix = px * c.stride - c.pad + b * c.dilation;
              padded += iy < c.height + c.pad_end && ix < c.width + c.pad_end;
              if (iy < 0 || ix < 0 || iy >= c.height || ix >= c.width) continue;
              const double v = x[at((plane * s.plane() + iy * c.width + ix) * kBlock + lane)];
              sum += v;
              largest = std::max(largest, v);
              ++count;
            }
          if (count == 0) {
            REQUIRE(y[at(i)] == (mode == max ? -std::numeric_limits<float>::infinity() : 0));
            continue;
          }
          const auto exact = mode == max ? largest : sum / static_cast<double>(mode == mean ? count : padded);
          REQUIRE(std::abs(y[at(i)] - exact) < 1e-6);
        }
      }
    }
  });
}

}  // namespace
}  // namespace ovir::fast
