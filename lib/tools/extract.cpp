#include "tools/extract.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "model/report.hpp"
#include "op/shared_attrs.hpp"
#include "tools/fix.hpp"
#include "tools/layer_text.hpp"
#include "tools/packed_bin.hpp"
#include "tools/remedy.hpp"
#include "xml/tags.hpp"

namespace ovir::tools {
namespace {

using ValueKey = std::pair<i64, i64>;  // a node and a port, by index or by the file's ids

ValueKey key_of(const ValueRef& v) { return {v.node, v.port}; }

/// A value that is cut, and the layer that stands in for what computed it.
struct Boundary {
  ValueRef value;
  const Tensor* frozen = nullptr;
  bool reached = false;
  i64 id = 0;
};

/// The <layers> and <edges> of a graph.
struct Lists {
  xml::ElementText layers, edges;
  std::size_t begin() const { return std::min(layers.whole.begin, edges.whole.begin); }
  std::size_t end() const { return std::max(layers.whole.end, edges.whole.end); }
};

Lists lists_of(std::string_view text, std::size_t tag) {
  const auto layers = xml::children(text, tag, "layers"), edges = xml::children(text, tag, "edges");
  if (layers.empty() || edges.empty()) fail(Code::E0103, "cannot cut a graph that lacks <layers> or <edges>");
  return {layers.front(), edges.front()};
}

/// The tag of the element that holds the graph of `part`.
std::optional<std::size_t> tag_of(const Model& model, const Model& part, std::size_t tag) {
  if (&model == &part) return tag;
  for (const auto& node : model.nodes) {
    for (std::size_t b = 0; b < node.bodies.size(); ++b) {
      if (!part.path.starts_with(node.bodies[b]->path)) continue;
      const auto elements = xml::children(model.graph->source->text, node.layer->at.offset, node.layer->bodies[b].role);
      if (elements.empty()) continue;
      if (const auto found = tag_of(*node.bodies[b], part, elements.front().whole.begin)) return found;
    }
  }
  return std::nullopt;
}

class Cutter {
 public:
  Cutter(const Model& whole, const Facts& facts, const Cut& cut)
      : whole_(whole),
        cut_(cut),
        part_(*cut.part),
        facts_(facts_of(whole, facts, part_)),
        source_(whole.graph->source),
        text_(source_->text),
        unused_(*part_.graph),
        bin_(whole.graph->weights),
        kept_(part_.nodes.size(), false) {
    for (const auto& [value, tensor] : cut.frozen) add_boundary({value, &tensor});
    for (const auto& value : cut.inputs) add_boundary({value});
  }

  SubModel run() {
    keep_what_is_needed();
    const auto root = xml::root_tag(text_), tag = tag_of(whole_, part_, root).value_or(root);
    const auto lists = lists_of(text_, tag), outer = lists_of(text_, root);
    if (tag != root) {
      remove(outer.begin(), lists.begin());
      remove(lists.end(), outer.end());
    }
    for (const auto& block : xml::children(text_, root, "pre-process")) remove(block.whole.begin, block.whole.end);
    write_layers(lists.layers);
    write_edges(lists.edges);
    result_.bin = bin_.pieces();
    result_.xml = apply(text_, std::move(edits_.texts));
    return std::move(result_);
  }

 private:
  const Model& whole_;
  const Cut& cut_;
  const Model& part_;
  const Facts* facts_;
  std::shared_ptr<const SourceFile> source_;
  std::string_view text_;
  Unused unused_;
  PackedBin bin_;
  std::vector<bool> kept_;  // by node
  std::vector<Boundary> boundaries_;
  std::map<ValueKey, std::size_t> boundary_of_;
  std::vector<std::pair<ValueRef, i64>> new_results_;  // and their ids
  Edits edits_;
  SubModel result_;

  void add_boundary(Boundary boundary) {
    if (boundary_of_.try_emplace(key_of(boundary.value), boundaries_.size()).second) boundaries_.push_back(boundary);
  }

  Boundary* boundary_of(const ValueRef& v) {
    const auto at = boundary_of_.find(key_of(v));
    return at == boundary_of_.end() ? nullptr : &boundaries_[at->second];
  }

  // What stays.

  void keep_what_is_needed() {
    std::vector<int> open;
    const auto keep = [&](int node) {
      if (!kept_[node]) open.push_back(node);
      kept_[node] = true;
    };
    const auto need = [&](const ValueRef& v) {
      if (v.node < 0) return;
      if (auto* const boundary = boundary_of(v)) boundary->reached = true;
      else keep(v.node);
    };
    for (const auto& v : cut_.outputs) {
      need(v);
      keep_results(v);
    }
    while (!open.empty()) {
      const auto& node = part_[open.back()];
      open.pop_back();
      for (const auto& v : node.inputs) need(v);
      if (node.op && node.op->kind == Kind::read_value)
        for (const auto write : writes_of(node)) keep(write);
    }
    for (const auto p : part_.parameters)
      if (kept_[p]) result_.parameters.push_back(p);
    for (const auto& boundary : boundaries_)
      if (!boundary.reached && !boundary.frozen) result_.unreached.push_back(boundary.value);
    for (int i = 0; i < std::ssize(part_.nodes); ++i)
      if (!kept_[i]) unused_.free(part_[i].layer->name);
  }

