// A plan as text, for people.
#pragma once
#include <string>

#include "plan/plan.hpp"

namespace ovir {

/// A line a step, then those of its bodies, indented:
///   %7 = convolution+bias+relu(%0, %3)   f32[1,16,14,14]   layers "conv1", "bias1", "relu1"
/// with "view" and "infers" where they apply, the stored type where it is not the declared one, and the layout where it
/// is not plain.
std::string to_text(const Plan& plan, int indent = 0);

}  // namespace ovir
