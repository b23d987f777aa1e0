// explain: what a diagnostic code means.
#include "base/text.hpp"
#include "commands/commands.hpp"
#include "render/json.hpp"

namespace ovir::app {
namespace {

Json as_json(const CodeInfo& i) {
  return {{"code", to_string(i.code)},
          {"severity", severity(i.code) == Severity::warning ? "warning" : "error"},
          {"exit_status", i.exit_status},
          {"title", i.title},
          {"cause", i.cause},
          {"example", i.example},
          {"fix", i.fix}};
}

/// Words in lines of at most 100 columns.
std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  for (const auto word : split(text, ' ')) {
    if (column > 0 && column + 1 + word.size() > 100) {
      out += "\n";
      column = 0;
    }
    if (column > 0) out += " ", ++column;
    out += word;
    column += word.size();
  }
  return out;
}

std::string indented(std::string_view text) {
  std::string out;
  for (const auto line : split(text, '\n')) out += fmt::format("    {}\n", line);
  return out;
}

std::string page(const CodeInfo& i, const Style& style) {
  const bool warning = severity(i.code) == Severity::warning;
  auto out = fmt::format("{}: {}\n\n{}\n", style(warning ? Paint::warning : Paint::error, to_string(i.code)),
                         style(Paint::bold, i.title), wrapped(i.cause));
  if (!i.example.empty()) out += fmt::format("\n{}\n{}", style(Paint::bold, "Example"), indented(i.example));
  out += fmt::format("\n{}\n{}\n", style(Paint::bold, "What to do"), wrapped(i.fix));
  return out += fmt::format("\nExit code {}{}.\n", i.exit_status,
                            warning ? ", where --deny or --strict makes an error of it" : "");
}

}  // namespace

int explain(const ExplainOptions& options, const Common& common) {
  const bool json = options.format == "json";
  if (options.code.empty()) {
    Json list = Json::array();
    std::string text;
    for (const auto& i : all_codes()) {
      if (json) list.push_back(as_json(i));
      else text += fmt::format("{}  {}\n", to_string(i.code), i.title);
    }
    if (json) print(json_text({{"schema", 1}, {"codes", std::move(list)}}, 3));
    else print(text);
    return kOk;
  }
  const auto code = parse_code(trim(options.code));
  if (!code) throw UsageError(fmt::format("there is no code '{}'; `ovir explain` lists them", printable(options.code)));
  const auto& i = ovir::info(*code);
  if (json) print(json_text({{"schema", 1}, {"codes", Json::array({as_json(i)})}}, 3));
  else print(page(i, common.out));
  return kOk;
}

}  // namespace ovir::app