  void keep_results(const ValueRef& v) {
    bool any = false;
    for (const auto r : part_.results) {
      const auto& inputs = part_[r].inputs;
      if (inputs.size() == 1 && key_of(inputs[0]) == key_of(v)) kept_[r] = any = true;
    }
    const auto same = [&](const auto& result) { return key_of(result.first) == key_of(v); };
    if (!any && std::none_of(new_results_.begin(), new_results_.end(), same)) new_results_.emplace_back(v, 0);
  }

  std::vector<int> writes_of(const Node& read) const {
    std::vector<int> writes;
    const auto variable = attribute_of(read, "variable_id");
    for (int i = 0; i < std::ssize(part_.nodes); ++i)
      if (const auto& node = part_[i]; node.op && node.op->kind == Kind::assign)
        if (attribute_of(node, "variable_id") == variable) writes.push_back(i);
    return writes;
  }

  // The text.

  void remove(std::size_t from, std::size_t to) {
    if (from < to) edits_.texts.push_back({{source_, from, to - from}, ""});
  }
  void insert(std::size_t at, std::string text) {
    if (!text.empty()) edits_.texts.push_back({{source_, at, 0}, std::move(text)});
  }

  /// That of the layer that computed the value, where that goes and computed nothing else.
  std::string boundary_name(const ValueRef& v) {
    const auto& node = part_[v.node];
    const bool only = !kept_[v.node] && node.layer->outputs.size() == 1;
    return unused_.name(only ? node.layer->name : fmt::format("{}.{}", node.layer->name, v.port));
  }

  std::string boundary_text(Boundary& boundary, const Indent& indent) {
    auto port = port_text(part_, facts_, boundary.value);
    if (kept_[boundary.value.node]) port.names.clear();  // that layer still has them
    result_.added.push_back(boundary_name(boundary.value));
    boundary.id = unused_.id();
    if (!boundary.frozen) return parameter_text(indent, boundary.id, result_.added.back(), port);
    port.type = boundary.frozen->type();
    port.shape = boundary.frozen->shape();
    const auto [begin, end] = bin_.add(*boundary.frozen);
    return constant_text(indent, boundary.id, result_.added.back(), port, begin, end - begin);
  }

  /// What stands for the means of <pre-process> becomes layers like others.
  std::string added_text(int index, const Indent& indent) {
    const auto& node = part_[index];
    const auto& layer = *node.layer;
    const auto port = port_text(part_, facts_, {index, 0});
    result_.added.push_back(layer.name);
    if (node.op->kind != Kind::constant) return compute_text(indent, layer, port);
    const auto [begin, end] = bin_.add(node.constant);
    return constant_text(indent, layer.id, layer.name, port, begin, end - begin);
  }

  void write_layers(const xml::ElementText& list) {
    const auto elements = xml::children(text_, list.whole.begin, "layer");
    if (elements.empty()) fail(Code::E0103, "cannot cut a graph without layers");
    std::map<std::size_t, int> node_at;  // by the place of its tag
    for (int i = 0; i < std::ssize(part_.nodes); ++i)
      if (kept_[i]) node_at.emplace(part_[i].layer->at.offset, i);
    auto from = list.content.begin;
    for (const auto& element : elements) {
      const auto node = node_at.find(element.whole.begin);
      if (node == node_at.end()) remove(from, element.whole.end);
      else bin_.keep(part_, part_[node->second]);
      from = element.whole.end;
    }
    for (auto& moved : bin_.place()) edits_.texts.push_back(std::move(moved));
    declare_parameters();

    const auto indent = indent_in(text_, list, elements.front().whole.begin);
    std::string front, back;
    for (auto& boundary : boundaries_)
      if (boundary.reached) front += boundary_text(boundary, indent);
    for (auto& [value, id] : new_results_) {
      id = unused_.id();
      result_.added.push_back(unused_.name(result_name(*part_[value.node].layer, value.port)));
      back += result_text(indent, id, result_.added.back(), port_text(part_, facts_, value));
    }
    for (int i = 0; i < std::ssize(part_.nodes); ++i)
      if (kept_[i] && part_[i].layer->added) back = added_text(i, indent) + back;
    insert(list.content.begin, std::move(front));
    insert(elements.back().whole.end, std::move(back));
  }

