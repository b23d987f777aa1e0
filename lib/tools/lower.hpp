// Layers that an older release of OpenVINO does not read, and older versions of their operations that compute the same.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"
#include "model/model.hpp"
#include "tensor/tensor.hpp"

namespace ovir::tools {

/// E0606 for each layer that `release` does not read, with the versions to try as remedies.
void check_release(const Model& model, std::string_view release, Diagnostics& diagnostics);

/// Changes of the layer after which `release` reads it and the result is the same, by the specifications; none where
/// there is no such version.
std::vector<Remedy> lowered(const Model& model, const Node& node, std::string_view release);

/// The first output in which the two models differ when both run on `inputs` with the reference kernels, bit by bit;
/// nothing where there is none. Throws Failure where one of them fails.
std::optional<std::string> differing_output(const std::shared_ptr<const Model>& a,
                                            const std::shared_ptr<const Model>& b, std::span<const Tensor> inputs);

}  // namespace ovir::tools
