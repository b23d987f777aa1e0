// shapes: the element type and shape of every output, as inferred.
#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "command.hpp"
#include "render/json.hpp"
#include "render/why.hpp"

namespace ovir::app::commands::shapes {
namespace {

struct Options : ModelOptions {
  std::string format = "human", why;
  bool only_dynamic = false;
};

/// Calls `f(node, facts, path)` for every layer: topological order, those of bodies after the whole.
template <class F>
void each_layer(const Model& model, const Facts& facts, F&& f) {
  for (std::size_t i = 0; i < model.nodes.size(); ++i) f(model, model.nodes[i], facts.outputs[i]);
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    for (std::size_t b = 0; b < model.nodes[i].bodies.size() && i < facts.bodies.size() && b < facts.bodies[i].size();
         ++b)
      if (!facts.bodies[i][b].outputs.empty()) each_layer(*model.nodes[i].bodies[b], facts.bodies[i][b], f);
}

bool shown(const Options& options, const std::vector<Fact>& outputs) {
  return !options.only_dynamic ||
         std::any_of(outputs.begin(), outputs.end(), [](const Fact& f) { return !f.shape.is_static(); });
}

/// The type in which an input or output of the model is exchanged, where that is not the one it is computed in (IR 10).
std::optional<ElementType> exchanged(const Model& model, const Node& node, const std::vector<Fact>& outputs) {
  if (!model.path.empty() || !node.op || outputs.empty()) return std::nullopt;
  if (node.op->kind != Kind::parameter && node.op->kind != Kind::result) return std::nullopt;
  const auto type = exchanged_type(model, outputs[0].type, node.op->kind == Kind::parameter);
  return type == outputs[0].type ? std::nullopt : std::optional(type);
}

std::string as_json(const Options& options, const Loaded& loaded) {
  Json layers = Json::array();
  each_layer(*loaded.model, loaded.facts, [&](const Model& model, const Node& node, const std::vector<Fact>& outputs) {
    if (!shown(options, outputs)) return;
    Json ports = Json::array();
    for (std::size_t o = 0; o < outputs.size(); ++o)
      ports.push_back({{"port", o}, {"element_type", name(outputs[o].type)}, {"shape", to_string(outputs[o].shape)}});
    layers.push_back({{"id", id_json(node.layer->id_text)},
                      {"name", model.path + node.layer->name},
                      {"type", node.layer->type},
                      {"version", node.layer->version},
                      {"outputs", std::move(ports)}});
    if (const auto type = exchanged(model, node, outputs)) layers.back()["exchanged_type"] = name(*type);
  });
  return json_text({{"schema", 1}, {"layers", std::move(layers)}}, 2);
}

std::string as_table(const Options& options, const Loaded& loaded) {
  struct Row {
    std::string id, type, output, name;
  };
  std::vector<Row> rows;
  each_layer(*loaded.model, loaded.facts, [&](const Model& model, const Node& node, const std::vector<Fact>& outputs) {
    if (!shown(options, outputs)) return;
    std::string list;
    for (const auto& fact : outputs)
      list += fmt::format("{}{}{}", list.empty() ? "" : " ", name(fact.type), to_string(fact.shape));
    if (const auto type = exchanged(model, node, outputs)) list += fmt::format(" (exchanged as {})", name(*type));
    rows.push_back({printable(node.layer->id_text), printable(node.layer->type), list.empty() ? "-" : list,
                    printable(model.path + node.layer->name)});
  });
  Row width{"id", "type", "output", "name"};
  std::size_t id = 2, type = 4, output = 6;
  for (const auto& row : rows) {
    id = std::max(id, row.id.size());
    type = std::max(type, row.type.size());
    output = std::max(output, std::min<std::size_t>(row.output.size(), 40));
  }
  rows.insert(rows.begin(), std::move(width));
  std::string out;
  for (const auto& row : rows)
    out += fmt::format("{:>{}}  {:<{}}  {:<{}}  {}\n", row.id, id, row.type, type, row.output, output, row.name);
  return out;
}

int shapes(const Options& options, const Common& common) {
  const auto loaded = load_model(options, common);
  if (!options.why.empty()) {
    print((options.format == "json" ? why_json : why)(*loaded.model, loaded.facts, options.why));
    return kOk;
  }
  print(options.format == "json" ? as_json(options, loaded) : as_table(options, loaded));
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  flags.shapes(o);
  flags.format(o.format, "human json");
  flags.text("--why", o.why, "LAYER[:port[:axis]]",
             "explain where each dim of this output comes from; with an axis, every step");
  flags.toggle("--no-weights", o.no_weights, "do not read the .bin");
  flags.toggle("--only-dynamic", o.only_dynamic, "only layers with an output whose shape is not fully known");
  return [options](const Common& common) { return shapes(*options, common); };
}

}  // namespace

extern constinit const Command command{"shapes",
                                       CommandGroup::inspect,
                                       "show the inferred element type and shape of every output",
                                       "ovir shapes model.xml --shape 'image[1,3,?,?]' --only-dynamic\n"
                                       "ovir shapes model.xml --why Reshape_12:0:1",
                                       {2, 3, 4, 7},
                                       declare};

}  // namespace ovir::app::commands::shapes
