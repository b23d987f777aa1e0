#include "tools/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "tools/fix.hpp"
#include "xml/tags.hpp"

namespace ovir::tools {
namespace {

constexpr std::size_t kMaxGrown = 64;  // layers around the suspect, before all are tried

Candidate read(SubModel text) {
  Candidate candidate;
  candidate.text = std::move(text);
  Diagnostics diagnostics;
  candidate.model = load(candidate.text, "reduced.xml", diagnostics);
  if (candidate.model && candidate.model->complete) candidate.facts = ovir::infer(*candidate.model, {}, diagnostics);
  if (candidate.model && !candidate.model->complete) candidate.model = nullptr;
  return candidate;
}

class Reducer {
 public:
  Reducer(const ReduceInput& input, const Fails& fails) : in_(input), part_(*input.part), fails_(fails) {
    users_.resize(part_.nodes.size());
    for (int i = 0; i < std::ssize(part_.nodes); ++i)
      for (const auto& v : part_[i].inputs)
        if (v.node >= 0) users_[v.node].emplace_back(i, v.port);
    for (int i = 0; i < std::ssize(part_.nodes); ++i)
      if (is_layer(part_[i])) all_.push_back(i);
  }

  ReducedModel run() {
    if (in_.suspect) grow(*in_.suspect);
    if (!best_ && test(all_)) halve();
    if (best_) shrink();
    return {std::move(best_), tried_};
  }

 private:
  static bool is_layer(const Node& node) { return node.op->kind == Kind::compute || node.op->kind == Kind::read_value; }

  /// A value as the run had it, in its declared type; empty where it was not computed.
  Tensor value(ValueRef v) const {
    auto tensor = in_.values.at({in_.part, v.node, v.port, in_.iterations});
    const auto* const facts = facts_of(in_.whole, in_.facts, part_);
    const auto type = facts ? facts->of(v).type : ElementType::dynamic;
    if (!tensor || type == ElementType::dynamic || type == tensor.type()) return tensor;
    return type == ElementType::string || tensor.type() == ElementType::string ? Tensor() : convert(tensor, type);
  }

  /// The cut that keeps these layers; nothing where a value that it needs is not known.
  std::optional<Cut> cut_of(const std::vector<int>& nodes) const {
    Cut cut;
    cut.part = in_.part;
    const std::set<int> kept(nodes.begin(), nodes.end());
    std::set<std::pair<int, int>> frozen;
    for (const int i : nodes) {
      for (const auto& v : part_[i].inputs) {
        const auto kind = part_[v.node].op->kind;
        if (kept.contains(v.node) || kind == Kind::constant || !frozen.emplace(v.node, v.port).second) continue;
        auto tensor = value(v);
        if (!tensor || tensor.type() == ElementType::string) return std::nullopt;
        cut.frozen.emplace_back(v, std::move(tensor));
      }
      const auto& users = users_[i];
      const bool inner = std::any_of(users.begin(), users.end(), [&](const auto& u) { return kept.contains(u.first); });
      std::set<int> ports;
      for (const auto& [user, port] : users)
        if (!kept.contains(user)) ports.insert(port);
      if (ports.empty() && !inner && part_[i].output_count > 0) ports.insert(0);
      for (const int port : ports) cut.outputs.push_back({i, port});
    }
    return cut.outputs.empty() ? std::nullopt : std::optional(std::move(cut));
  }

