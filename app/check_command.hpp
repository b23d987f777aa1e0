// A command of the user's that judges a model: reduce --check.
#pragma once
#include <optional>
#include <string>

#include "base/staged_files.hpp"
#include "tools/extract.hpp"

namespace ovir::app {

class CheckCommand {
 public:
  /// `{model}` in the command stands for the path of the .xml. Throws UsageError where it is missing, and Failure
  /// (E0002) where there is no place for temporary files.
  explicit CheckCommand(std::string command);

  /// The exit code for a model: 128 and more where a signal ended the command. Throws Failure (E0002) where the model
  /// cannot be written or the command cannot be started.
  int status_of(const std::string& model_path) const;
  int status_of(const tools::SubModel& model) const;

 private:
  std::string command_;
  std::optional<TemporaryFolder> folder_;
};

}  // namespace ovir::app
