// EvalContext: what a kernel sees. Inputs are dense tensors; an output is asked for by port, its shape being what
// shape inference said of the actual inputs, or what the kernel says where only the data tell.
#pragma once
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/scratch_memory.hpp"
#include "diag/diagnostic.hpp"
#include "op/body.hpp"
#include "op/fact.hpp"
#include "op/op_def.hpp"

namespace ovir {

/// What runs a kernel provides: storage, states and bodies.
class EvalHost {
 public:
  virtual Tensor allocate(ElementType type, Shape shape) = 0;
  /// The value of a variable; empty where it has none yet.
  virtual Tensor state(const std::string& variable) = 0;
  /// Gives a variable its next value.
  virtual void assign(const std::string& variable, const Tensor& value) = 0;
  /// Parameters and results of the body, in file order. The results belong to who gets them.
  virtual void run_body(int body, std::span<const Tensor> parameters, std::span<Tensor> results) = 0;

 protected:
  ~EvalHost() = default;
};

class EvalContext {
 public:
  /// `outputs` are the facts of this very call: inferred from the actual inputs. `stored`: the element types in which
  /// outputs are kept, by output, where they are not the inferred ones; see Precision in plan/plan.hpp.
  EvalContext(const Version& version, const void* attrs, std::span<const Tensor> inputs, std::span<const Fact> outputs,
              std::span<const ElementType> stored = {});

  template <class A>
  const A& attrs() const {
    return version_->attrs.as<A>(attrs_);
  }
  const Version& version() const { return *version_; }
  /// The operation's type, for messages; empty where who runs the kernel has not said.
  std::string_view type() const { return type_; }

  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  bool has(int port) const { return port < input_count(); }
  /// The input as the version's Lift says: unpacked, and narrow types widened unless the kernel only moves data.
  const Tensor& in(int port);
  /// The input as it is kept between operations: not widened, perhaps packed.
  const Tensor& stored(int port) const { return inputs_[port]; }
  /// Any integer input (indices, axes, shapes) as i64, for as long as the kernel runs.
  std::span<const i64> ints(int port);
  i64 scalar_int(int port);
  /// The only element of an input; throws Failure (E0506) where it has none or several. For layers with bodies, whose
  /// shapes are not inferred again when they run.
  i64 single_int(int port);
  /// Any numbers as doubles, in memory().
  std::pmr::vector<double> floats(int port);

  /// A new tensor for output `port`, in the shape that was inferred.
  Tensor& out(int port);
  /// In a shape that only the data tell.
  Tensor& out(int port, Shape shape);
  /// An output that shares an input's bytes (Reshape): of the output's element type, not widened.
  void set_out(int port, Tensor value) { results_[port] = std::move(value); }
  /// The element type of the output as the kernel must write it (widened as Lift says).
  ElementType out_type(int port) const;
  /// Somebody reads this output: a kernel may leave out the others.
  bool wanted(int port) const { return unwanted_.empty() || !unwanted_[port]; }
  const PartialShape& out_shape(int port) const { return outputs_[port].shape; }
  /// The element type that was inferred of the output.
  ElementType declared_out_type(int port) const { return outputs_[port].type; }
  /// The element type in which the output is kept.
  ElementType stored_out_type(int port) const;

  std::span<const BodyMap> bodies() const { return bodies_; }
  void run_body(int body, std::span<const Tensor> parameters, std::span<Tensor> results) const {
    host_->run_body(body, parameters, results);
  }
  Tensor state(const std::string& variable) const { return host_->state(variable); }
  void assign(const std::string& variable, const Tensor& value) const { host_->assign(variable, value); }

  /// Where a kernel's own lists (std::pmr::vector) may lie: gone when it ends, and kept for the next run.
  std::pmr::memory_resource* memory() { return &memory_; }
  /// A tensor there; of numbers, not of strings.
  Tensor scratch(ElementType type, Shape shape);

  // Set by who runs the kernel.
  void set_type(std::string_view type) { type_ = type; }
  void set_host(EvalHost* host, std::span<const BodyMap> bodies = {}) {
    host_ = host;
    bodies_ = bodies;
  }
  void set_unwanted(std::span<const std::uint8_t> unwanted) { unwanted_ = unwanted; }
  /// Where outputs go: out() gives the target of a port if it has the type and shape.
  void set_targets(std::span<const Tensor> targets) { targets_ = targets; }
  /// Forgets what a run has left, so that the same context serves another one; its inputs may have changed.
  void restart();
  /// Brings the outputs into their stored types. An output that the kernel left out is an internal error.
  std::vector<Tensor>& finish();

 private:
  const Version* version_;
  std::string_view type_;
  const void* attrs_;
  std::span<const Tensor> inputs_;
  std::span<const Fact> outputs_;
  std::span<const ElementType> stored_;
  struct Lifted {
    Tensor value;
    bool current = false;  // of this run
  };
  std::vector<Lifted> lifted_;  // per input, made when first asked for; storage is kept
  std::vector<Tensor> results_;
  std::vector<std::vector<i64>> ints_;  // per input that is not i64
  ScratchMemory memory_;
  std::span<const std::uint8_t> unwanted_;
  std::span<const Tensor> targets_;
  std::span<const BodyMap> bodies_;
  EvalHost* host_ = nullptr;
};

/// What a narrow type is widened to for kernels that compute: f16 -> f32, u4 -> u8, i4 -> i8; others stay.
ElementType lifted_type(ElementType);

/// Runs a node's reference kernel on tensors: infers the output shapes, evaluates. Throws Failure.
std::vector<Tensor> evaluate(const OpDef& op, const Version& version, const void* attrs, std::span<const Tensor> inputs,
                             int output_count);

}  // namespace ovir
