// InferContext: what a shape inference function sees and says. It works on partial shapes: an unknown rank, dim or
// value contradicts nothing. `require_*` throw Failure in one wording; the framework adds layer and place.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "diag/diagnostic.hpp"
#include "op/body.hpp"
#include "op/fact.hpp"
#include "op/op_def.hpp"

namespace ovir {

/// "rank 3 has axes -3..2".
std::string axes_of_rank(i64 rank);

class InferContext {
 public:
  using InferBody = std::function<std::vector<Fact>(int body, const std::vector<Fact>& parameters)>;

  InferContext(const OpDef& op, const Version& version, const void* attrs, std::span<const Fact> inputs,
               int output_count);

  const OpDef& op() const { return *op_; }
  const Version& version() const { return *version_; }
  const void* raw_attrs() const { return attrs_; }
  template <class A>
  const A& attrs() const {
    return version_->attrs.as<A>(attrs_);
  }

  // --- inputs
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  bool has(int port) const { return port < input_count(); }
  const Fact& in(int port) const { return inputs_[port]; }
  const PartialShape& shape(int port) const { return in(port).shape; }
  ElementType type(int port) const { return in(port).type; }
  // Values may be read of the inputs that Version::reads names; std::logic_error for others.
  /// The value where it is known exactly, else null. Packed types come unpacked.
  const Tensor* known(int port) const;
  /// All elements as i64, where they are known.
  std::optional<std::vector<i64>> ints(int port) const;
  std::optional<std::vector<double>> floats(int port) const;
  std::optional<i64> scalar_int(int port) const;
  /// Each element's interval, where the value is known or bounded. For inputs that hold a shape.
  std::optional<std::vector<Interval>> intervals(int port) const;
  /// The same as dims: an element known to be negative is kept out (gives nothing).
  std::optional<std::vector<Dim>> dims(int port) const;
  /// The value of any input, where it is known: for what the kernel finds as well (elements out of range, values that
  /// pass through), so that inference need not be repeated for it when the model runs.
  const Tensor* peek(int port) const;
  std::optional<std::vector<i64>> peek_ints(int port) const;

  // --- demands; `port` is the input that is named in the message
  template <class... A>
  void require(bool condition, int port, Code code, fmt::format_string<A...> text, A&&... args) const {
    if (!condition) fail_at(port, code, fmt::format(text, std::forward<A>(args)...));
  }
  template <class... A>
  void require_attr(bool condition, std::string_view attribute, fmt::format_string<A...> text, A&&... args) const {
    if (!condition) fail_attr(attribute, fmt::format(text, std::forward<A>(args)...));
  }
  /// Every entry of a list, an attribute, is `good`; {0} of the text is one that is not.
  template <class List, class Good, class... A>
  void require_each(const List& list, Good&& good, std::string_view attribute,
                    fmt::format_string<const typename List::value_type&, const A&...> text, const A&... args) const {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!good(list[i])) fail_attr(attribute, fmt::format(text, list[i], args...), Code::E0403, i);
  }
  /// The element type of indices that an attribute asks for is i32 or i64.
  void require_index_type(ElementType type, std::string_view attribute) const;
  void require_rank(int port, i64 rank) const { require_rank(port, rank, rank); }
  void require_rank(int port, i64 min, i64 max) const;
  void require_rank_at_least(int port, i64 min) const;
  /// A scalar, or a vector of one element.
  void require_single(int port) const;
  /// No element of an integer input is less than `min`. Gives intervals(port).
  std::optional<std::vector<Interval>> require_at_least(int port, i64 min) const;
  /// The shapes of two inputs are compatible dim by dim. Gives what both say.
  PartialShape require_same_shape(int a, int b) const;
  /// `a` and `b` are compatible; gives the intersection. The words say which dims: "channels of data", "filters".
  Dim require_same_dim(const Dim& a, const Dim& b, int port, std::string_view a_is, std::string_view b_is) const;
  /// axis in [-rank, rank) made non-negative. `port` < 0: the axis is the attribute `axis`, or an entry of it.
  i64 require_axis(i64 axis, int port, i64 rank, std::string_view attribute = "axis",
                   std::optional<std::size_t> entry = {}) const;
  /// All inputs broadcast by numpy's rules (or "none": equal; "pdpd" with axis).
  PartialShape require_broadcast(int a, int b) const;
  [[noreturn]] void fail_at(int port, Code code, std::string message, std::vector<Remedy> remedies = {}) const;
  /// `entry`: which one of a list is at fault.
  [[noreturn]] void fail_attr(std::string_view attribute, std::string message, Code code = Code::E0403,
                              std::optional<std::size_t> entry = {}) const;

  // --- outputs
  /// The element type comes from the signature (the TypeVar's input).
  void output(int port, PartialShape shape);
  void output(int port, ElementType type, PartialShape shape);
  void output_value(int port, Tensor value);  ///< known at inference
  void output_bounds(int port, std::vector<Interval> bounds);
  const Fact& out(int port) const { return outputs_[port]; }
  std::vector<Fact>& outputs() { return outputs_; }
  /// A fresh symbol for a dim that is unknown but one length in every run.
  std::uint32_t new_symbol() const;

  // --- bodies
  std::span<const BodyMap> bodies() const { return bodies_; }
  std::vector<Fact> infer_body(int body, const std::vector<Fact>& parameters) const {
    return infer_body_(body, parameters);
  }

  // Set by the pass.
  void set_bodies(std::span<const BodyMap> bodies, InferBody infer) {
    bodies_ = bodies;
    infer_body_ = std::move(infer);
  }
  void set_symbols(std::uint32_t* next) { next_symbol_ = next; }
  void set_declared(std::span<const Fact> declared) { declared_ = declared; }
  /// Inference is over; from here on (kernel, bounds) any value may be read.
  void set_inferred() { inferred_ = true; }
  /// What the file declares of the outputs: for the few operations whose outputs nothing else determines.
  std::span<const Fact> declared() const { return declared_; }

  /// Arity, type domains and equal TypeVars of the signature; throws Failure. Called by the framework before infer.
  void check_signature();
  /// The name of an input port: "data", or "inputs[2]" of a variadic one.
  std::string port_name(int port) const;

 private:
  const OpDef* op_;
  const Version* version_;
  const void* attrs_;
  std::span<const Fact> inputs_;
  std::vector<Fact> outputs_;
  std::span<const BodyMap> bodies_;
  std::span<const Fact> declared_;
  InferBody infer_body_;
  std::uint32_t* next_symbol_ = nullptr;
  bool inferred_ = false;

  void require_reads(int port) const;
};

/// check_signature, infer, then value propagation: known small inputs through the reference kernel, bounds through
/// the version's hook. Throws Failure.
void infer_node(InferContext&);

}  // namespace ovir
