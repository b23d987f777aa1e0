// What Loop and TensorIterator share: a body that runs again and again, inputs sliced into parts, results fed back or
// concatenated.
#pragma once
#include "op/op.hpp"

namespace ovir::ops::infrastructure {

/// The parts of an axis that a sliced input is cut into, in the order of the iterations.
struct Parts {
  i64 first = 0;  ///< where the first part begins
  i64 step = 1;   ///< to the next part
  i64 count = 0;
};
/// `start` and `end` are borders between elements; a negative one counts from the end, -1 being the end itself.
/// With a negative stride the parts come last first. Nothing where the borders lie outside the axis.
std::optional<Parts> parts_of(const BodyLink& link, i64 length);

/// How many parts the sliced inputs have, which must agree; nothing where no input is sliced.
std::optional<Dim> sliced_count(const InferContext& c);
std::optional<i64> sliced_count(EvalContext& c);

/// Facts of the body's results that hold in every iteration: values that are fed back are widened until they hold.
std::vector<Fact> infer_rounds(const InferContext& c);

/// The outputs' facts from those of the body's results. `sized`: where a result's length along the axis of
/// concatenation is not known, it is the output's part_size.
void infer_outputs(InferContext& c, const std::vector<Fact>& results, const Dim& iterations, bool sized);

/// Runs the body at most `limit` times (negative: without limit), as long as its condition result, where it has one,
/// is true; then sets the outputs.
void run_iterations(EvalContext& c, i64 limit);

}  // namespace ovir::ops::infrastructure
