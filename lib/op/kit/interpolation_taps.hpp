// What the elements of a resampled axis are made of; the fast tier reads it, too.
#pragma once
#include <memory_resource>

#include "op/kit/interpolation.hpp"

namespace ovir::interpolation {

/// What an output element along an axis is made of: elements index[i] times weight[i] for i in [start[o], start[o +
/// 1]).
struct Taps {
  explicit Taps(std::pmr::memory_resource* memory) : start(1, 0, memory), index(memory), weight(memory) {}
  std::pmr::vector<std::size_t> start;
  std::pmr::vector<i64> index;
  std::pmr::vector<double> weight;
  void add(i64 i, double w) {
    index.push_back(i);
    weight.push_back(w);
  }
  /// Ends an output element; its weights are made to sum to 1.
  void end(bool normalize) {
    double sum = 0;
    for (auto i = start.back(); i < weight.size(); ++i) sum += weight[i];
    if (normalize && sum != 0)
      for (auto i = start.back(); i < weight.size(); ++i) weight[i] /= sum;
    start.push_back(weight.size());
  }
};

/// `antialias`: the attribute, and some axis becomes shorter.
Taps taps_of(const Task& a, i64 in, i64 out, float scale, bool antialias, std::pmr::memory_resource* memory);

}  // namespace ovir::interpolation
