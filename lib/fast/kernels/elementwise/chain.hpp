// A chain of elementwise operations over broadcast operands, computed in one pass over memory.
#pragma once
#include <span>
#include <vector>

#include "base/int.hpp"
#include "fast/isa/table.hpp"
#include "tensor/element_type.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

/// Operands are numbered: inputs first, then the results of the steps.
struct ChainStep {
  enum Kind : std::uint8_t { unary, binary } kind = unary;
  Unary function{};    ///< of `left`
  Binary operation{};  ///< of `left` and `right`
  int left = 0, right = 0;
};

/// How an operand lies beside an output of [N,C,spatial…]: as wide, one value, or one value a channel.
enum class Extent : std::uint8_t { full, one, channel };

/// What is computed: the last step's result is the output.
struct ChainProgram {
  int inputs = 0;
  std::vector<ChainStep> steps;
  /// Memory for at most so many values that are still needed is there while it runs.
  static constexpr int kRegisters = 12;
  static constexpr int kInputs = 12;
  /// False where steps refer to what is not there yet, or more than kRegisters or kInputs are needed.
  bool fits() const;
};

/// A program for certain shapes. Immutable; run() allocates nothing.
class Chain {
 public:
  /// `inputs` are the shapes of the program's inputs, each of which broadcasts to `out` by NumPy's rule; `types` are
  /// those that they are converted from, of kConverted or f32. Empty: all are f32. Others have the shape of `out`,
  /// whose elements become those of `to`, also of kConverted or f32.
  Chain(const ChainProgram& program, std::span<const std::span<const i64>> inputs, std::span<const i64> out,
        std::span<const ElementType> types = {}, ElementType to = ElementType::f32);

  /// `out` may be one of the inputs that have its shape and as many bytes.
  void run(std::span<const void* const> inputs, void* out, ThreadPool& pool) const;
  /// In the caller's thread.
  void run(std::span<const void* const> inputs, void* out) const;
  /// Nanoseconds that it takes one thread, roughly.
  double time() const;

 private:
  struct Step {
    ChainStep what;
    int to;  ///< the register of its result; -1: the output
  };
  void join_short_dims();
  struct Piece;
  struct Registers;
  double piece_time() const;
  void compute_pieces(i64 begin, i64 end, std::span<const void* const> inputs, void* out) const;
  void compute_direct(const Piece& piece, std::span<const void* const> inputs, float* out) const;
  void compute(const Piece& piece, std::span<const void* const> inputs, void* out, Registers& registers) const;

  int inputs_;
  std::vector<ElementType> types_;  ///< by input
  ElementType to_;
  std::vector<Step> steps_;
  std::vector<i64> dims_;  ///< of the output, neighbors merged where no operand tells them apart; two at least
  std::vector<std::vector<i64>> strides_;  ///< by input, in dims_; 0 where it is broadcast
  /// By input, where the elements of a row lie that do not lie side by side, nor are all the same: empty otherwise.
  std::vector<std::vector<i64>> places_;
  i64 rows_ = 1, columns_ = 1;  ///< of a piece, at most
  i64 row_pieces_ = 1, column_pieces_ = 1, pieces_ = 0;
  bool direct_ = false;    ///< one step of f32 alone, whose operands are read where they lie
  double value_time_ = 0;  ///< nanoseconds, roughly
};

}  // namespace ovir::fast
