// What the files of resolve share.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/report.hpp"
#include "passes/passes.hpp"

namespace ovir {
class InferContext;
}

namespace ovir::passes {

/// Throws a Failure about an attribute of the layer at hand; `meant`: what its value was meant to be, perhaps.
[[noreturn]] void fail_attribute(std::string_view attribute, Code code, std::string message,
                                 const std::vector<std::string>& meant = {});
/// Attributes from text to the version's struct; every fault of the layer is reported. Null where there is one.
std::shared_ptr<const void> parse_attributes(const Model& model, const Layer& layer, const OpDef& op,
                                             const Version& version, Diagnostics& diagnostics);

/// By layer id and port id to positions.
struct PortIndex {
  std::unordered_map<std::int64_t, int> layers;  ///< layer id -> index in Graph::layers
};
int input_position(const Layer&, std::int64_t port_id);  ///< -1: none
int output_position(const Layer&, std::int64_t port_id);
/// "whose input ports are 0 and 1".
std::string ids_of(const std::vector<Port>& ports, std::string_view kind);

/// Adds to a fault of `node` what reached its inputs: types, shapes, small values and whose outputs they are. `lines`
/// is made when it is needed, for all calls.
void explain(Diagnostic& d, const Model& model, const Node& node, const InferContext& c,
             std::optional<LineIndex>& lines);
/// Adds to a fault in a body of `node` what the body's parameters receive.
void explain_body(Diagnostic& d, const Model& model, const Node& node, const BodyMap& map, const Model& inner);

/// Who feeds every input of every layer, by position; faults of edges are reported and mark the layer.
std::vector<std::vector<ValueRef>> connect(const Model& model, std::vector<bool>& faulty, Diagnostics& diagnostics);

/// Layers in topological order, file order where that leaves a choice. `before`: pairs of layers of which the first has
/// to come first although no edge says so. Layers on or behind a cycle come last, and the cycle is reported.
std::vector<int> topological_order(const Model& model, const std::vector<std::vector<ValueRef>>& inputs,
                                   const std::vector<std::pair<int, int>>& before, std::vector<bool>& faulty,
                                   Diagnostics& diagnostics);

/// E0209: a variable with two ReadValues or two Assigns, or an Assign that nothing reads; bodies included.
void check_states(const Model& model, Diagnostics& diagnostics);
/// ReadValue returns what the inference before has set, so it comes before the Assign of the same variable. Pairs of
/// indices of nodes, which are still in file order.
std::vector<std::pair<int, int>> reads_before_writes(const Model& model);
/// E0209: the order that reads_before_writes asks for cannot be.
void report_early_write(Diagnostics& diagnostics, const Model& model, const Node& read, const Node& write);
/// What an Assign sets has the type and shape of its variable (E0503, E0505).
void check_assigned(const Model& model, const Facts& facts, Diagnostics& diagnostics);

/// W0904: layers that neither a result nor a state depends on.
void warn_unreachable(const Model& model, Diagnostics& diagnostics);

/// A Constant's value: a view of the mapped .bin (copied where it is misaligned). Throws Failure (E03xx, E04xx).
/// Empty, without a fault, where the weights were left out.
Tensor constant_value(const Graph& graph, const Node& node);
/// The Constants that a .bin which was cut short no longer holds, with what is to be said of them all. Empty where
/// there are fewer than two, or where they lie elsewhere than at its end.
std::vector<const Layer*> cut_off_constants(const Model& model, Diagnostic& d);
/// W0903: constants that overlap in part (sharing one range is usual and legal).
void warn_overlapping_constants(const Model& model, Diagnostics& diagnostics);

/// A body's port map by positions. Every fault of it is reported (E0208); nothing where there is one.
std::optional<BodyMap> map_body(const Model& model, const Layer& outer, const Body& body, const Model& inner,
                                Diagnostics& diagnostics);

}  // namespace ovir::passes
