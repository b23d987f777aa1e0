// Cuts: a random part of a sound model is sound, and gives the values that the whole computes.
#include "tools/extract.hpp"
#include <map>
#include "agree.hpp"
#include "fuzz.hpp"
#include "harness/ways.hpp"
#include "scratch.hpp"
#include "values.hpp"

using namespace ovir;

namespace {

using Place = std::pair<int, int>;  ///< node and output
Place place(ValueRef v) { return {v.node, v.port}; }

/// The values of the model itself, those of bodies left out.
class Keep final : public Observer {
 public:
  std::map<Place, Tensor> values;
  bool wants(const Model& model, int) override { return model.path.empty(); }
  Verdict after(Event& event) override {
    for (std::size_t port = 0; port < event.outputs.size(); ++port)
      if (event.outputs[port] && event.node.op->kind != Kind::result)
        values[{event.index, static_cast<int>(port)}] = event.outputs[port].copied();
    return Verdict::go_on;
  }
};

Options as_declared() {
  Options options;
  options.tier = Tier::reference;
  options.precision = Precision::declared;
  options.runtime = {.threads = 1, .memory = 256 << 20, .time = std::chrono::seconds(10), .work = 200'000'000};
  return options;
}

/// Values that may be cut or asked for: of layers that compute.
std::vector<ValueRef> computed(const Model& model) {
  std::vector<ValueRef> values;
  for (int i = 0; i < std::ssize(model.nodes); ++i)
    for (int port = 0; model[i].op->kind == Kind::compute && port < std::ssize(model[i].layer->outputs); ++port)
      values.push_back({i, port});
  return values;
}

bool repeats(const Model& model) {
  return std::all_of(model.nodes.begin(), model.nodes.end(), [](const Node& node) {
    const bool stateful = node.op->kind == Kind::read_value || node.op->kind == Kind::assign;
    return !stateful && (node.version->pure || !node.bodies.empty()) &&
           std::all_of(node.bodies.begin(), node.bodies.end(), [](const auto& body) { return repeats(*body); });
  });
}

std::optional<std::vector<Tensor>> made_up(const Model& model, const Facts& facts, fuzz::Choices& choices) {
  std::vector<Tensor> inputs;
  for (const auto node : model.parameters) {
    const auto& fact = facts.outputs[static_cast<std::size_t>(node)].at(0);
    const auto shape = fuzz::some_shape(fact.shape, 1 << 12, choices);
    if (!shape || fact.type == ElementType::dynamic) return std::nullopt;
    inputs.push_back(fuzz::filled(fact.type, *shape, fuzz::Fill::small, choices));
  }
  return inputs;
}

}  // namespace

void fuzz_one(std::string_view input) {
  const ModelWithWeights given(input);
  Diagnostics diagnostics;
  const auto model = load(model_file(given.xml), {.weights = given.weights()}, diagnostics);
  if (!model || !model->complete) return;
  const auto facts = infer(*model, {}, diagnostics);
  const auto values = computed(*model);
  if (diagnostics.errors() > 0 || values.empty()) return;

  fuzz::Choices choices(input);
  for (int round = 0; round < 3; ++round) {
    tools::Cut cut{model.get(), {}, {}, {}};
    std::map<Place, bool> named;
    const auto take = [&](std::size_t most, auto add) {
      for (auto n = choices.below(most + 1); n-- > 0;)
        if (const auto v = choices.pick(values); named.emplace(place(v), true).second) add(v);
    };
    take(2, [&](ValueRef v) { cut.outputs.push_back(v); });
    if (cut.outputs.empty()) continue;
    named.clear();
    take(3, [&](ValueRef v) { cut.inputs.push_back(v); });

    Keep keep;
    bool ran = false;
    const auto given = made_up(*model, facts, choices);
    if (given && repeats(*model)) try {
        compile(model, facts, as_declared()).run(*given, &keep);
        ran = true;
      } catch (const Failure&) {  // the whole does not take these values
      }
    if (ran)
      take(2, [&](ValueRef v) {
        const auto value = keep.values.find(place(v));
        if (value != keep.values.end() && value->second) cut.frozen.emplace_back(v, value->second);
      });

    const auto part = tools::extract(*model, facts, cut);
    Diagnostics of_part;
    const auto sub = tools::load(part, "part.xml", of_part);
    promise(sub != nullptr, "a part of a model is a model");
    const auto part_facts = infer(*sub, {}, of_part);
    if (of_part.errors() > 0) {
      for (const auto& d : of_part.all())
        if (d.severity == Severity::error)
          broken(fmt::format("a part of a sound model is sound: {}\n{}", d.message, part.xml));
    }
    if (!ran) continue;

    std::vector<Tensor> inputs;
    bool all = true;
    const auto feed = [&](ValueRef v) {
      const auto value = keep.values.find(place(v));
      all = all && value != keep.values.end();
      inputs.push_back(all ? value->second : Tensor());
    };
    for (const auto& v : cut.inputs)
      if (std::none_of(part.unreached.begin(), part.unreached.end(), [&](ValueRef u) { return place(u) == place(v); }))
        feed(v);
    for (const auto node : part.parameters) feed({node, 0});
    if (!all) continue;
    promise(inputs.size() == sub->parameters.size(), "the part has the inputs that it says");
    auto results = compile(sub, part_facts, as_declared()).run(inputs);
    // By the names of the layers that compute them, where they tell them apart.
    for (std::size_t k = 0; k < results.size(); ++k) {
      const auto from = (*sub)[sub->results[k]].inputs.at(0);
      const auto& name = (*sub)[from.node].layer->name;
      std::vector<int> same;
      for (int i = 0; i < std::ssize(model->nodes); ++i)
        if ((*model)[i].layer->name == name) same.push_back(i);
      if (same.size() != 1) continue;
      const auto value = keep.values.find({same[0], from.port});
      if (value == keep.values.end()) continue;
      const auto wrong = fuzz::difference(convert(value->second, results[k].type()), results[k], true);
      if (!wrong.empty())
        broken(fmt::format("a part gives what the whole computes: {} of \"{}\"\n{}", wrong, name, part.xml));
    }
  }
}
