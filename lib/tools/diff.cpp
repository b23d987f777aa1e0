#include "tools/diff.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "tools/layer_text.hpp"
#include "tools/numbers.hpp"
#include "tools/pairing.hpp"

namespace ovir::tools {
namespace {

using Kind = ModelChange::Kind;

/// "1, 8" and "1,8" say the same, as do "1.0" and "1".
bool same_text(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto x = split(a, ','), y = split(b, ',');
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](std::string_view p, std::string_view q) {
    const auto m = parse_number<double>(p), n = parse_number<double>(q);
    return trim(p) == trim(q) || (m && n && *m == *n);
  });
}

/// Nothing where the values cannot be held against each other.
std::optional<ValuesDelta> delta_of(const Tensor& x, const Tensor& y) {
  constexpr i64 chunk = 1 << 20;
  if (!x || !y || x.shape() != y.shape()) return std::nullopt;
  ValuesDelta delta{0, x.size()};
  const bool texts = x.type() == ElementType::string;
  if (texts != (y.type() == ElementType::string)) return std::nullopt;
  if (texts) {
    const auto p = x.values<std::string_view>(), q = y.values<std::string_view>();
    for (std::size_t i = 0; i < p.size(); ++i) delta.changed += p[i] != q[i];
    return delta;
  }
  if (x.type() == y.type() && x.packed() == y.packed() && std::memcmp(x.bytes(), y.bytes(), x.byte_size()) == 0)
    return delta;
  const auto p = x.unpacked(), q = y.unpacked();
  for (i64 from = 0; from < p.size(); from += chunk) {
    const auto count = std::min(chunk, p.size() - from);
    const auto m = to_f64(part_of(p, from, count)), n = to_f64(part_of(q, from, count));
    for (std::size_t i = 0; i < m.size(); ++i) {
      if (m[i] == n[i] || (std::isnan(m[i]) && std::isnan(n[i]))) continue;
      ++delta.changed;
      const auto d = std::abs(m[i] - n[i]);
      if (!(d <= delta.max_abs)) delta.max_abs = std::isnan(delta.max_abs) ? delta.max_abs : d;
    }
  }
  return delta;
}

class Differ {
 public:
  explicit Differ(ModelDifference& to) : to_(to) {}

  void graphs(const Model& a, const Facts* fa, const Model& b, const Facts* fb) {
    const auto pairs = pair_layers(a, b);
    for (int i = 0; i < std::ssize(a.nodes); ++i)
      if (pairs.of_first[i] < 0) add({Kind::removed, LayerPlace{&a, i}, {}});
    for (int j = 0; j < std::ssize(b.nodes); ++j)
      if (pairs.of_second[j] < 0) add({Kind::added, {}, LayerPlace{&b, j}});
    for (int j = 0; j < std::ssize(b.nodes); ++j)
      if (pairs.of_second[j] >= 0) layers({&a, pairs.of_second[j]}, fa, {&b, j}, fb, pairs);
    order("inputs", a, a.parameters, b, b.parameters, pairs);
    order("outputs", a, a.results, b, b.results, pairs);
    for (int j = 0; j < std::ssize(b.nodes); ++j)
      if (pairs.of_second[j] >= 0) bodies({&a, pairs.of_second[j]}, fa, {&b, j}, fb);
  }

  void infos(const Graph& a, const Graph& b) {
    info("name", a.name, b.name);
    info("version", std::to_string(a.ir_version), std::to_string(b.ir_version));
    std::map<std::string, std::pair<std::optional<std::string>, std::optional<std::string>>> entries;
    for (const auto& entry : a.rt_info) entries[entry.path].first = entry.value;
    for (const auto& entry : b.rt_info) entries[entry.path].second = entry.value;
    for (const auto& [path, values] : entries) info(path, values.first, values.second);
  }

 private:
  ModelDifference& to_;

  void add(ModelChange change) { to_.changes.push_back(std::move(change)); }
  void info(const std::string& what, const std::optional<std::string>& before,
            const std::optional<std::string>& after) {
    if (before != after) add({Kind::info, {}, {}, what, -1, before, after});
  }

