// Holding the library against a folder of the corpus: a value case or a real model, inferred shapes, a faulty model.
#pragma once
#include <filesystem>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "ovir.hpp"

namespace ovir::conformance {

struct Options {
  passes::Tier tier = passes::Tier::reference;
  std::set<std::string> excused;  ///< faulty models that the specification allows
};

struct Verdict {
  bool skipped = false;  ///< the build lacks an operation of the model
  std::string why;       ///< empty: passed
};

Verdict judge_values(const std::filesystem::path& folder, const Options& options);
Verdict judge_shapes(const std::filesystem::path& folder, const Options& options);
Verdict judge_negative(const std::filesystem::path& folder, const Options& options);

/// The file that marks a folder as a case of the kind "values" (also meta.json), "shapes" or "negative".
bool is_case(const std::filesystem::path& folder, std::string_view kind);

// --- what the judges share
struct Loaded {
  std::shared_ptr<const Model> model;
  Facts facts;
  Diagnostics said;
};
nlohmann::json read_json(const std::filesystem::path& path);
Loaded load_case(const std::filesystem::path& folder);
bool lacks_operation(const Diagnostics& said);
std::string first_error(const Diagnostics& said);
/// The element type and shape that a layer gives at `port`; a Result and an Assign say what they receive.
Fact said_of(const Loaded& loaded, int node, std::size_t port);

}  // namespace ovir::conformance
