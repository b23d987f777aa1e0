// Flags as commands declare them. CLI11 parses them; the error messages are ovir's own.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/int.hpp"
#include "cli.hpp"

namespace CLI {
class Option;
}

namespace ovir::app {

/// A declared flag, to add properties to.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}
  /// The environment variable that gives the value where the flag is not given.
  Flag env(const std::string& variable) const;
  /// The heading of the help page under which it is listed.
  Flag group(const std::string& heading) const;
  Flag required() const;

 private:
  CLI::Option* option_;
};

class Flags {
 public:
  Flags();
  ~Flags();

  /// MODEL: an argument without a flag.
  Flag argument(const std::string& name, std::string& to, const std::string& about);
  /// The same, one of `words`.
  Flag argument(const std::string& name, std::string& to, std::vector<std::string> words, const std::string& about);
  /// `--random`.
  Flag toggle(const std::string& names, bool& to, const std::string& about);
  /// `--labels FILE`; `names` may hold a short name: "-o,--output".
  Flag text(const std::string& names, std::string& to, const std::string& type, const std::string& about);
  /// The same, any number of times.
  Flag list(const std::string& names, std::vector<std::string>& to, const std::string& type, const std::string& about);
  /// One of `words`.
  Flag choice(const std::string& names, std::string& to, std::vector<std::string> words, const std::string& type,
              const std::string& about = {});
  /// `--select SELECTOR`; the help page then describes selectors.
  Flag selector(const std::string& names, std::string& to, const std::string& about);
  /// A whole number of at least `min`.
  Flag number(const std::string& names, i64& to, const std::string& type, const std::string& about, i64 min = 0);
  /// A number of at least 0, which may have decimals.
  Flag decimal(const std::string& names, double& to, const std::string& type, const std::string& about);
  /// A time, in seconds where it has no unit: "0.5", "500ms".
  Flag duration(const std::string& names, double& seconds, const std::string& type, const std::string& about);

  /// MODEL and -w/--weights.
  enum class Model { required, optional };
  void model(ModelOptions& options, Model presence = Model::required);
  /// MODEL..., files or folders, and -w/--weights for one.
  void models(std::vector<std::string>& paths, ModelOptions& options);
  /// -s/--shape.
  void shapes(ModelOptions& options);
  /// --format, `words` separated by blanks; the first is the default.
  void format(std::string& to, std::string_view words);
  /// The flags of every command.
  void common(Common& common);
  /// Empty values of this flag are left to who reads them; those of all others are refused.
  void may_be_empty(const std::string& name);
  /// Words that a shell offers for an argument or flag, which takes others as well.
  void offer(const std::string& name, std::vector<std::string> words);
  /// A further section of the help page: a heading, then lines of two columns with a tab between them.
  void section(std::string text) { sections_.push_back(std::move(text)); }

  /// The words after the command's name; false: help was asked for. Throws UsageError.
  bool parse(std::vector<std::string> words);
  /// What parse read: the first argument that is no option; empty where there is none.
  std::string subject() const;
  /// What parse read: --format json.
  bool json() const { return format_ && *format_ == "json"; }

  /// An argument or flag, as the help page and completion show it.
  struct Entry {
    std::string names;  ///< "-w, --weights FILE"
    std::string about, group;
    bool argument = false, required = false;
    std::vector<std::string> flags;  ///< "-w", "--weights"
    std::string type;                ///< of its value: "FILE"; empty: it takes none
    std::vector<std::string> words;  ///< that the value may be, where they are few
  };
  std::vector<Entry> entries() const;
  const std::vector<std::string>& sections() const { return sections_; }

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
  std::vector<std::string> sections_;
  const std::string* format_ = nullptr;
};

}  // namespace ovir::app
