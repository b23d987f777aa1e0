// Running what a .spec file says.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "op/op_def.hpp"
#include "spec.hpp"

namespace ovir::spec {

struct Tally {
  std::vector<std::string> failures;  ///< "file:line: …", one an item and version
  i64 items = 0, runs = 0;
};

/// A folder of its own for the models of one process, removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  /// Writes model.xml and model.bin; gives the path of the first.
  std::string write(const std::string& xml, const std::string& bin) const;

 private:
  std::filesystem::path folder_;
};

void run_file(const SpecFile& file, const Scratch& scratch, Tally& tally);

/// The operation versions of the registry that lack a value case, a partial shape or a reject: "Roll-7: no reject".
std::vector<std::string> uncovered(const std::vector<SpecFile>& files);

}  // namespace ovir::spec