  void layers(const LayerPlace& a, const Facts* fa, const LayerPlace& b, const Facts* fb, const Pairs& pairs) {
    const auto &x = a.layer(), &y = b.layer();
    const auto say = [&](Kind kind, std::string what, int port, std::optional<std::string> before,
                         std::optional<std::string> after) {
      if (before != after) add({kind, a, b, std::move(what), port, std::move(before), std::move(after)});
    };
    say(Kind::renamed, {}, -1, x.name, y.name);
    if (!equals_ignoring_case(x.type, y.type) || x.version != y.version)
      say(Kind::operation, {}, -1, x.type + " " + x.version, y.type + " " + y.version);
    attributes(a, b);
    inputs(a, b, pairs);
    for (int p = 0; p < std::max(std::ssize(x.outputs), std::ssize(y.outputs)); ++p) {
      const auto text = [&](const LayerPlace& place, const Facts* facts) -> std::optional<std::string> {
        if (p >= std::ssize(place.layer().outputs)) return std::nullopt;
        const auto port = port_text(*place.model, facts, {place.node, p});
        return std::string(name(port.type)) + to_string(port.shape);
      };
      const auto names = [&](const Layer& layer) {
        auto list = p < std::ssize(layer.outputs) ? layer.outputs[p].names : std::vector<std::string>();
        std::sort(list.begin(), list.end());
        return names_list(list);
      };
      say(Kind::output, {}, p, text(a, fa), text(b, fb));
      say(Kind::tensor_names, {}, p, names(x), names(y));
    }
    say(Kind::tensor_names, {}, -1, names_list(x.output_names), names_list(y.output_names));
    values(a, b);
  }

  static bool is_constant(const LayerPlace& place) {
    const auto& node = (*place.model)[place.node];
    return node.op && node.op->kind == ovir::Kind::constant;
  }

  void attributes(const LayerPlace& a, const LayerPlace& b) {
    std::map<std::string, std::pair<std::optional<std::string>, std::optional<std::string>>> all;
    for (const auto& attribute : a.layer().attributes) all[attribute.name].first = attribute.value;
    for (const auto& attribute : b.layer().attributes) all[attribute.name].second = attribute.value;
    const bool stored = is_constant(a) && is_constant(b);
    for (const auto& [name, values] : all) {
      if (stored && (name == "offset" || name == "size")) continue;
      if (values.first && values.second && same_text(*values.first, *values.second)) continue;
      add({Kind::attribute, a, b, name, -1, values.first, values.second});
    }
  }

  static std::optional<std::string> source_text(const LayerPlace& place, std::size_t port) {
    const auto& inputs = (*place.model)[place.node].inputs;
    if (port >= inputs.size() || inputs[port].node < 0) return std::nullopt;
    return fmt::format("{}:{}", (*place.model)[inputs[port].node].layer->name, inputs[port].port);
  }

  void inputs(const LayerPlace& a, const LayerPlace& b, const Pairs& pairs) {
    const auto &x = (*a.model)[a.node].inputs, &y = (*b.model)[b.node].inputs;
    for (int p = 0; p < std::max(std::ssize(x), std::ssize(y)); ++p) {
      const auto from = p < std::ssize(x) ? x[p] : ValueRef{}, to = p < std::ssize(y) ? y[p] : ValueRef{};
      const auto meant = from.node < 0 ? -1 : pairs.of_first[from.node];
      if (meant == to.node && (meant < 0 ? from.node < 0 : from.port == to.port)) continue;
      add({Kind::input, a, b, {}, p, source_text(a, p), source_text(b, p)});
    }
  }

  void values(const LayerPlace& a, const LayerPlace& b) {
    if (!is_constant(a) || !is_constant(b)) return;
    const auto &x = (*a.model)[a.node].constant, &y = (*b.model)[b.node].constant;
    const auto delta = delta_of(x, y);
    if (!delta) {
      if (!x || !y || x.shape() == y.shape()) ++to_.not_compared;  // another shape is a difference of the attribute
    } else if (delta->changed > 0) {
      ModelChange change{Kind::values, a, b};
      change.delta = delta;
      add(std::move(change));
    }
  }

