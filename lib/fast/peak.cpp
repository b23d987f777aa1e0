#include "fast/peak.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "fast/kernels/buffer.hpp"
#include "fast/kernels/product/bf16x3.hpp"
#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

/// The shortest of several times, in seconds.
template <class Work>
double shortest(const Work& work) {
  double best = 1e9;
  for (int i = 0; i < 8; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

Peak measure_peak(Runtime& runtime) {
  // A product whose operands stay in the first two levels of the cache, on each thread.
  constexpr i64 rows = 84, depth = 256, columns = 64, repeats = 16;
  const auto threads = runtime.threads();
  const Buffer a(rows * depth), b(panels_size(depth, columns));
  std::vector<Buffer> c;
  for (int i = 0; i < threads; ++i) c.emplace_back(rows * columns);
  auto product_time = shortest([&] {
    runtime.parallel(threads, [&](i64 i) {
      ThreadPool alone(1);
      for (i64 k = 0; k < repeats; ++k)
        product({b.data(), depth, columns}, a.data(), depth, c[i].data(), columns, rows, {}, alone);
    });
  });
  if (bf16x3_pays(rows, depth, columns)) {
    const Buffer pairs(bf16x3_pairs_size(depth, columns));
    product_time = std::min(product_time, shortest([&] {
                              runtime.parallel(threads, [&](i64 i) {
                                for (i64 k = 0; k < repeats; ++k)
                                  product_alone({pairs.data(), depth, columns}, a.data(), c[i].data(), rows, {});
                              });
                            }));
  }
  // More than the caches hold.
  constexpr i64 floats = i64{1} << 24, chunks = 64;
  const Buffer memory(floats);
  std::fill_n(memory.data(), floats, 1.0f);
  std::vector<float> sums(chunks);
  const auto read_time = shortest([&] {
    runtime.parallel(chunks,
                     [&](i64 i) { sums[i] = isa().sum(memory.data() + i * (floats / chunks), floats / chunks); });
  });
  return {static_cast<double>(2 * rows * depth * columns * repeats * threads) / product_time,
          static_cast<double>(floats) * 4 / read_time};
}

}  // namespace ovir::fast
