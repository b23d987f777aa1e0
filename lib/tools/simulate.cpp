#include "tools/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "base/text.hpp"
#include "tools/cut.hpp"
#include "tools/traps.hpp"

namespace ovir::tools {
namespace {

/// Layers that compute floats; not those whose output is their input's bytes.
bool can_round(const Model& whole, const Facts& facts, const Selected& s) {
  const auto& node = (*s.model)[s.node];
  if (node.op->kind != Kind::compute || node.version->view || !node.bodies.empty()) return false;
  const auto* const known = facts_of(whole, facts, *s.model);
  if (!known) return true;
  const auto& outputs = known->outputs[s.node];
  return std::any_of(outputs.begin(), outputs.end(), [](const Fact& f) { return is_float(f.type); });
}

}  // namespace

std::vector<Rounded> parse_roundings(const Model& model, const Facts& facts, std::string_view text) {
  std::vector<Rounded> list;
  for (const auto part : split(text, ',')) {
    const auto word = trim(part);
    const auto equals = word.rfind('=');
    const auto type = equals == word.npos ? std::nullopt : parse_element_type(trim(word.substr(equals + 1)));
    if (!type || !is_float(*type))
      throw SelectorError(
          fmt::format("expected SELECTOR=TYPE with a float type such as bf16, not '{}'", printable(word)));
    bool any = false;
    for (const auto& s : select(model, word.substr(0, equals), Constants::spared)) {
      if (!can_round(model, facts, s)) continue;
      any = true;
      const auto same = [&](const Rounded& r) { return r.model == s.model && r.node == s.node; };
      list.erase(std::remove_if(list.begin(), list.end(), same), list.end());
      list.push_back({s.model, s.node, *type});
    }
    if (!any) throw SelectorError(fmt::format("'{}' selects no layer that computes floats", printable(word)));
  }
  return list;
}

RoundingObserver::RoundingObserver(const std::vector<Rounded>& layers) {
  for (const auto& layer : layers) types_.insert_or_assign(&(*layer.model)[layer.node], layer.type);
}

Verdict RoundingObserver::after(Event& event) {
  const auto type = types_.at(&event.node);
  for (auto& t : event.outputs)
    if (t && is_float(t.type())) t = convert(convert(t, type), t.type());
  return Verdict::go_on;
}

Damage damage(const std::vector<Tensor>& exact, const std::vector<Tensor>& changed) {
  Damage worst;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    if (exact[k].type() == ElementType::string) continue;
    if (exact[k].shape() != changed[k].shape()) return {std::numeric_limits<double>::infinity(), 0};
    const auto a = to_f64(exact[k]), b = to_f64(changed[k]);
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) {
        if (std::isfinite(a[i])) norm += a[i] * a[i];
        continue;
      }
      const auto d = std::abs(a[i] - b[i]);
      if (!std::isfinite(d)) {
        worst.relative = std::numeric_limits<double>::infinity();
        continue;
      }
      difference += d * d;
      norm += a[i] * a[i];
      worst.max_abs = std::max(worst.max_abs, d);
    }
    if (difference > 0)
      worst.relative =
          std::max(worst.relative, norm > 0 ? std::sqrt(difference / norm) : std::numeric_limits<double>::infinity());
  }
  return worst;
}

std::vector<LayerDamage> rank_damage(std::shared_ptr<const Model> model, const Facts& facts, const Options& options,
                                     std::span<const Tensor> inputs, const std::vector<Rounded>& layers) {
  auto steady = trap_options(options);
  steady.expected_runs = std::ssize(layers) + 1;
  auto session = compile(std::move(model), facts, steady);
  const auto exact = session.run(inputs);
  std::vector<LayerDamage> list;
  for (const auto& layer : layers) {
    session.reset_states();
    RoundingObserver rounding({layer});
    list.push_back({layer, damage(exact, session.run(inputs, &rounding))});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const LayerDamage& a, const LayerDamage& b) { return a.damage.relative > b.damage.relative; });
  return list;
}

}  // namespace ovir::tools