  void order(const std::string& what, const Model& a, const std::vector<int>& of_a, const Model& b,
             const std::vector<int>& of_b, const Pairs& pairs) {
    std::vector<int> common_a, common_b;  // by nodes of b
    for (const auto i : of_a)
      if (pairs.of_first[i] >= 0) common_a.push_back(pairs.of_first[i]);
    for (const auto j : of_b)
      if (pairs.of_second[j] >= 0) common_b.push_back(j);
    if (common_a == common_b) return;
    const auto names = [](const Model& model, const std::vector<int>& nodes) {
      std::vector<std::string> list;
      for (const auto i : nodes) list.push_back(model.path + model[i].layer->name);
      return names_list(list);
    };
    add({Kind::order, {}, {}, what, -1, names(a, of_a), names(b, of_b)});
  }

  /// Of two sorted lists, what the other lacks.
  static std::pair<std::string, std::string> different_lines(const std::vector<std::string>& a,
                                                             const std::vector<std::string>& b) {
    std::vector<std::string> only_a, only_b;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only_b));
    return {fmt::format("{}", fmt::join(only_a, "; ")), fmt::format("{}", fmt::join(only_b, "; "))};
  }

  void bodies(const LayerPlace& a, const Facts* fa, const LayerPlace& b, const Facts* fb) {
    const auto &x = (*a.model)[a.node], &y = (*b.model)[b.node];
    const auto inner = [](const Facts* facts, int node, std::size_t body) -> const Facts* {
      if (!facts || node >= std::ssize(facts->bodies) || body >= facts->bodies[node].size()) return nullptr;
      return &facts->bodies[node][body];
    };
    for (std::size_t k = 0; k < std::min(x.bodies.size(), y.bodies.size()); ++k) {
      if (k < x.maps.size() && k < y.maps.size()) {
        const auto [before, after] =
            different_lines(connections(*x.bodies[k], x.maps[k]), connections(*y.bodies[k], y.maps[k]));
        if (before != after) add({Kind::connections, a, b, y.maps[k].role, -1, before, after});
      }
      graphs(*x.bodies[k], inner(fa, a.node, k), *y.bodies[k], inner(fb, b.node, k));
    }
  }
};

}  // namespace

std::vector<std::string> connections(const Model& body, const BodyMap& map) {
  std::vector<std::string> lines;
  const auto parameter = [&](int k) { return body[body.parameters[k]].layer->name; };
  const auto result = [&](int k) { return body[body.results[k]].layer->name; };
  const auto sliced = [](const BodyLink& link) {
    return link.sliced ? fmt::format(" axis={} start={} end={} stride={} part_size={}", link.axis, link.start, link.end,
                                     link.stride, link.part_size)
                       : std::string();
  };
  for (const auto& link : map.inputs)
    lines.push_back(fmt::format("input {} -> {}{}", link.port, parameter(link.inner), sliced(link)));
  for (const auto& link : map.outputs)
    lines.push_back(fmt::format("{} -> output {}{}", result(link.inner), link.port, sliced(link)));
  for (const auto& edge : map.feedback)
    lines.push_back(fmt::format("{} -> {} of the next iteration", result(edge.result), parameter(edge.parameter)));
  if (map.iteration_parameter >= 0)
    lines.push_back(fmt::format("iteration number -> {}", parameter(map.iteration_parameter)));
  if (map.condition_result >= 0) lines.push_back(fmt::format("{} -> condition", result(map.condition_result)));
  std::sort(lines.begin(), lines.end());
  return lines;
}

ModelDifference diff(const DiffSide& a, const DiffSide& b) {
  ModelDifference difference;
  Differ differ(difference);
  differ.infos(*a.model.graph, *b.model.graph);
  differ.graphs(a.model, &a.facts, b.model, &b.facts);
  return difference;
}

}  // namespace ovir::tools
