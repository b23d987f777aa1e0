// Models that a test writes itself, layer by layer.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "harness/graph_text.hpp"
#include "harness/memory_file.hpp"
#include "ovir.hpp"

struct Checked {
  std::shared_ptr<const ovir::Model> model;
  ovir::Facts facts;
  ovir::Diagnostics diagnostics;

  /// What was inferred of output 0 of the layer of that name.
  ovir::Fact fact(const std::string& name) const {
    for (std::size_t i = 0; i < model->nodes.size(); ++i)
      if (model->nodes[i].layer->name == name) return facts.outputs.at(i).at(0);
    throw std::out_of_range("there is no layer " + name);
  }
};

inline Checked check_model(const std::string& path, const ovir::xml::ReadOptions& reading = {},
                           const ovir::passes::InferOptions& options = {}) {
  Checked c;
  c.model = ovir::load(path, reading, c.diagnostics);
  if (c.model) c.facts = ovir::infer(*c.model, options, c.diagnostics);
  return c;
}

struct SmallModel {
  std::string bin = std::string(64, '\0');
  ovir::spec::GraphText graph{bin};

  Checked check(const ovir::passes::InferOptions& options = {}) const {
    const MemoryFile xml(graph.xml()), weights(bin);
    return check_model(xml.path(), {.weights = weights.path()}, options);
  }
};

inline ovir::Tensor floats(ovir::Shape shape, const std::vector<float>& values) {
  return ovir::Tensor::of<float>(ovir::ElementType::f32, std::move(shape), values);
}

/// A value for every Parameter: small numbers that differ.
inline std::vector<ovir::Tensor> some_inputs(const Checked& c, int seed = 0) {
  std::vector<ovir::Tensor> inputs;
  for (const auto node : c.model->parameters) {
    const auto& fact = c.facts.outputs[static_cast<std::size_t>(node)][0];
    const auto shape = fact.shape.to_shape();
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(seed) * 13) % 97) / 97.0F - 0.4F;
    inputs.push_back(ovir::convert(floats(shape, values), fact.type));
  }
  return inputs;
}

inline bool same_bits(const std::vector<ovir::Tensor>& a, const std::vector<ovir::Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k].type() != b[k].type() || a[k].shape() != b[k].shape() ||
        !std::equal(a[k].bytes(), a[k].bytes() + a[k].byte_size(), b[k].bytes()))
      return false;
  return true;
}