  bool test(std::vector<int> nodes) {
    std::sort(nodes.begin(), nodes.end());
    if (nodes.empty() || !tested_.insert(nodes).second) return false;
    const auto cut = cut_of(nodes);
    if (!cut) return false;
    ++tried_;
    auto candidate = read(extract(in_.whole, in_.facts, *cut));
    if (!candidate.model) return false;
    candidate.part = in_.part;
    candidate.nodes = nodes;
    std::map<std::string_view, i64> ids;
    for (const auto& layer : candidate.model->graph->layers) ids.emplace(layer.name, layer.id);
    const auto& added = candidate.text.added;
    for (std::size_t i = 0; i < std::min(cut->frozen.size(), added.size()); ++i)
      candidate.frozen.emplace_back(ids.at(added[i]), cut->frozen[i].first);
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  /// The suspect alone, then with the layers before it. A Constant is seen through the first layer that uses it.
  void grow(int suspect) {
    std::set<int> nodes{suspect};
    if (const auto& users = users_[suspect]; !is_layer(part_[suspect]) && !users.empty()) nodes = {users.front().first};
    while (!test({nodes.begin(), nodes.end()})) {
      auto wider = nodes;
      for (const int i : nodes)
        for (const auto& v : part_[i].inputs)
          if (is_layer(part_[v.node])) wider.insert(v.node);
      if (wider.size() == nodes.size() || wider.size() > kMaxGrown) return;
      nodes = std::move(wider);
    }
  }

  /// As few of the first layers as fail, then as few of the last ones of these.
  void halve() {
    const auto search = [&](auto&& part_of) {
      const auto nodes = best_->nodes;
      std::size_t low = 0, high = nodes.size();  // `high` layers fail
      while (low + 1 < high) {
        const auto middle = (low + high) / 2;
        if (test(part_of(nodes, middle))) high = middle;
        else low = middle;
      }
    };
    search([](const std::vector<int>& n, std::size_t k) { return std::vector<int>(n.begin(), n.begin() + k); });
    search([](const std::vector<int>& n, std::size_t k) { return std::vector<int>(n.end() - k, n.end()); });
  }

  /// Leaves out stretches of layers, shorter and shorter.
  void shrink() {
    for (auto stretch = std::max<std::size_t>(best_->nodes.size() / 2, 1);;) {
      if (leave_out(stretch)) continue;
      if (stretch == 1) return;
      stretch /= 2;
    }
  }
  bool leave_out(std::size_t stretch) {
    bool any = false;
    for (std::size_t from = 0; from < best_->nodes.size();) {
      auto rest = best_->nodes;
      const auto begin = rest.begin() + from;
      rest.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(stretch, rest.size() - from)));
      if (test(std::move(rest))) any = true;
      else from += stretch;
    }
    return any;
  }

  const ReduceInput& in_;
  const Model& part_;
  const Fails& fails_;
  std::vector<std::vector<std::pair<int, int>>> users_;  // by node: users, and which output they take
  std::vector<int> all_;
  std::set<std::vector<int>> tested_;
  std::optional<Candidate> best_;
  int tried_ = 0;
};

/// The changes that take the names out of a graph and its bodies.
void rename(const Graph& graph, std::map<std::string, int>& counts, std::vector<Replacement>& changes) {
  const auto source = graph.source;
  const auto text = source->text;
  const auto put = [&](xml::TextRange range, std::string with) {
    changes.push_back({{source, range.begin, range.end - range.begin}, std::move(with)});
  };
  for (const auto& layer : graph.layers) {
    if (const auto name = xml::find_attribute(text, layer.at.offset, "name"))
      put(name->value, fmt::format("{}_{}", layer.type, ++counts[layer.type]));
    for (const auto& port : layer.outputs)
      if (const auto names = xml::find_attribute(text, port.at.offset, "names"))
        put({names->name.begin - 1, names->value.end + 1}, "");
    for (const auto& info : xml::children(text, layer.at.offset, "rt_info")) put(info.whole, "");
    for (const auto& body : layer.bodies) rename(*body.graph, counts, changes);
  }
}

std::vector<std::byte> joined(const std::vector<Bytes>& pieces) {
  std::vector<std::byte> all;
  for (const auto& piece : pieces) all.insert(all.end(), piece.view.begin(), piece.view.end());
  return all;
}

SubModel with_bin(const SubModel& model, std::vector<std::byte> bytes) {
  auto changed = model;
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  changed.bin = {Bytes{owner, {owner->data(), owner->size()}}};
  return changed;
}

/// As many random numbers of the same range; empty where the values are a shape, an index or the like.
Tensor made_up(const Tensor& value, std::mt19937& random) {
  if (!contains(kFloat, value.type()) || value.size() < 2) return {};
  const auto values = to_f64(value.unpacked());
  double low = 0, high = 0;
  for (const double v : values)
    if (std::isfinite(v)) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
  std::uniform_real_distribution<double> between(low, high > low ? high : low + 1);
  std::vector<double> other(values.size());
  for (std::size_t i = 0; i < other.size(); ++i) other[i] = std::isfinite(values[i]) ? between(random) : values[i];
  return convert(Tensor::of<double>(ElementType::f64, value.shape(), other), value.type());
}

}  // namespace

