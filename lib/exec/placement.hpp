// Placement: where the values of planned steps lie in the arena.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.hpp"
#include "tensor/shape.hpp"

namespace ovir {

/// Bytes that a value of this shape takes, the padding of a blocked one included. Throws E0003 where they are too many.
i64 stored_bytes(const Value& value, const Shape& shape);
/// That of the tensor: blocked elements, with their padding, are a single dim.
Shape stored_shape(const Value& value, const Shape& shape);

/// How one step takes part.
struct PlacedStep {
  bool planned = false;            ///< its outputs' places are settled before the run
  bool view = false;               ///< its output is its input under another shape
  const Kernel* kernel = nullptr;  ///< null: reference kernels, whose outputs overlap no input
  Sizes sizes{};                   ///< of the kernel
  i64 scratch_bytes = 0;           ///< of the kernel
  int first = 0, last = 0;         ///< the steps that run at the same time with it
};

struct Placement {
  std::vector<i64> offsets;     ///< by value, in bytes; -1: not in the arena
  std::vector<int> overwrites;  ///< by step: the input that its output 0 is written over; -1: none
  std::vector<i64> scratch;     ///< by step, in bytes; -1: none
  i64 bytes = 0;
};

/// Values that are not needed at the same time share bytes; a view lies where its input lies; an output may take the
/// place of an input that dies with the step (Kernel::writes_over), and the parts of a Concat or Split lie in the whole
/// (Kernel::place_in_output, Kernel::place_in_input). Scratch memory lies where no value is that the step needs.
/// Results, inputs and constants are not in the arena.
Placement place(const Plan& plan, std::span<const PlacedStep> steps, std::span<const std::optional<Shape>> shapes);

/// Offsets, in bytes and multiples of 64, of blocks that are alive from step `begin` to step `end`, so that no two that
/// are alive together overlap. Gives the bytes needed in all.
struct Block {
  i64 size = 0;
  int begin = 0, end = 0;
  i64 offset = 0;
};
i64 lay_out(std::vector<Block>& blocks);

}  // namespace ovir