  /// What a body's Parameters declare need not be what reaches them.
  void declare_parameters() {
    if (!facts_) return;
    const Remedies remedies(whole_);
    for (const auto p : result_.parameters) {
      const auto& node = part_[p];
      if (p >= std::ssize(facts_->outputs) || facts_->outputs[p].empty() || !node.attrs) continue;
      const auto& fact = facts_->outputs[p][0];
      const auto& declared = node.as<ParameterAttrs>();
      if (node.layer->outputs.empty() || (fact.type == declared.element_type && fact.shape == declared.shape)) continue;
      Diagnostic at_port;
      at_port.layer = layer_ref(part_, *node.layer);
      at_port.at = node.layer->outputs[0].at;
      Remedy remedy;
      if (fact.type != ElementType::dynamic) {
        remedy.push_back({Change::What::attribute, "element_type", std::string(name(fact.type))});
        remedy.push_back({Change::What::tag_attribute, "precision", std::string(precision_name(fact.type))});
      }
      if (fact.shape.has_rank()) {
        remedy.push_back({Change::What::attribute, "shape", attribute_text(fact.shape)});
        remedy.push_back({Change::What::dims, {}, list_of(fact.shape)});
      }
      if (const auto change = remedies.edits_of(at_port, remedy)) edits_.append(*change);
    }
  }

  void write_edges(const xml::ElementText& list) {
    std::map<i64, int> node_of;  // by id
    for (int i = 0; i < std::ssize(part_.nodes); ++i) node_of.emplace(part_[i].layer->id, i);
    const auto value_of = [&](i64 layer, i64 port) -> std::optional<ValueRef> {
      const auto node = node_of.find(layer);
      if (node == node_of.end()) return std::nullopt;
      const auto& ports = part_[node->second].layer->outputs;
      const auto at = std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.id == port; });
      return at == ports.end() ? std::nullopt
                               : std::optional(ValueRef{node->second, static_cast<int>(at - ports.begin())});
    };

    std::map<std::size_t, const Edge*> edge_at;  // by the place of its tag: those that stay
    for (const auto& edge : part_.graph->edges) {
      const auto to = node_of.find(edge.to_layer);
      if (to != node_of.end() && kept_[to->second]) edge_at.emplace(edge.at.offset, &edge);
    }
    const auto elements = xml::children(text_, list.whole.begin, "edge");
    auto from = list.content.begin;
    for (const auto& element : elements) {
      const auto edge = edge_at.find(element.whole.begin);
      const auto value =
          edge == edge_at.end() ? std::nullopt : value_of(edge->second->from_layer, edge->second->from_port);
      if (!value) {
        remove(from, element.whole.end);
      } else if (const auto* const boundary = boundary_of(*value)) {
        set_attribute(element.whole.begin, "from-layer", boundary->id);
        set_attribute(element.whole.begin, "from-port", 0);
      } else if (part_[value->node].layer->added) {
        set_attribute(element.whole.begin, "from-layer", edge->second->from_layer);
        set_attribute(element.whole.begin, "from-port", edge->second->from_port);
      }
      from = element.whole.end;
    }

    const auto indent = indent_in(text_, list, elements.empty() ? list.content.begin : elements.front().whole.begin);
    std::string added;
    for (const auto& edge : part_.graph->edges) {
      const auto to = node_of.find(edge.to_layer);
      if (to == node_of.end() || !kept_[to->second] || !part_[to->second].layer->added) continue;
      const auto value = value_of(edge.from_layer, edge.from_port);
      const auto* const boundary = value ? boundary_of(*value) : nullptr;
      added += edge_text(indent, boundary ? boundary->id : edge.from_layer, boundary ? 0 : edge.from_port,
                         edge.to_layer, edge.to_port);
    }
    for (const auto& [value, id] : new_results_) {
      const auto* const boundary = boundary_of(value);
      const auto& layer = *part_[value.node].layer;
      added +=
          edge_text(indent, boundary ? boundary->id : layer.id, boundary ? 0 : layer.outputs[value.port].id, id, 0);
    }
    if (!added.empty()) edits_.texts.push_back(added_to(source_, list, elements, std::move(added)));
  }

  void set_attribute(std::size_t tag, std::string_view name, i64 value) {
    if (const auto found = xml::find_attribute(text_, tag, name))
      edits_.texts.push_back(
          {{source_, found->value.begin, found->value.end - found->value.begin}, std::to_string(value)});
  }
};

}  // namespace

SubModel extract(const Model& whole, const Facts& facts, const Cut& cut) { return Cutter(whole, facts, cut).run(); }

std::shared_ptr<const Model> load(const SubModel& model, const std::string& name, Diagnostics& diagnostics) {
  const auto xml = std::make_shared<const std::string>(model.xml);
  std::size_t size = 0;
  for (const auto& piece : model.bin) size += piece.size();
  const auto storage = allocate(size);
  auto* to = storage.get();
  for (const auto& piece : model.bin) to = std::copy(piece.view.begin(), piece.view.end(), to);
  xml::ReadOptions reading;
  reading.bytes = std::make_shared<const Bytes>(Bytes{storage, {storage.get(), size}});
  return ovir::load(std::make_shared<const SourceFile>(SourceFile{name, xml, *xml}), reading, diagnostics);
}

}  // namespace ovir::tools
