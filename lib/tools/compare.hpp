// Compare: every value of a run against a reference, as it is and as far as the layer itself is to blame.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exec/session.hpp"
#include "tools/metrics.hpp"
#include "tools/own_error.hpp"
#include "tools/reference.hpp"

namespace ovir::tools {

struct Compared {
  TensorPlace place;
  ElementType type = ElementType::dynamic;  ///< as inferred
  Shape shape;
  Difference difference;                   ///< of the run as it is
  std::optional<OwnError> own;             ///< nothing where it was not judged
  double inherited = 0;                    ///< largest change by the inputs not being the reference's
  std::vector<std::optional<double>> top;  ///< by CompareOptions::top
};

struct CompareOptions {
  std::function<Tolerance(const TensorPlace&)> tolerance = [](const TensorPlace&) { return Tolerance(); };
  std::function<bool(const TensorPlace&)> wants{};  ///< which places; empty: all that the reference has
  bool own = true;
  Allowance allowance{};
  std::vector<i64> top{};
  bool fail_fast = false;  ///< ends at the first that is not within its tolerance
};

struct Comparison {
  std::vector<Compared> layers;           ///< in the order in which they are computed
  std::vector<Compared> outputs;          ///< of the model: its Results, in file order
  std::vector<TensorPlace> not_computed;  ///< the reference has them, but the run did not come to them
  i64 without_reference = 0;              ///< computed outputs of layers that the reference lacks, without constants
  bool within = true;                     ///< all of them
  /// The one that is furthest outside of its tolerance, else has the largest relative error; null where all
  /// are equal.
  const Compared* worst() const;
};

/// How many tensors these places name: that of a Result is the one of the layer that it comes from.
std::size_t count_tensors(const std::vector<TensorPlace>& places);

Comparison compare(Session& session, std::span<const Tensor> inputs, const Reference& reference,
                   const CompareOptions& options);

/// The results of a run, by Result in file order, against the outputs that the reference has.
Comparison compare_outputs(const Model& model, std::span<const Tensor> values, const Reference& reference);

/// Adds all values of a run, as a reference for the same model. Where the run throws, those before.
void keep_values(Session& session, std::span<const Tensor> inputs, Reference& to);

/// The first layer in topological order whose own error is wrong.
struct Culprit {
  OwnError own;
  Difference difference;  ///< of the run as it is
  double inherited = 0;
};
struct Bisection {
  std::optional<Culprit> found;
  std::size_t judged = 0;  ///< tensors
};
Bisection bisect(Session& session, std::span<const Tensor> inputs, const Reference& reference,
                 const Allowance& allowance);

}  // namespace ovir::tools
