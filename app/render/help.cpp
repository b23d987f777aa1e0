#include "render/help.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace ovir::app {
namespace {

std::size_t width_of(const Style& style) { return std::clamp(style.width, 40, 100); }

/// Where descriptions begin.
std::size_t column_of(const Style& style) { return width_of(style) < 60 ? 6 : 24; }

/// Two columns; what is too long for the first has a line of its own.
std::string entry(std::string_view left, std::string_view right, const Style& style) {
  auto out = fmt::format("  {}", style(Paint::bold, left));
  const auto used = 2 + left.size();
  const auto column = column_of(style);
  out += used + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - used, ' ');
  return out + wrapped(right, width_of(style), column) + "\n";
}

/// Headings in the order in which the flags come, those that every command has last.
std::vector<std::string> groups_of(const std::vector<Flags::Entry>& flags) {
  std::vector<std::string> groups;
  for (const auto& flag : flags)
    if (!flag.argument && std::find(groups.begin(), groups.end(), flag.group) == groups.end())
      groups.push_back(flag.group);
  std::stable_partition(groups.begin(), groups.end(), [](const auto& group) { return group != "Common options"; });
  return groups;
}

std::string exit_codes(const Command& command, const Style& style) {
  auto out = style(Paint::bold, "Exit codes:") + fmt::format("\n  0   {}\n", exit_meaning(0));
  for (const int code : command.exit_codes)
    if (code != 0) out += fmt::format("  {:<3} {}\n", code, wrapped(exit_meaning(code), width_of(style), 6));
  return out;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const auto word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string help_overview(const Style& style) {
  constexpr std::pair<CommandGroup, std::string_view> groups[] = {{CommandGroup::inspect, "Look at a model:"},
                                                                  {CommandGroup::check, "Check and change it:"},
                                                                  {CommandGroup::run, "Run it:"},
                                                                  {CommandGroup::reference, "Reference:"}};
  const auto heading = [&](std::string_view text) { return style(Paint::bold, text); };
  auto out = fmt::format("{}\n\n{} ovir COMMAND MODEL.xml [options]\n",
                         wrapped("Checks, runs and inspects OpenVINO models (.xml + .bin).", width_of(style), 0),
                         heading("Usage:"));
  for (const auto& [group, title] : groups) {
    out += "\n" + heading(title) + "\n";
    for (const auto* command : commands::all())
      if (command->group == group) out += entry(command->name, command->summary, style);
  }
  out += "\n" + heading("Options:") + "\n" + entry("-h, --help", "show this page", style) +
         entry("--version", "show ovir's version", style);
  return fmt::format(
      "{}\n{}\n", out,
      wrapped("Run 'ovir help COMMAND' for the options of a command, with examples.", width_of(style), 0));
}

std::string help_page(const Command& command, const Flags& flags, const Style& style) {
  const auto heading = [&](std::string_view text) { return style(Paint::bold, text); };
  const auto entries = flags.entries();
  std::string arguments, usage;
  for (const auto& flag : entries) {
    if (!flag.argument) continue;
    arguments += entry(flag.names, flag.about, style);
    usage += flag.required ? " " + flag.names : fmt::format(" [{}]", flag.names);
  }
  auto out = fmt::format("{}\n\n{} ovir {}{} [options]\n",
                         wrapped(fmt::format("ovir {}: {}", command.name, command.summary), width_of(style)),
                         heading("Usage:"), command.name, usage);
  if (!arguments.empty()) out += "\n" + arguments;
  for (const auto& group : groups_of(entries)) {
    out += "\n" + heading(group + ":") + "\n";
    for (const auto& flag : entries)
      if (!flag.argument && flag.group == group) out += entry(flag.names, flag.about, style);
  }
  for (const auto& section : flags.sections())
    for (const auto line : split(section, '\n')) {
      const auto tab = line.find('\t');
      out += tab == line.npos ? "\n" + heading(line) + "\n" : entry(line.substr(0, tab), line.substr(tab + 1), style);
    }
  out += "\n" + heading("Examples:") + "\n";
  for (const auto line : split(command.examples, '\n')) out += fmt::format("  {}\n", line);
  return out + "\n" + exit_codes(command, style);
}

}  // namespace ovir::app
