// What the tests of the compute kernels share: seeded numbers, every instruction set, naive sums in double precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "base/int.hpp"
#include "base/thread_pool.hpp"
#include "catch.hpp"
#include "fast/isa/narrow.hpp"
#include "fast/isa/table.hpp"

namespace ovir::fast {

using Floats = std::vector<float>;

inline std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

inline Floats random_floats(i64 n, unsigned seed, float low = -1, float high = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> number(low, high);
  Floats v(at(n));
  for (auto& x : v) x = number(engine);
  return v;
}

/// Calls check() with the loops of each instruction set that this machine has.
template <class Check>
void for_each_isa(Check check) {
  for (const auto level : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx})
    if (force_isa(level)) {
      INFO("loops for " << isa().name << " and " << narrow_isa().name);
      check();
    }
  force_isa(Isa::best);
}

/// The largest |got - expected|, over `scale` or, where that is 0, over max |expected|.
template <class Expected>
double worst(const Floats& got, const std::vector<Expected>& expected, double scale = 0) {
  double error = 0, largest = scale;
  if (scale == 0)
    for (const auto e : expected) largest = std::max(largest, std::abs(static_cast<double>(e)));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto e = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    error = std::isnan(e) ? 1e30 : std::max(error, e);
  }
  return largest > 0 ? error / largest : error;
}

}  // namespace ovir::fast
