// OpDef: all that the framework knows of an operation type: its versions, each with its signature, attributes,
// shape inference and reference kernel.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "op/attributes.hpp"
#include "tensor/element_type.hpp"
#include "tensor/shape.hpp"

namespace ovir {

class InferContext;
class EvalContext;
struct Version;
using InferFn = void (*)(InferContext&);
using EvalFn = void (*)(EvalContext&);

/// A type variable of a signature: ports that share its name have one element type, which lies in the domain.
struct TypeVar {
  std::string_view name;
  TypeSet domain = kAnyType;
};

enum class Arity : std::uint8_t {
  one,
  optional,  ///< only at the end of a signature
  variadic,  ///< one or more; only the last port. Its ports share the TypeVar
  mixed,     ///< none or more, each of its own type; only the last port
};

/// What the elements of an input are positions of. Negative ones count from the end where `from_end` is set. An element
/// outside is a fault, but for Gather (zeros) and OneHot (nothing is set).
struct Indexes {
  enum class Along : std::uint8_t {
    nothing,    ///< the input holds no positions
    axis,       ///< of axis `at` of input `data`
    attribute,  ///< of the axis of `data` that the attribute "axis" names
    input,      ///< of the axis of `data` that the value of input `at` names
    leading,    ///< element k of the last axis: of axis k of `data`, after as many as the attribute "batch_dims" says
    value,      ///< below the value of input `at`
  };
  Along along = Along::nothing;
  int data = 0;
  int at = 0;
  bool from_end = false;
};

struct PortDef {
  std::string_view name;  ///< the specification's word
  TypeVar type;
  Arity arity = Arity::one;
  Indexes indexes{};
};
/// How many of these ports there are at least.
constexpr int min_count(std::span<const PortDef> ports) {
  int n = 0;
  for (const auto& p : ports) n += p.arity == Arity::one || p.arity == Arity::variadic ? 1 : 0;
  return n;
}
constexpr bool is_endless(const PortDef& p) { return p.arity == Arity::variadic || p.arity == Arity::mixed; }

/// What the passes must know of an operation beyond its functions; they never ask for a type by name.
enum class Kind : std::uint8_t { compute, parameter, constant, result, read_value, assign };

/// How a kernel wants its elements.
enum class Lift : std::uint8_t {
  compute,  ///< f16, bf16, f8… arrive as f32; u1…u6, i4 as u8/i8; the outputs are narrowed again
  moves,    ///< elements are moved, not computed with: as stored, one element a byte at least
};

/// What passes ask of an operation that moves elements.
enum class Moves : std::uint8_t {
  otherwise,
  joins,  ///< the inputs, one after the other along the attribute "axis" (ConcatAttrs)
  picks,  ///< slices of input 0 along the axis that input 2 names, at the positions in input 1
};

/// A set of input ports; the last bit stands for all ports from there on.
struct Ports {
  std::uint64_t bits = 0;
  constexpr bool contains(int port) const { return port >= 0 && (bits >> (port < 63 ? port : 63) & 1) != 0; }
};
template <class... Port>
constexpr Ports ports(Port... port) {
  return {((std::uint64_t{1} << port) | ... | std::uint64_t{0})};
}
inline constexpr Ports kAllPorts{~std::uint64_t{0}};

/// What bounds the distance between the result of a kernel and the exact one; tools/own_error makes numbers of it.
enum class ErrorBound : std::uint8_t {
  by_kind,      ///< no error where elements are moved or no floats come in, otherwise `sampled`
  elementwise,  ///< an output element follows from one element of each input: a few units of the last place, times the
                ///< condition; a step (rounding to a level, a comparison) may fall to either side within that
  sums,         ///< sums of n products of elements of inputs 0 and 1, or of elements of input 0 where that is the only
                ///< one with floats: n·u / (1 - n·u) times the sum of the absolute values
  sampled,      ///< found by changing the inputs within their rounding, at random
};
/// How much of something a kernel does, by attributes and static shapes; INT64_MAX where it is more than 64 bits hold.
using CountFn = i64 (*)(const Version&, const void* attrs, std::span<const Shape> inputs,
                        std::span<const Shape> outputs);
/// The most terms that a sum of ErrorBound::sums has.
using TermsFn = i64 (*)(const Version&, const void* attrs, std::span<const Shape> inputs);

struct Version {
  int since = 1;            ///< the opset that introduced it
  int until = 0;            ///< the last opset that holds it; 0: all later ones, up to the next version
  std::string_view spec{};  ///< its specification, where that isn't OpDef::spec with the number `since`
  std::span<const PortDef> inputs{};
  std::span<const PortDef> outputs{};
  AttributeTable attrs{};
  InferFn infer = nullptr;  ///< sets each output's shape (and type, where it isn't an input's); throws Failure
  /// The inputs whose values `infer` reads. Where they all are constants, and all types and shapes static, inference is
  /// done with before the model runs.
  Ports reads{};
  bool shape_only = false;  ///< the outputs follow from the inputs' shapes: their elements are never looked at
  bool sized_by_data =
      false;              ///< `infer` leaves output dims open even where all inputs are known: the kernel sets them
  EvalFn eval = nullptr;  ///< the reference kernel
  Lift lift = Lift::compute;
  /// Bounded values through a node some of whose inputs are known only as intervals; see op/bounds.hpp. May be null.
  InferFn bounds = nullptr;
  bool pure = true;       ///< false: random or stateful, never folded
  bool view = false;      ///< output 0 is input 0 under another shape: its bytes need not be copied
  bool converts = false;  ///< output 0 is input 0 in another element type
  Moves moves = Moves::otherwise;
  ErrorBound error = ErrorBound::by_kind;
  TermsFn terms = nullptr;  ///< null: as many as there are elements of input 0 for one of output 0
  CountFn macs = nullptr;   ///< multiply-accumulates of products of matrices or filters; null: none
  /// What the reference kernel does besides reading each input and writing each output element once, where that grows
  /// faster: elementary steps, of about a nanosecond each; see op/work.hpp. Null: the multiply-accumulates.
  CountFn steps = nullptr;
};

/// A model within a layer of this type. Its <port_map> connects inputs to Parameters and Results to outputs.
struct BodyDef {
  std::string_view role;  ///< the element that holds it: "body", "then_body", "else_body"
  bool iterates = false;  ///< inputs may be sliced and outputs concatenated along an axis; back edges
  bool counts = false;    ///< a Parameter may receive the number of the iteration, a Result say whether to go on
};

struct OpDef {
  std::string_view type;  ///< as the specification spells it
  /// Of an extension: the word that its layers have as their `version`, "extension" or another. Empty: OpenVINO's
  /// opsets hold it.
  std::string_view set{};
  std::string_view spec{};  ///< family and name of its specification, "movement/roll"; see spec_of
  std::span<const Version> versions;
  Kind kind = Kind::compute;
  std::string_view alias{};  ///< another spelling that files hold ("Const")
  std::span<const BodyDef> bodies{};
};

/// The operations a model may use.
struct Registry {
  std::span<const OpDef* const> ops;           ///< of OpenVINO's opsets, sorted by type name
  std::span<const OpDef* const> extensions{};  ///< others, each with its `set`
  /// Of an opset, by type or alias, without regard to letter case; null where there is none.
  const OpDef* find(std::string_view type) const;
  /// An extension by type and set, as they are spelled; null where there is none.
  const OpDef* find_extension(std::string_view type, std::string_view set) const;
};

/// Where a version is specified: "movement/roll-7", a document of OpenVINO's operation-sets/operation-specs.
std::string spec_of(const OpDef& op, const Version& version);

/// The version of `op` that opset `opset` holds; null where it holds none.
const Version* version_in(const OpDef& op, int opset);

}  // namespace ovir
