// What every command gets: the common options as parsed, and the way to write its result.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "limits.hpp"
#include "ovir.hpp"
#include "render/style.hpp"
#include "tools/select.hpp"

namespace ovir::app {

// The exit codes that no Diagnostic has.
inline constexpr int kOk = 0, kDiffers = 1, kUsage = 2, kLimit = 7, kInternal = 70, kSignaled = 128;
/// What an exit code means, for help pages.
std::string_view exit_meaning(int code);

/// Options of every command.
struct Common {
  std::string color = "auto", log_level, log_file;
  std::string limits;  ///< as given
  Limits budget;
  int verbose = 0;
  bool quiet = false;
  std::vector<std::string> words;  ///< the command line: the command's name and its arguments
  std::string subject;             ///< its first argument that is no option: the model's path, as a rule
  bool json = false;               ///< --format json
  Style out, err;                  ///< how stdout and stderr are written to, from `color` and what they are
};

/// The model and where its weights are: options of nearly every command.
struct ModelOptions {
  std::string model, weights;
  std::vector<std::string> shapes;  ///< -s/--shape
  std::string release;              ///< --for: the OpenVINO that must read the model; empty: any
  bool no_weights = false;
};
/// Throws UsageError where --for names a release that is not known.
void require_release(const ModelOptions& options);

/// A wrong flag, selector or shape text: exit 2.
struct UsageError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// A model that the command cannot work with, for what was found in it.
struct Refused : std::runtime_error {
  Refused(Diagnostics d, std::string path)
      : runtime_error("the model was refused"), diagnostics(std::move(d)), model(std::move(path)) {}
  Diagnostics diagnostics;
  std::string model;  ///< its path, as given
};

/// A word of a shell's command line, in quotes where it needs them.
std::string shell_word(const std::string& word);

/// Throws UsageError where `path`, which `flag` names to be written, is the model itself: its .xml or its .bin.
void keep_model(const std::string& model, const std::string& weights, std::string_view flag, const std::string& path);

/// Throws Failure (E0002) where stdout is closed: before anything is done whose result could not be told.
void require_stdout();
/// Writes a command's result to stdout; throws Failure (E0002) where that cannot be done.
void print(std::string_view text);
/// Writes to stderr; what cannot be written there is lost.
void to_stderr(std::string_view text);

/// Ends the process without freeing what the command holds: the system takes all of it back at once in less time, which
/// counts in a single run of a small model. print() leaves nothing behind that were still to be written. A build that
/// checks how memory is used returns `status` instead.
int leave(int status);

/// The exit code of a command that found these faults: 3 goes before 4, and 4 before the others.
int exit_status(const Diagnostics&);
/// Writes the errors to stderr, and how many warnings there are; gives the exit code.
int report(const Diagnostics&, const std::string& model_path, const Common&);

/// A model that was loaded and inferred without a fault.
struct Loaded {
  std::shared_ptr<const Model> model;
  Facts facts;
};
/// Reports warnings; throws Refused where there are errors.
Loaded load_model(const ModelOptions&, const Common&);
/// The shapes of -s, by Parameter. Throws UsageError.
passes::InferOptions infer_options(const ModelOptions&, const Model&);

/// Writes a note to stderr, unless --quiet.
void note(const Common&, std::string_view text);
/// Notes what 'ovir check' says more of: "3 warnings". `flags`: more of its words.
void note_details(const Common&, std::string_view what, const std::string& model_path, std::string_view flags = {});
/// What `selector`, the text of `flag`, means; a name that several layers share is noted. Throws UsageError where it is
/// faulty or selects nothing.
std::vector<tools::Selected> select_layers(const Common&, const Model&, std::string_view flag,
                                           std::string_view selector,
                                           tools::Constants constants = tools::Constants::selected,
                                           const Model* part = nullptr);

/// A flag's text about inputs: "a[1,3],b[?]" as {input, what stands in its brackets}; "[1,3]" alone where the model has
/// one input. Throws UsageError.
std::vector<std::pair<int, std::string>> per_input(std::string_view flag, const std::vector<std::string>& texts,
                                                   const Model&);

}  // namespace ovir::app
