// Holding the library against a folder of the corpus: a value case or a real model, inferred shapes, a faulty model.
#pragma once
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "ovir.hpp"

namespace ovir::conformance {

struct Options {
  Tier tier = Tier::reference;
};

struct Verdict {
  std::string why;           ///< empty: passed
  std::size_t compared = 0;  ///< outputs that were held against an expected value or shape; models that were refused
  std::string found = {};    ///< of a faulty model: code and layer of every error, see negative.tsv
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
  Diagnostics diagnostics;
};
nlohmann::json read_json(const std::filesystem::path& path);
Loaded load_case(const std::filesystem::path& folder);
std::string first_error(const Diagnostics& diagnostics);
/// The element type and shape that a layer gives at `port`; a Result and an Assign say what they receive.
Fact inferred_fact(const Loaded& loaded, int node, std::size_t port);

}  // namespace ovir::conformance
