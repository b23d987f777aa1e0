// A model's layers as `show` lists them.
#pragma once
#include <string>
#include <vector>

#include "ovir.hpp"
#include "render/style.hpp"
#include "tools/select.hpp"

namespace ovir::app {

/// What is shown: the selected nodes of a model, with what is known of their outputs (perhaps only what is declared).
struct GraphView {
  const Model& model;
  const Facts& facts;
  std::vector<tools::Selected> selected;
  std::string file;
};

std::string graph_text(const GraphView&, const Style&);
std::string graph_json(const GraphView&);
std::string graph_dot(const GraphView&);
std::string graph_mermaid(const GraphView&);
std::string graph_html(const GraphView&);

}  // namespace ovir::app
