#include "render/help.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/text.hpp"

namespace ovir::app {
namespace {

constexpr std::size_t kColumn = 26, kWidth = 100;

/// Two columns; what is too long for the first has a line of its own, and the second is wrapped.
std::string entry(std::string_view left, std::string_view right) {
  std::string out = fmt::format("  {:<{}}", left, kColumn - 2);
  std::size_t column = out.size();
  if (column > kColumn) {
    out += "\n" + std::string(kColumn, ' ');
    column = kColumn;
  }
  for (const auto word : split(right, ' ')) {
    if (column > kColumn && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(kColumn, ' ');
      column = kColumn;
    }
    if (column > kColumn) out += " ", ++column;
    out += word;
    column += word.size();
  }
  return out + "\n";
}

/// "-w, --weights FILE"
std::string spelling(const CLI::Option& option) {
  std::string out;
  for (const auto& name : option.get_snames()) out += (out.empty() ? "-" : ", -") + name;
  for (const auto& name : option.get_lnames()) out += (out.empty() ? "--" : ", --") + name;
  const auto type = option.get_type_name();
  if (option.get_items_expected_max() > 0) out += " " + type.substr(0, type.find(':'));
  return out;
}

std::string about(const CLI::Option& option) {
  auto text = option.get_description();
  if (!option.get_envname().empty()) text += fmt::format(" [{}]", option.get_envname());
  return text;
}

}  // namespace

std::string HelpPage::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const auto* const parent = app->get_parent();
  const auto commands = app->get_subcommands([](const CLI::App*) { return true; });
  std::string positionals, usage, out;
  std::vector<std::string> groups;
  for (const auto* option : app->get_options()) {
    if (option->get_positional()) {
      const auto& name = option->get_name(true);
      positionals += entry(name, option->get_description());
      usage += option->get_required() ? " " + name : fmt::format(" [{}]", name);
    } else if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end()) {
      groups.push_back(option->get_group());
    }
  }
  out +=
      fmt::format("{}\n\nUsage: {}{}{}{} [options]\n", app->get_description(), parent ? parent->get_name() + " " : "",
                  app->get_name(), commands.empty() ? "" : " COMMAND", usage);
  if (!positionals.empty()) out += "\n" + positionals;
  if (!commands.empty()) out += "\nCommands:\n";
  for (const auto* command : commands) out += entry(command->get_name(), command->get_description());
  // The options of a command, then those that every command has.
  std::stable_partition(groups.begin(), groups.end(), [](const std::string& g) { return g != "Common"; });
  for (const auto& group : groups) {
    out += fmt::format("\n{}:\n", group);
    for (const auto* option : app->get_options())
      if (!option->get_positional() && option->get_group() == group) out += entry(spelling(*option), about(*option));
  }
  if (!commands.empty()) out += "\n`ovir COMMAND --help` tells more of a command.\n";
  return out;
}

}  // namespace ovir::app
