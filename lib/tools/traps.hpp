// Traps: a sanitizer for models. A run is watched for values that are not what anybody meant (NaN, an index out of
// range, an overflow); the first one ends it, and is told with the operands that it came from.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "exec/session.hpp"
#include "ovir.hpp"

namespace ovir::tools {

/// In the order in which an element that is several of them is told: what says most about the cause comes first.
enum class Trap : std::uint8_t {
  oob,       ///< an index outside the axis that it picks from
  div0,      ///< a divisor of 0, a pole: x / 0, log(0), 0 to a negative power
  domain,    ///< NaN from operands without NaN: sqrt(-1), inf - inf, 0 * inf
  overflow,  ///< an infinity from finite operands, a number that a Convert's target cannot hold, integers that wrap
  uninit,    ///< a state read before it had a value, an output's element that the kernel did not write
  inf,       ///< any infinity, given ones as well
  nan,       ///< any NaN, given ones as well
  f16,       ///< a finite value that f16 would round to infinity
  bf16,      ///< the same of bf16
};

struct TrapKind {
  Trap trap;
  std::string_view name;  ///< "oob"
  Code code;
  std::string_view about;  ///< "an index out of range"
};
/// All kinds, in the order of the enumeration.
std::span<const TrapKind> trap_kinds();
const TrapKind& kind_of(Trap trap);

class Traps {
 public:
  bool has(Trap trap) const { return (bits_ >> static_cast<unsigned>(trap) & 1U) != 0; }
  void add(Trap trap) { bits_ |= 1U << static_cast<unsigned>(trap); }
  bool empty() const { return bits_ == 0; }

 private:
  std::uint32_t bits_ = 0;
};

/// A list of names: "nan,inf,oob". Throws std::invalid_argument, with a sentence for users, where it is none.
Traps parse_traps(std::string_view list);

/// One element of one value in a run. The model must outlive it.
struct Place {
  const Model* model = nullptr;  ///< `path` says which body
  int node = -1;
  int port = 0;
  std::vector<i64> iterations;  ///< of the enclosing loops, outermost first
  Shape index;                  ///< of the element
  std::string value;            ///< as text: "-inf", "17"

  const Layer& layer() const { return *(*model)[node].layer; }
};

/// An element of an operand that the event is due to.
struct TrapOperand {
  int port = 0;
  Shape index;
  std::string value;
};

struct TrapEvent {
  Trap trap{};
  Place at;                           ///< the output's element; of `oob` and some of `div0` the input's
  bool input = false;                 ///< at.port is an input port
  std::vector<TrapOperand> operands;  ///< at most a few; empty where they could not be told
  std::string cause;                  ///< "inf - inf"
  /// Where the operand at fault came from, nearest first: each place with what made its value, where that is known.
  struct Step {
    Place at;
    std::string cause;
  };
  std::vector<Step> origin;
};

/// What a session must be compiled with to be watched: every layer is computed on its own.
Options trap_options(Options options = {});

/// Runs a session made with trap_options once and gives the first event; nothing where there was none, and `results`
/// (if given) are then those of the run. The order is that in which layers are computed, within a layer that of the
/// elements. After an event the states are as before. A Failure that is no trap is thrown on.
std::optional<TrapEvent> first_trap(Session& session, std::span<const Tensor> inputs, const Traps& traps,
                                    std::vector<Tensor>* results = nullptr, Observer* also = nullptr);
/// The same for a model that is compiled here.
std::optional<TrapEvent> first_trap(std::shared_ptr<const Model> model, const Facts& facts,
                                    std::span<const Tensor> inputs, const Traps& traps, const Options& options = {});

/// The event as an error (T08xx), with notes on the operands and their origin.
Diagnostic diagnose(const TrapEvent& event);
/// `layer 5 "loop1/body/relu"`, with the iterations of the loops around it.
std::string describe(const Place& place);

}  // namespace ovir::tools
