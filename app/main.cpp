// The command line: finds the command, has its flags parsed, runs it; every way out has its exit code.
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <vector>

#include "base/memory_budget.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "completion.hpp"
#include "diag/over_memory.hpp"
#include "fast/isa/table.hpp"
#include "limits.hpp"
#include "log.hpp"
#include "render/diagnostics.hpp"
#include "render/help.hpp"
#include "render/man.hpp"
#include "signals.hpp"

namespace ovir::app {
namespace {

/// The command that `words` begin with.
const Command& find_command(const std::vector<std::string>& words) {
  const auto& word = words.front();
  std::vector<std::string_view> names;
  for (const auto* command : commands::all()) {
    if (command->name == word) return *command;
    names.push_back(command->name);
  }
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored)) {
    const bool behind = words.size() > 1 && std::find(names.begin(), names.end(), words[1]) != names.end();
    throw UsageError(fmt::format("'{}' is a file, not a command; {}: ovir {} {}", printable(word),
                                 behind ? "the command comes first" : "to look at it", behind ? words[1] : "info",
                                 shell_word(word)));
  }
  auto near = nearest(word, names);
  constexpr std::size_t kStem = 4;  // "benchmark", "prof"
  for (const auto name : names)
    if (!near && word.size() >= kStem && (name.starts_with(word) || word.starts_with(name))) near = name;
  throw UsageError(fmt::format("unknown command '{}'; {}", printable(word),
                               near ? fmt::format("did you mean '{}'?", *near) : "'ovir help' lists the commands"));
}

/// OVIR_ISA: the instruction set of the fast tier's loops, where it is not to be the machine's best.
void choose_instruction_set() {
  const char* const set = std::getenv("OVIR_ISA");
  if (!set) return;
  const std::string_view wish = set;
  auto level = fast::Isa::best;
  if (wish == "baseline") level = fast::Isa::baseline;
  else if (wish == "avx2") level = fast::Isa::avx2;
  else if (wish == "avx512") level = fast::Isa::avx512;
  else if (wish == "amx") level = fast::Isa::amx;
  else throw UsageError(fmt::format("OVIR_ISA: expected baseline, avx2, avx512 or amx, not '{}'", printable(wish)));
  if (!fast::force_isa(level)) throw UsageError(fmt::format("OVIR_ISA: this machine cannot run {}", wish));
}

/// `words`: the command's name and its arguments.
int run_command(const Command& command, const std::vector<std::string>& words, Common& common) {
  Flags flags;
  const auto action = command.declare(flags);
  flags.common(common);
  bool run = false;
  try {
    run = flags.parse({words.begin() + 1, words.end()});
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}\nFor more information, run 'ovir help {}'.", error.what(), command.name));
  }
  if (!run) {
    print(help_page(command, flags, style_of(STDOUT_FILENO, common.color, 80)));
    return kOk;
  }
  common.subject = flags.subject();
  common.json = flags.json();
  common.out = style_of(STDOUT_FILENO, common.color);
  common.err = style_of(STDERR_FILENO, common.color);
  // The log is appended to a file, which must not be the model.
  for (const auto& word : words)
    if (!common.log_file.empty() && (word.ends_with(".xml") || word.ends_with(".bin")))
      keep_model(word, {}, "--log-file", common.log_file);
  start_log(common.log_level, common.verbose, common.log_file);
  choose_instruction_set();
  common.budget = parse_limits(common.limits);
  log_info("ovir {} {}", version(), command.name);
  if (common.budget.time) end_after(*common.budget.time);
  const MemoryBudget::Scope budget(
      std::make_shared<MemoryBudget>(common.budget.memory > 0 ? common.budget.memory : memory_for(bytes_given(words))));
  common.words = words;
  return action(common);
}

/// The manual page of a command, or of ovir itself: hidden, for the build.
int print_manual(const std::string& name) {
  if (name.empty()) {
    print(man_overview());
    return kOk;
  }
  const std::vector<std::string> names{name};
  const auto& command = find_command(names);
  Flags flags;
  Common common;
  command.declare(flags);
  flags.common(common);
  print(man_page(command, flags));
  return kOk;
}

