// A command: what help says about it, how it declares its flags, what it does. commands/<name>.cpp defines
// ovir::app::commands::<name>::command, and the build makes the list of all commands from the files that are there.
#pragma once
#include <array>
#include <functional>
#include <span>
#include <string_view>

#include "flags.hpp"

namespace ovir::app {

/// What is left to do once the flags are parsed; returns the exit code.
using Action = std::function<int(const Common&)>;

/// The headings of `ovir --help`, in order.
enum class CommandGroup { inspect, check, run, reference };

struct Command {
  std::string_view name;
  CommandGroup group;
  std::string_view summary;         ///< one line for the list of commands: "check a model without running it"
  std::string_view examples;        ///< command lines, one a line
  std::array<int, 7> exit_codes;    ///< other than 0, which comes first; unused places at the end are 0
  Action (*declare)(Flags& flags);  ///< declares the command's flags; the action reads what was parsed
};

namespace commands {
/// All commands, in alphabetical order.
std::span<const Command* const> all();
}  // namespace commands

}  // namespace ovir::app