ReducedModel reduce(const ReduceInput& input, const Fails& fails) { return Reducer(input, fails).run(); }

Candidate anonymized(const Candidate& candidate, bool numbers, const Fails& fails) {
  const auto keep_origin = [&](Candidate c) {
    c.part = candidate.part;
    c.nodes = candidate.nodes;
    c.frozen = candidate.frozen;
    return c;
  };
  const auto& graph = *candidate.model->graph;
  std::vector<Replacement> changes;
  std::map<std::string, int> counts;
  rename(graph, counts, changes);
  const auto text = graph.source->text;
  const auto root = xml::root_tag(text);
  if (const auto name = xml::find_attribute(text, root, "name"))
    changes.push_back({{graph.source, name->value.begin, name->value.end - name->value.begin}, "model"});
  for (const auto& info : xml::children(text, root, "rt_info"))
    changes.push_back({{graph.source, info.whole.begin, info.whole.end - info.whole.begin}, ""});
  auto renamed = candidate.text;
  renamed.xml = apply(text, std::move(changes));
  renamed.added.clear();
  auto best = keep_origin(read(std::move(renamed)));
  if (!best.model) return candidate;
  if (!numbers) return best;
  std::mt19937 random(1);
  for (std::size_t i = 0; i < best.model->nodes.size(); ++i) {
    const auto& node = best.model->nodes[i];
    const auto range = node.op->kind == Kind::constant ? stored_bytes(node) : std::nullopt;
    const auto other = range ? made_up(node.constant, random) : Tensor();
    if (!other || static_cast<i64>(other.byte_size()) != range->end - range->begin) continue;
    auto bytes = joined(best.text.bin);
    std::memcpy(bytes.data() + range->begin, other.bytes(), other.byte_size());
    auto changed = keep_origin(read(with_bin(best.text, std::move(bytes))));
    if (changed.model && fails(changed)) best = std::move(changed);
  }
  return best;
}

Reference reference_for(const Candidate& candidate, const Reference& reference, const std::vector<i64>& iterations) {
  std::map<i64, ValueRef> frozen(candidate.frozen.begin(), candidate.frozen.end());
  std::map<i64, int> node_of;  // of the part
  for (int i = 0; i < std::ssize(candidate.part->nodes); ++i) node_of.emplace((*candidate.part)[i].layer->id, i);
  Reference result;
  const auto copy = [&](ValueRef from, TensorPlace to) {
    const auto& tensors = reference.tensors();
    const auto found = tensors.find({candidate.part, from.node, from.port, iterations});
    if (found != tensors.end()) result.put(std::move(to), found->second);
  };
  for (int i = 0; i < std::ssize(candidate.model->nodes); ++i) {
    const auto& node = (*candidate.model)[i];
    if (node.op->kind == Kind::result) continue;
    if (const auto constant = frozen.find(node.layer->id); constant != frozen.end()) {
      copy(constant->second, {candidate.model.get(), i, 0, {}});
    } else if (const auto kept = node_of.find(node.layer->id); kept != node_of.end()) {
      for (int port = 0; port < node.output_count; ++port)
        copy({kept->second, port}, {candidate.model.get(), i, port, {}});
    }
  }
  return result;
}

std::pair<std::size_t, std::size_t> count_reduced(const Model& model) {
  std::size_t layers = 0, constants = 0;
  for (const auto& node : model.nodes) {
    constants += node.op->kind == Kind::constant ? 1 : 0;
    layers += node.op->kind == Kind::compute || node.op->kind == Kind::read_value ? 1 : 0;
  }
  return {layers, constants};
}

}  // namespace ovir::tools
