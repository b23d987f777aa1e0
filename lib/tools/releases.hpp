// Which releases of OpenVINO read a model. A release refuses a layer whose `version` names an operation set that it
// does not have, or that in it lacks the operation. (Whether a plugin then runs the model is another matter.)
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

/// The newest release that is known here.
inline constexpr std::string_view kNewestRelease = "2026.4";

/// Something in a model that a release must have to read it.
struct Demand {
  std::string_view release;  ///< the first that has it; kNoRelease: none
  std::string what;          ///< "STFT-15", "ReLU of opset8" (where an older set holds the same), "nf4", "IR 11"
  const Model* model = nullptr;
  const Node* node = nullptr;  ///< null: the file itself
};
inline constexpr std::string_view kNoRelease = "9999";  ///< after every release in the order of text
/// One or more for every layer that is no extension, bodies included.
std::vector<Demand> demands(const Model& model);

/// The release that has `type` in set `set`, or kNoRelease.
std::string_view release_of(std::string_view type, int set);
/// Whether a release of this name ("2023.3") is known here.
bool is_release(std::string_view name);

struct Requirement {
  std::string what;
  std::size_t layers = 0;  ///< that ask for it; 0: the file does
};

struct MinimumRelease {
  std::string_view release;              ///< "2024.5"; empty: no known release reads the model
  std::vector<Requirement> required_by;  ///< what older releases do not read; empty where any reads it
  std::vector<std::string> extensions;   ///< operation types that no release has: somebody's library must be loaded
};
MinimumRelease minimum_release(const Model& model);

/// "read by OpenVINO 2024.5 and later (for STFT-15 in 2 layers), with an extension for FooBar"
std::string to_string(const MinimumRelease& minimum);

}  // namespace ovir::tools
