#include "render/man.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace ovir::app {
namespace {

/// Text as troff takes it: no requests, and hyphens that can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') out += "\\e";
    else if (text[i] == '-') out += "\\-";
    else out += text[i];
  }
  return out;
}

std::string title(std::string_view page) {
  std::string upper(page);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return fmt::format(".TH \"{}\" 1 \"\" \"ovir {}\" \"ovir\"\n", roff(upper), version());
}

std::string entry(std::string_view left, std::string_view right) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(left), roff(right));
}

std::string examples(std::string_view lines) { return fmt::format(".SH EXAMPLES\n.EX\n{}\n.EE\n", roff(lines)); }

}  // namespace

std::string man_overview() {
  auto out = title("ovir") +
             ".SH NAME\novir \\- check, run and inspect OpenVINO models\n"
             ".SH SYNOPSIS\n.B ovir\nCOMMAND MODEL.xml [options]\n"
             ".SH DESCRIPTION\nA model is an .xml file and, beside it, its weights in a .bin file.\n"
             ".SH COMMANDS\n";
  for (const auto* command : commands::all()) out += entry(command->name, command->summary);
  out += ".SH SEE ALSO\n";
  const auto all = commands::all();
  for (const auto* command : all)
    out += fmt::format(".BR ovir\\-{} (1){}\n", command->name, command == all.back() ? "" : ",");
  return out;
}

std::string man_page(const Command& command, const Flags& flags) {
  const auto page = fmt::format("ovir-{}", command.name);
  const auto entries = flags.entries();
  std::string usage, arguments;
  std::vector<std::string> groups;
  for (const auto& flag : entries) {
    if (!flag.argument) {
      if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
      continue;
    }
    usage += flag.required ? " " + flag.names : fmt::format(" [{}]", flag.names);
    arguments += entry(flag.names, flag.about);
  }
  std::stable_partition(groups.begin(), groups.end(), [](const auto& group) { return group != "Common options"; });

  auto out = title(page) + fmt::format(".SH NAME\n{} \\- {}\n", roff(page), roff(command.summary)) +
             fmt::format(".SH SYNOPSIS\n.B ovir {}\n{} [options]\n", roff(command.name), roff(trim(usage)));
  if (!arguments.empty()) out += ".SH ARGUMENTS\n" + arguments;
  out += ".SH OPTIONS\n";
  for (const auto& group : groups) {
    if (group != groups.front()) out += fmt::format(".SS {}\n", roff(group));
    for (const auto& flag : entries)
      if (!flag.argument && flag.group == group) out += entry(flag.names, flag.about);
  }
  for (const auto& section : flags.sections())
    for (const auto line : split(section, '\n')) {
      const auto tab = line.find('\t');
      if (tab == line.npos) out += fmt::format(".SH \"{}\"\n", roff(line.substr(0, line.find(':'))));
      else out += entry(line.substr(0, tab), line.substr(tab + 1));
    }
  out += examples(command.examples) + ".SH EXIT STATUS\n" + entry("0", exit_meaning(0));
  for (const int code : command.exit_codes)
    if (code != 0) out += entry(std::to_string(code), exit_meaning(code));
  return out + ".SH SEE ALSO\n.BR ovir (1)\n";
}

}  // namespace ovir::app
