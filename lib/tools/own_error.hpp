// Own error: what a layer itself adds. A run in which every value that the reference has takes the place of what was
// computed, as soon as it was judged: so each layer computes from the reference's inputs.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/session.hpp"
#include "tools/reference.hpp"

namespace ovir::tools {

enum class OwnVerdict : std::uint8_t {
  exact,    ///< equal
  rounded,  ///< within what the arithmetic of the operation explains
  wrong,
};

struct OwnError {
  TensorPlace place;
  Tensor value;        ///< computed from the reference's inputs
  std::string unlike;  ///< the type or shape is not the reference's: wrong
  double max_abs = 0;  ///< of elements that are finite on both sides
  double bound = 0;    ///< at the element that is furthest beyond its bound, else at the one that is off by the most
  i64 at = 0;          ///< position of that element
  i64 ties = 0;        ///< decisions that fell to the other side, within rounding
  OwnVerdict judgment = OwnVerdict::exact;
};

/// A fallible bound: given a place, element, and what the reference has there, the error that is allowed in any case.
using Allowance = std::function<double(const TensorPlace& place, double reference)>;

struct OwnErrorOptions {
  Allowance allowance{};     ///< may be empty
  bool until_wrong = false;  ///< the first wrong one in topological order is enough
};

/// Runs the session (whose states are reset before and after) and judges every place that the reference has. In the
/// order in which values are computed. Layers whose bound is not known, as random numbers, are left out.
std::vector<OwnError> own_errors(Session& session, std::span<const Tensor> inputs, const Reference& reference,
                                 const OwnErrorOptions& options = {});

}  // namespace ovir::tools
