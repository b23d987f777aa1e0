// explain: what a diagnostic code means.
#include <algorithm>

#include "base/text.hpp"
#include "command.hpp"
#include "render/help.hpp"
#include "render/json.hpp"

namespace ovir::app::commands::explain {
namespace {

struct Options {
  std::string format = "human", code;
};

Json as_json(const CodeInfo& i) {
  return {{"code", to_string(i.code)},
          {"severity", to_string(severity(i.code))},
          {"exit_status", i.exit_status},
          {"title", i.title},
          {"cause", i.cause},
          {"example", i.example},
          {"fix", i.fix}};
}

std::string indented(std::string_view text) {
  std::string out;
  for (const auto line : split(text, '\n')) out += fmt::format("    {}\n", line);
  return out;
}

std::string page(const CodeInfo& i, const Style& style) {
  const auto level = severity(i.code);
  const auto paint = level == Severity::error     ? Paint::error
                     : level == Severity::warning ? Paint::warning
                                                  : Paint::note;
  auto out = fmt::format("{}: {}\n\n{}\n", style(paint, to_string(i.code)), style(Paint::bold, i.title),
                         wrapped(i.cause, 100));
  if (!i.example.empty()) out += fmt::format("\n{}\n{}", style(Paint::bold, "Example"), indented(i.example));
  out += fmt::format("\n{}\n{}\n", style(Paint::bold, "What to do"), wrapped(i.fix, 100));
  if (level == Severity::note) return out;
  return out += fmt::format("\nExit code {}{}.\n", i.exit_status,
                            level != Severity::warning ? ""
                            : i.code == Code::W0901    ? ", where --deny or --strict makes an error of it"
                                                       : ", where --deny makes an error of it");
}

/// The only code with these digits ("512", "W902"), or where to look.
std::string nearest_code(std::string_view word) {
  const auto digits = word.substr(std::min(word.find_first_of("123456789"), word.size()));
  std::vector<std::string> found;
  for (const auto& i : all_codes()) {
    const std::string code(to_string(i.code));
    const bool letter = (word.front() >= '0' && word.front() <= '9') || lower(word).front() == lower(code).front();
    if (!digits.empty() && letter && code.ends_with(digits)) found.push_back(code);
  }
  return found.size() == 1 ? fmt::format("did you mean '{}'?", found.front()) : "'ovir explain' lists the codes";
}

int explain(const Options& options, const Common& common) {
  const bool json = options.format == "json";
  const auto code = parse_code(trim(options.code));
  const auto begins = [&](const CodeInfo& i) {
    return lower(to_string(i.code)).starts_with(lower(trim(options.code)));
  };
  if (!code && std::ranges::count_if(all_codes(), begins) > 1) {
    Json list = Json::array();
    std::string text;
    for (const auto& i : all_codes()) {
      if (!begins(i)) continue;
      if (json) list.push_back(as_json(i));
      else text += fmt::format("{}  {}\n", to_string(i.code), i.title);
    }
    if (json) print(json_text({{"schema", 1}, {"codes", std::move(list)}}, 3));
    else print(text);
    return kOk;
  }
  if (!code)
    throw UsageError(fmt::format("unknown code '{}'; {}", printable(options.code), nearest_code(options.code)));
  const auto& i = ovir::info(*code);
  if (json) print(json_text({{"schema", 1}, {"codes", Json::array({as_json(i)})}}, 3));
  else print(page(i, common.out));
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  flags.argument("CODE", options->code,
                 "a diagnostic code, such as E0512; W lists the warnings, E05 the codes that begin so");
  std::vector<std::string> codes;
  for (const auto& i : all_codes()) codes.emplace_back(to_string(i.code));
  flags.offer("CODE", std::move(codes));
  flags.format(options->format, "human json");
  return [options](const Common& common) { return explain(*options, common); };
}

}  // namespace

extern constinit const Command command{"explain",
                                       CommandGroup::reference,
                                       "explain a diagnostic code; without a code, list them all",
                                       "ovir explain E0512\n"
                                       "ovir explain",
                                       {2, 7},
                                       declare};

}  // namespace ovir::app::commands::explain
