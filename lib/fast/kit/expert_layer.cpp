#include "fast/kit/expert_layer.hpp"

#include <algorithm>
#include <set>

#include "fast/kit/axis_part.hpp"
#include "fast/kit/functions.hpp"
#include "fast/kit/operation_chain.hpp"
#include "fast/kit/spelled_out.hpp"
#include "op/shared_attrs.hpp"

namespace ovir::fast {
namespace {

/// The length of an axis, counted from the end where it is negative; -1: it is not known.
i64 length(const Graphlet& graph, ValueRef v, i64 axis) {
  const auto& shape = graph.fact(v).shape;
  if (!shape.has_rank()) return -1;
  if (axis < 0) axis += shape.rank();
  return axis >= 0 && axis < shape.rank() && shape[axis].is_static() ? shape[axis].length() : -1;
}

class Finder {
 public:
  explicit Finder(const Graphlet& graph) : graph_(graph) {}

  std::optional<ExpertLayer> find(int sum) {
    const auto& all = graph_.fact(graph_.input(sum, 0)).shape;
    const auto axes = all.has_rank() ? constant_axes(graph_, graph_.input(sum, 1), all.rank()) : std::nullopt;
    if (!axes || *axes != std::vector<i64>{0} || all.rank() < 3 || !take(sum)) return std::nullopt;
    const auto product = graph_.input(sum, 0);
    if (graph_.type(product.node) != "Multiply" || !aligned_by_rank(product.node) || !take(product.node))
      return std::nullopt;
    layer_.experts = length(graph_, product, 0);
    for (const int side : {0, 1})
      if (length(graph_, graph_.input(product.node, side), -1) == 1)
        return find_between(graph_.input(product.node, 1 - side), graph_.input(product.node, side));
    return std::nullopt;
  }

 private:
  /// False where it is taken already, or would be one of more than a layer has.
  bool take(int node) {
    constexpr std::size_t kMost = 40;
    return node >= 0 && nodes_.size() < kMost && nodes_.insert(node).second;
  }

  /// Both operands have all axes.
  bool aligned_by_rank(int multiply) const {
    const auto &a = graph_.fact(graph_.input(multiply, 0)).shape, &b = graph_.fact(graph_.input(multiply, 1)).shape;
    return a.has_rank() && b.has_rank() && a.rank() == b.rank() && is_f32(graph_, graph_.input(multiply, 0)) &&
           is_f32(graph_, graph_.input(multiply, 1));
  }

  std::optional<ExpertLayer> find_between(ValueRef results, ValueRef weights) {
    if (layer_.experts < 2 || length(graph_, weights, 0) != layer_.experts) return std::nullopt;
    layer_.weights = weights;
    const auto last = product_of(before_reshapes(results), layer_.last);
    if (!last || layer_.last.columns != length(graph_, results, -1)) return std::nullopt;
    layer_.width = layer_.last.depth;
    const auto hidden = operand(*last);
    if (!hidden || *hidden < kSteps || steps_.empty()) return std::nullopt;
    if (nodes_.contains(weights.node) || !number_operands() || !is_closed()) return std::nullopt;
    layer_.nodes.assign(nodes_.begin(), nodes_.end());  // node numbers are in topological order
    return std::move(layer_);
  }

  /// Reshapes that leave the experts first, and a row's numbers where they are.
  ValueRef before_reshapes(ValueRef v) {
    while (graph_.type(v.node) == "Reshape" && length(graph_, graph_.input(v.node, 0), 0) == layer_.experts &&
           length(graph_, graph_.input(v.node, 0), -1) == length(graph_, v, -1) && take(v.node))
      v = graph_.input(v.node, 0);
    return v;
  }

  /// The left operand of a product by the experts' matrices.
  std::optional<ValueRef> product_of(ValueRef v, ExpertProduct& product) {
    const auto columns = length(graph_, v, -1);
    if (graph_.type(v.node) == "Add") {
      const int side = graph_.constant(graph_.input(v.node, 1)) ? 1 : 0;
      product.bias = graph_.input(v.node, side);
      const auto* bias = graph_.constant(product.bias);
      if (!bias || bias->type() != ElementType::f32 || bias->shape() != Shape{layer_.experts, 1, columns} ||
          !take(v.node))
        return std::nullopt;
      v = graph_.input(v.node, 1 - side);
    }
    if (graph_.type(v.node) != "MatMul" || !is_f32(graph_, v)) return std::nullopt;
    const auto& attrs = graph_.attrs<MatMulAttrs>(v.node);
    const auto left = graph_.input(v.node, 0), right = graph_.input(v.node, 1);
    const auto& shape = graph_.fact(right).shape;
    product.matmul = v.node;
    product.columns = columns;
    product.depth = length(graph_, left, -1);
    if (attrs.transpose_a || !is_f32(graph_, left) || !is_f32(graph_, right) || !shape.is_static() ||
        shape.rank() != 3 || graph_.fact(left).shape.rank() != 3 || length(graph_, left, 0) != layer_.experts ||
        shape[0] != layer_.experts || product.depth < 1 || columns < 1 || !take(v.node))
      return std::nullopt;
    return left;
  }

  // --- the hidden values

  /// Operands of the program while it is not known how many inputs it has: parts, numbers from here on, steps from
  /// there on.
  static constexpr int kNumbers = 1000, kSteps = 2000;

  std::optional<int> operand(ValueRef v) {
    if (const auto value = number(graph_, v)) {
      layer_.numbers.emplace_back() = *value;  // push_back() of it makes g++ 14 warn of a dangling pointer
      return kNumbers + static_cast<int>(layer_.numbers.size()) - 1;
    }
    for (const auto& [known, place] : known_)
      if (same(known, v)) return place;
    const auto place = length(graph_, v, -1) == layer_.width ? new_operand(v) : std::nullopt;
    if (place) known_.emplace_back(v, *place);
    return place;
  }

