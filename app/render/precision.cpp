#include "render/precision.hpp"

#include <cmath>

#include "base/text.hpp"
#include "render/columns.hpp"
#include "render/layer.hpp"

namespace ovir::app {
namespace {

std::string number(double v) { return fmt::format("{:.4g}", v); }
Json number_json(double v) { return std::isfinite(v) ? Json(v) : Json(fmt::format("{}", v)); }

std::string place(const Model& model, int node, int port) {
  auto text = printable(model.path + model[node].layer->name);
  return model[node].output_count > 1 ? fmt::format("{}.{}", text, port) : text;
}

/// "0.5 %" of the elements; nothing of none.
std::string share(i64 n, i64 of) {
  return n == 0 ? "" : fmt::format("{:.2g} %", 100.0 * static_cast<double>(n) / static_cast<double>(of));
}

}  // namespace

std::string ranges_text(const tools::RangeWatch& watch) {
  std::string text;
  for (std::size_t k = 0; k < watch.types().size(); ++k) {
    const auto& limits = tools::limits_of(watch.types()[k]);
    std::vector<std::vector<std::string>> rows{
        {std::string(name(limits.type)), "type", "largest", "least", "headroom", "too large", "subnormal", "to zero"}};
    for (const auto& r : watch.ranges()) {
      const auto& s = r.shares[k];
      rows.push_back({place(*r.model, r.node, r.port), (*r.model)[r.node].layer->type, number(r.largest),
                      number(r.smallest), number(r.headroom(limits)), share(s.too_large, r.count),
                      share(s.subnormal, r.count), share(s.to_zero, r.count)});
    }
    text += columns_text(rows, "llrrrrrr");
  }
  return text;
}

Json ranges_json(const tools::RangeWatch& watch) {
  Json list = Json::array();
  for (const auto& r : watch.ranges()) {
    Json entry{{"layer", layer_json(*r.model, (*r.model)[r.node])},
               {"port", r.port},
               {"count", r.count},
               {"largest", r.largest},
               {"least", r.smallest}};
    for (std::size_t k = 0; k < watch.types().size(); ++k) {
      const auto& limits = tools::limits_of(watch.types()[k]);
      entry[std::string(name(limits.type))] = {{"headroom", number_json(r.headroom(limits))},
                                               {"too_large", r.shares[k].too_large},
                                               {"subnormal", r.shares[k].subnormal},
                                               {"to_zero", r.shares[k].to_zero}};
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::string damage_text(const std::vector<tools::LayerDamage>& ranked, const tools::Damage& together) {
  std::vector<std::vector<std::string>> rows{{"rounded alone", "type", "to", "relative", "max abs"}};
  for (const auto& r : ranked)
    rows.push_back({printable(r.layer.model->path + (*r.layer.model)[r.layer.node].layer->name),
                    (*r.layer.model)[r.layer.node].layer->type, std::string(name(r.layer.type)),
                    number(r.damage.relative), number(r.damage.max_abs)});
  rows.push_back({"all of them", "", "", number(together.relative), number(together.max_abs)});
  return columns_text(rows, "lllrr");
}

Json damage_json(const std::vector<tools::LayerDamage>& ranked, const tools::Damage& together) {
  const auto damage = [](const tools::Damage& d) {
    return Json{{"relative", number_json(d.relative)}, {"max_abs", d.max_abs}};
  };
  Json json{{"together", damage(together)}, {"layers", Json::array()}};
  for (const auto& r : ranked) {
    Json entry{{"layer", layer_json(*r.layer.model, (*r.layer.model)[r.layer.node])}, {"to", name(r.layer.type)}};
    entry.update(damage(r.damage));
    json["layers"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace ovir::app
