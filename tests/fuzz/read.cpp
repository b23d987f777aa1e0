// Reading: every fault has a code and a place inside the file, and what was read points into it.
#include "xml/read.hpp"
#include "fuzz.hpp"
#include "scratch.hpp"

using namespace ovir;

namespace {

void check_place(const SourceLoc& at) {
  if (!at) return;
  promise(at.offset <= at.file->text.size(), "a place lies in its file");
  const auto [line, column] = line_column(at);
  promise(line >= 1 && column >= 1, "lines and columns begin at 1");
}

void check_graph(const Graph& graph) {
  const auto begins_with = [&](const SourceLoc& at, std::string_view tag) {
    return graph.source->text.substr(at.offset).starts_with(tag);
  };
  for (const auto& layer : graph.layers) {
    const bool of_means = begins_with(layer.at, "<pre-process");  // subtracts them, with all its ports
    promise(of_means || begins_with(layer.at, "<layer"), "a layer's place is its tag");
    promise(layer.id >= 0 || (layer.damaged && graph.damaged), "a layer without a readable id is marked");
    for (const auto& attribute : layer.attributes) check_place(attribute.at);
    for (const auto* ports : {&layer.inputs, &layer.outputs})
      for (const auto& port : *ports)
        promise(begins_with(port.at, of_means ? "<pre-process" : "<port"), "a port's place is its tag");
    for (const auto& body : layer.bodies) check_graph(*body.graph);
  }
}

}  // namespace

void fuzz_one(std::string_view input) {
  Diagnostics diagnostics;
  const auto graph = xml::read(model_file(input), {.weights = weights_file()}, diagnostics);
  promise(graph != nullptr || diagnostics.errors() > 0, "a model that is refused has an error");
  for (const auto& d : diagnostics.all()) {
    promise(!d.message.empty() && info(d.code).code == d.code, "a diagnostic has a message and a code");
    check_place(d.at);
    for (const auto& note : d.notes) check_place(note.at);
  }
  if (graph) check_graph(*graph);
}
