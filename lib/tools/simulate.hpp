// Simulated precision: outputs of some layers rounded to a narrower type, and what that does to the model's outputs.
#pragma once
#include <map>
#include <string_view>
#include <vector>

#include "ovir.hpp"
#include "tools/select.hpp"

namespace ovir::tools {

/// A layer whose outputs are rounded.
struct Rounded {
  const Model* model = nullptr;
  int node = -1;
  ElementType type = ElementType::dynamic;
};

/// "type:MatMul=bf16,*/ffn/*=f16": selectors, each with a float type; of several for one layer the last counts. Layers
/// that compute floats only; in topological order. Throws SelectorError, also for a type that is none.
std::vector<Rounded> parse_roundings(const Model& model, const Facts& facts, std::string_view text);

/// Rounds while a run goes on. The session must be compiled with trap_options.
class RoundingObserver final : public Observer {
 public:
  explicit RoundingObserver(const std::vector<Rounded>& layers);
  bool wants(const Model& model, int node) override { return types_.contains(&model[node]); }
  Verdict after(Event& event) override;

 private:
  std::map<const Node*, ElementType> types_;
};

/// What rounding does to the model's outputs.
struct Damage {
  double relative =
      0;  ///< ‖changed - exact‖ / ‖exact‖ of the output that suffers most; infinite for new NaN or infinities
  double max_abs = 0;  ///< over all outputs
};
Damage damage(const std::vector<Tensor>& exact, const std::vector<Tensor>& changed);

struct LayerDamage {
  Rounded layer;
  Damage damage;  ///< with this layer alone rounded
};
/// The layers by what each does alone, the worst first. Takes a run for each layer and one more.
std::vector<LayerDamage> rank_damage(std::shared_ptr<const Model> model, const Facts& facts, const Options& options,
                                     std::span<const Tensor> inputs, const std::vector<Rounded>& layers);

}  // namespace ovir::tools
