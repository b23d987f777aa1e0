// How diagnostics name layers, facts and shapes, and how a layer's fault gets its place.
#pragma once
#include <string>
#include <utility>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"

namespace ovir {

/// Reference to a layer for diagnostics.
LayerRef layer_ref(const Model&, const Layer&);
/// `layer 5 "relu1"`.
std::string describe(const Layer&);
/// `f32[1,?,8]`.
std::string describe(const Fact&);
/// "1,-1,64", as <dim>s have it.
std::string list_of(const PartialShape& shape);

/// Completes a diagnostic of `layer`: the layer, the id of its port, and the place: that of its attribute where one is
/// at fault, else the layer's tag. What is set already stays.
void locate(Diagnostic& d, const Model& model, const Layer& layer);
/// Adds a located diagnostic.
void report(Diagnostics& diagnostics, const Model& model, const Layer& layer, Diagnostic d);

/// Runs `f`; a Failure is reported at the layer. True where there was none.
template <class F>
bool attempt(Diagnostics& diagnostics, const Model& model, const Layer& layer, F&& f) {
  try {
    f();
    return true;
  } catch (Failure& failure) {
    report(diagnostics, model, layer, std::move(failure.diagnostic));
    return false;
  }
}

}  // namespace ovir
