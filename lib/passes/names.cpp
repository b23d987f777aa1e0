#include "passes/names.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "model/report.hpp"
#include "passes/connect.hpp"

namespace ovir::passes {

void warn_shared_names(const Model& model, Diagnostics& diagnostics) {
  std::unordered_map<std::string_view, const Layer*> first_of;
  std::vector<std::pair<const Layer*, const Layer*>> shared;
  for (const auto& layer : model.graph->layers) {
    if (layer.name.empty()) continue;
    const auto [first, fresh] = first_of.emplace(layer.name, &layer);
    if (!fresh) shared.emplace_back(first->second, &layer);
  }
  if (shared.empty()) return;
  constexpr std::size_t named = 8;
  const auto [first, second] = shared.front();
  auto d = diagnose(Code::W0906,
                    fmt::format("layer name \"{}\" is used twice, by layers {} and {}", printable(first->name),
                                first->id, second->id),
                    value_in_tag(second->at, "name"));
  d.notes.push_back({"the first layer of this name", first->at, "", ""});
  for (std::size_t i = 1; i < shared.size() && i <= named; ++i)
    d.notes.push_back({fmt::format("{} has the name of layer {}", describe(*shared[i].second), shared[i].first->id),
                       shared[i].second->at, "", ""});
  if (shared.size() > named + 1)
    d.notes.push_back(
        {fmt::format("{} more share their names with others", counted(shared.size() - named - 1, "layer")),
         {},
         "",
         ""});
  report(diagnostics, model, *second, std::move(d));
}

}  // namespace ovir::passes
