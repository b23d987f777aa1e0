// Kernel: the seam of the fast tier: what computes the outputs of a node, or of a group of nodes, from views of their
// inputs.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/runtime.hpp"
#include "tensor/view.hpp"

namespace ovir {

/// Element types, layouts and dims of a kernel's operands. `data` is there where a value is the same in every run that
/// is prepared for: where it is constant, or decides sizes.
struct Sizes {
  std::span<const View> in, out;
};

/// What integers stand for: the value is low + scale · integer, by channel (axis 1) or, with one number each, for all.
struct Quantization {
  std::vector<float> low, scale;
};

/// A stretch of a kernel's scratch memory.
struct Scratch {
  i64 offset = 0, bytes = 0;
  explicit operator bool() const { return bytes > 0; }
};

/// What a kernel prepares for a session and sizes: offsets, scratch memory, primitives.
struct KernelState {
  KernelState() = default;
  KernelState(const KernelState&) = delete;
  KernelState& operator=(const KernelState&) = delete;
  virtual ~KernelState() = default;

  /// For prepare(): so much memory, on a cache line, for run() to write to as it likes. It lies in the arena, among
  /// what other steps use, and holds anything when run() begins. Throws std::bad_alloc.
  Scratch reserve(i64 floats);
  float* floats(const Scratch& s) const { return reinterpret_cast<float*>(scratch + s.offset); }

  i64 scratch_bytes = 0;
  std::byte* scratch = nullptr;  ///< set before run()
};

/// Immutable, and shared by sessions and threads: what changes from run to run is in the KernelState. Constant weights
/// are packed when the kernel is made.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  /// "winograd4.convolution+bias+relu".
  virtual std::string name() const = 0;
  /// Null where these sizes are not for this kernel: the reference kernels then compute the group. No operand has a
  /// length of 0; see prepare_for().
  virtual std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const = 0;
  /// Writes every output. Allocates nothing. `in` and `out` have the sizes that `state` was prepared for; outputs
  /// overlap no input but as writes_over(), place_in_output() and place_in_input() allow.
  virtual void run(KernelState& state, std::span<const View> in, std::span<const View> out, Runtime& runtime) const = 0;

  /// Into how many equal parts the output can be cut, each of which follows from the same part of every input that is
  /// not a constant (whose `data` is there): the rows of a product by a constant matrix. Small steps of as many rows
  /// are then run by run_rows(), one after the other, on some rows in each thread. 0: it cannot, or had better not.
  virtual i64 rows(const Sizes&) const { return 0; }
  /// Rows [begin, end), in this thread alone. Uses no scratch memory.
  virtual void run_rows(std::span<const View> /*in*/, std::span<const View> /*out*/, i64 /*begin*/, i64 /*end*/) const {
  }
  /// Into how many pieces of like work a small step can be cut each of which may read all inputs, and use scratch
  /// memory: the queries of attention. It is then run between steps that have rows. 0: it cannot, or had better not.
  virtual i64 pieces(const KernelState&) const { return 0; }
  /// Pieces [begin, end), in this thread alone. `thread`: below Runtime::threads(), another one in every call at once.
  virtual void run_pieces(KernelState& /*state*/, std::span<const View> /*in*/, std::span<const View> /*out*/,
                          i64 /*begin*/, i64 /*end*/, int /*thread*/) const {}

  /// Whether it has an input, a constant, itself: as the f16 or bf16 that it is in the model, or to read it from the
  /// weights file. run() is then given no `data` of it.
  virtual bool holds(int /*input*/) const { return false; }
  /// Output 0 may lie where this input lies, if they have as many elements of as many bytes.
  virtual bool writes_over(int /*input*/) const { return false; }
  /// Where an input may lie in output 0 from the start, in bytes, so that it need not be copied there (Concat).
  virtual std::optional<i64> place_in_output(int /*input*/, const Sizes&) const { return std::nullopt; }
  /// Where an output may lie in input 0 (Split).
  virtual std::optional<i64> place_in_input(int /*output*/, const Sizes&) const { return std::nullopt; }
  /// The layouts in which the kernel reads an input and writes its outputs, where the planner has the choice.
  virtual bool reads(int /*input*/, Layout layout) const { return layout == Layout::plain; }
  virtual bool writes(Layout layout) const { return layout == Layout::plain; }
  /// Whether it reads an input that has View::room along this axis, counted from the end: -1 is the last.
  virtual bool reads_grown(int /*input*/, i64 /*axis*/) const { return false; }
  /// Whether it reads an input, and writes its outputs, also in fewer bits than f32: as bf16, or as u8.
  virtual bool reads_as(int /*input*/, ElementType, Layout) const { return false; }
  virtual bool writes_as(ElementType, Layout) const { return false; }
  /// Whether inputs that it can read in fewer bits, and its outputs, had better all be so or none: it moves them as
  /// they are, or would have to bring them to one type.
  virtual bool keeps(ElementType) const { return false; }
  /// What its outputs stand for where they are u8.
  virtual std::shared_ptr<const Quantization> quantization() const { return nullptr; }
};

/// The kernel's state for these sizes; null where it does not take them. Operands with a length of 0 are for the
/// reference kernels alone, so that no other kernel has to think of them.
std::unique_ptr<KernelState> prepare_for(const Kernel& kernel, const Sizes& sizes, Runtime& runtime);

}  // namespace ovir
