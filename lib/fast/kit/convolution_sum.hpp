// Convolutions of the same data whose results are added up, scaled and shifted by channel, as one convolution: branches
// beside a convolution, as networks are trained with, and normalizations that the converter left as they were.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "fast/kit/convolutions.hpp"
#include "fast/kit/functions.hpp"

namespace ovir::fast {

/// One convolution, or the data themselves, with what they are multiplied by.
struct SumTerm {
  StaticConvolution convolution;  ///< of the data themselves: one of a pixel, by channel
  const Tensor* filters;          ///< null: ones
  const void* given;              ///< what stands for the filters, see Graphlet::origin()
  std::vector<double> scale;      ///< by output
};

struct ConvolutionSum {
  std::vector<SumTerm> terms;
  std::size_t leader = 0;    ///< the term whose taps and groups have room for those of all others
  std::vector<double> bias;  ///< by output
  bool scaled = false, shifted = false;
  std::vector<int> nodes{};  ///< in order; the last one gives the sum
  std::size_t shared = 0;    ///< see Match

  const StaticConvolution& convolution() const { return terms[leader].convolution; }
  const ConvolutionShape& shape() const { return convolution().shape; }
  /// f32, outermost the outputs, or the groups and the outputs of each: those of the file, widened for this one alone
  /// where they are of fewer bits, or computed by each call, in double precision.
  Tensor filters(const Graphlet& graph) const;
  /// What they are computed of, as Graphlet::shared() asks: what stands for those of the leader, and all that
  /// filters() makes of them. Null where some do not follow from constants alone.
  struct Origin {
    const void* given = nullptr;
    std::string name{};
  };
  Origin origin() const;
  /// What is computed with the sum as it is stored, before what follows it.
  Ending ending() const;

 private:
  void add(const SumTerm& term, i64 output, double* to) const;
};

/// The largest sum around a Convolution-1 or GroupConvolution-1 with constant filters, perhaps of this one alone.
/// `branches`: also of several terms; `spelled_out` and `max_taps` as of static_convolution(). Nothing where that takes
/// no such node.
std::optional<ConvolutionSum> convolution_sum(const Graphlet& graph, int root, bool branches, bool spelled_out = false,
                                              i64 max_taps = kMaxTaps);

}  // namespace ovir::fast