/// `ovir run --help --color never` for `ovir help run --color never`.
std::vector<std::string> words_of_help(std::vector<std::string> words) {
  if (words.size() > 2 && !words[2].starts_with('-'))
    throw UsageError(fmt::format("unexpected argument '{}'; 'ovir help' takes one command", printable(words[2])));
  words[0] = std::exchange(words[1], "--help");
  return words;
}

int dispatch(std::vector<std::string> words, Common& common) {
  if (words.empty()) {
    to_stderr(help_overview(style_of(STDERR_FILENO, common.color, 80)));
    return kUsage;
  }
  const auto first = words.front();
  if (first == "--version" || first == "version" || (words.size() == 2 && words[1] == "--version")) {
    print(fmt::format("ovir {}\n", version()));
    return kOk;
  }
  const auto asks = [](std::string_view word) { return word == "-h" || word == "--help" || word == "help"; };
  const bool help = asks(first);
  if (help && (words.size() == 1 || asks(words[1]))) {
    print(help_overview(style_of(STDOUT_FILENO, common.color, 80)));
    return kOk;
  }
  if (first == "__complete") return complete({words.begin() + 1, words.end()});
  if (help && words[1] == "--man") return print_manual(words.size() > 2 ? words[2] : "");
  if (help) words = words_of_help(std::move(words));
  if (words.front().starts_with('-')) {
    if (const auto near = nearest(first, {"--version", "--help"}))
      throw UsageError(fmt::format("unknown option '{}'; did you mean '{}'?", printable(first), *near));
    throw UsageError(fmt::format("expected a command before '{}'; 'ovir help' lists them", printable(first)));
  }
  return run_command(find_command(words), words, common);
}

/// With --format json, says on stdout as well why there is no result.
void print_refusal(const Diagnostics& found, const std::string& model, const Common& common) {
  if (!common.json) return;
  try {
    print(json(ModelReport{found, {model, 0}}));
  } catch (const Failure&) {  // stdout is closed: stderr has said it all
  }
}

int refuse(const Diagnostic& diagnostic, const Common& common) {
  Places places("");
  to_stderr(human(diagnostic, places, common.err));
  if (diagnostic.code == Code::E0004)
    to_stderr(fmt::format("{} --limits work=none runs it anyway; --limits time=60s runs it for at most a minute\n",
                          common.err(Paint::note, "note:")));
  Diagnostics found;
  found.add(diagnostic);
  print_refusal(found, common.subject, common);
  return ovir::info(diagnostic.code).exit_status;
}

int guarded(std::vector<std::string> words) {
  Common common;
  common.err = style_of(STDERR_FILENO, "auto");
  const auto line = [&](std::string_view text) {
    to_stderr(fmt::format("{} {}\n", common.err(Paint::error, "error:"), text));
  };
  try {
    return dispatch(std::move(words), common);
  } catch (const UsageError& error) {
    line(error.what());
    return kUsage;
  } catch (const Refused& refused) {
    const auto status = report(refused.diagnostics, refused.model, common);
    print_refusal(refused.diagnostics, refused.model, common);
    return status;
  } catch (const Failure& failure) {
    return refuse(failure.diagnostic, common);
  } catch (const OverBudget& over) {
    return refuse(
        over_memory(fmt::format("no memory: all tensors together may take {}", size_text(over.limit))).diagnostic,
        common);
  } catch (const std::bad_alloc&) {
    return refuse(diagnose(Code::E0003, "out of memory"), common);
  } catch (const std::exception& error) {
    line(fmt::format("internal: {}. This is a fault in ovir; please report it.", error.what()));
  } catch (...) {
    line("internal: unknown. This is a fault in ovir; please report it.");
  }
  return kInternal;
}

}  // namespace
}  // namespace ovir::app

int main(int argc, char** argv) {
  // For the module of oneDNN's: its threads must not spin for a core that another process has.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  ovir::app::handle_signals();
  return ovir::app::guarded({argv + std::min(argc, 1), argv + argc});
}
