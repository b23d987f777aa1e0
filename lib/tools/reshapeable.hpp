// Which axes of which inputs may have other lengths, and which layer forbids the rest: by shape inference alone.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/int.hpp"
#include "passes/passes.hpp"
#include "tools/lengths.hpp"

namespace ovir::tools {

/// Axis `axis` of Parameter `input`.
struct InputAxis {
  int input = 0;
  i64 axis = 0;
  bool operator==(const InputAxis&) const = default;
};

/// What inference says first of a length just outside.
struct Refusal {
  i64 length = 0;
  Diagnostic why;
};

struct AxisRange {
  std::vector<InputAxis> axes;  ///< one, or several of the same length that change together
  Lengths lengths;
  std::optional<Refusal> below, above, between;
  bool tried = true;                    ///< false: the budget was spent before, or no length to begin with was found
  std::optional<std::size_t> together;  ///< of an axis: the first entry of Reshapeable::together that it is in
};

struct Reshapeable {
  struct Input {
    ElementType type = ElementType::dynamic;
    PartialShape shape;  ///< as declared or given
    PartialShape tried;  ///< around which lengths were tried: with a length that is accepted for each unknown dim
  };
  std::vector<Input> inputs;        ///< by Parameter
  std::vector<AxisRange> axes;      ///< each alone, in the order of inputs and axes; none of an input of unknown rank
  std::vector<AxisRange> together;  ///< where axes may change only, or further, together
  bool complete = true;             ///< false: the budget was spent
};

/// `options.shapes`: the shapes to begin with, where they are not those of the file. The model must infer without
/// errors. `budget`: how many layers may be inferred in all.
Reshapeable reshapeable(const Model& model, const passes::InferOptions& options, i64 budget = 5'000'000);

}  // namespace ovir::tools