  std::optional<int> new_operand(ValueRef v) {
    if (const auto known = part(v)) return known;
    ChainStep step;
    const auto function = function_of(graph_, v.node);
    const auto operation = function ? std::nullopt : binary_of(graph_, v.node);
    if ((!function && !operation) || !is_f32(graph_, v) || !take(v.node)) return std::nullopt;
    const auto left = operand(graph_.input(v.node, 0));
    const auto right = operation ? operand(graph_.input(v.node, 1)) : left;
    if (!left || !right) return std::nullopt;
    step.left = *left;
    if (function) {
      step.function = *function;
    } else {
      step.kind = ChainStep::binary;
      step.operation = *operation;
      step.right = *right;
    }
    steps_.push_back(step);
    return kSteps + static_cast<int>(steps_.size()) - 1;
  }

  /// Columns of a product, all of them or what a Split or a Slice has of them.
  std::optional<int> part(ValueRef v) {
    ExpertPart part{0, 0, 1};
    auto from = v;
    const auto type = graph_.type(v.node);
    if (type == "Split" || type == "VariadicSplit" || type == "Slice") {
      const auto rank = graph_.fact(v).shape.rank();
      if (const auto p = part_of(graph_, v); p && p->axis == rank - 1) part.first = p->first;
      else if (const auto s = strided_part(v, rank)) part = *s;
      else return std::nullopt;
      from = graph_.input(v.node, 0);
    } else if (type != "MatMul" && type != "Add") {
      return std::nullopt;
    }
    const auto seen = std::find_if(products_.begin(), products_.end(), [&](ValueRef p) { return same(p, from); });
    part.product = static_cast<int>(seen - products_.begin());
    if (seen == products_.end()) {
      const auto taken = nodes_;
      ExpertProduct product;
      const auto left = product_of(from, product);
      if (!left || !tiled(*left)) {
        nodes_ = taken;
        return std::nullopt;
      }
      products_.push_back(from);
      layer_.first.push_back(product);
    }
    if (!same(from, v)) nodes_.insert(v.node);  // a Split may be there for another of its outputs
    layer_.parts.push_back(part);
    return static_cast<int>(layer_.parts.size()) - 1;
  }

  /// Every second column, or every third.
  std::optional<ExpertPart> strided_part(ValueRef v, i64 rank) const {
    if (graph_.type(v.node) != "Slice") return std::nullopt;
    const auto start = whole_number(graph_, graph_.input(v.node, 1)),
               step = whole_number(graph_, graph_.input(v.node, 3)),
               axis = whole_number(graph_, graph_.input(v.node, 4));
    if (!start || !step || !axis || (*axis != -1 && *axis != rank - 1) || *start < 0 || *step < 1) return std::nullopt;
    const auto all = length(graph_, graph_.input(v.node, 0), -1);
    return *start + (layer_.width - 1) * *step < all ? std::optional(ExpertPart{0, *start, *step}) : std::nullopt;
  }

  /// Whether a value is the tokens once for each expert.
  bool tiled(ValueRef v) {
    if (layer_.tokens.node >= 0) return same(v, tiled_);
    tiled_ = v;
    if (graph_.type(v.node) == "Reshape" && take(v.node)) v = graph_.input(v.node, 0);
    const auto* repeats = graph_.type(v.node) == "Tile" ? graph_.constant(graph_.input(v.node, 1)) : nullptr;
    if (!repeats || !take(v.node)) return false;
    const auto counts = to_i64(*repeats);
    const auto tokens = graph_.input(v.node, 0);
    const auto& shape = graph_.fact(tokens).shape;
    const bool experts_first =
        counts[0] == layer_.experts && std::count(counts.begin() + 1, counts.end(), 1) == std::ssize(counts) - 1;
    // As many axes as counts, so that the first count is of the first axis.
    if (!experts_first || !shape.has_rank() || shape.rank() != std::ssize(counts) || !is_f32(graph_, tokens))
      return false;
    layer_.tokens = tokens;
    return true;
  }

  /// Gives the program its inputs: parts, then numbers.
  bool number_operands() {
    const auto parts = static_cast<int>(layer_.parts.size()), numbers = static_cast<int>(layer_.numbers.size());
    const auto numbered = [&](int place) {
      if (place >= kSteps) return place - kSteps + parts + numbers;
      return place >= kNumbers ? place - kNumbers + parts : place;
    };
    for (auto& step : steps_) {
      step.left = numbered(step.left);
      if (step.kind == ChainStep::binary) step.right = numbered(step.right);
    }
    layer_.program.inputs = parts + numbers;
    layer_.program.steps = std::move(steps_);
    return parts > 0 && layer_.program.fits();
  }

  /// Nobody outside reads what the nodes but the last compute.
  bool is_closed() const {
    for (auto node = nodes_.begin(); std::next(node) != nodes_.end(); ++node)
      for (int port = 0; port < std::ssize(graph_.node(*node).layer->outputs); ++port)
        for (const auto user : graph_.users({*node, port}))
          if (!nodes_.contains(user)) return false;
    return true;
  }

  const Graphlet& graph_;
  std::set<int> nodes_;
  std::vector<ValueRef> products_;  // of layer_.first
  std::vector<std::pair<ValueRef, int>> known_;
  std::vector<ChainStep> steps_;
  ValueRef tiled_{};
  ExpertLayer layer_;
};

}  // namespace

std::optional<ExpertLayer> expert_layer(const Graphlet& graph, int sum) { return Finder(graph).find(sum); }

}  // namespace ovir::fast
