#include "render/fixes.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "render/diagnostics.hpp"
#include "tools/changed_bin.hpp"

namespace ovir::app {
namespace {

std::string spaced(std::string_view list) {
  std::string text;
  for (const auto part : split(list, ',')) text += fmt::format("{}{}", text.empty() ? "" : ", ", part);
  return text;
}

bool is_assignment(const Change& change) {
  using What = Change::What;
  return change.what == What::layer_attribute || change.what == What::attribute || change.what == What::tag_attribute;
}

std::string assignment(const Change& change) {
  return fmt::format("{}=\"{}\"", printable(change.name), printable(change.value));
}

std::string describe(const Change& change) {
  switch (change.what) {
    case Change::What::attribute_name:
      return fmt::format("rename \"{}\" to \"{}\"", printable(change.name), printable(change.value));
    case Change::What::text: return fmt::format("write \"{}\"", printable(change.value));
    case Change::What::dims: return fmt::format("declare [{}]", change.value);
    case Change::What::input: return fmt::format("set the constant to {{{}}}", spaced(change.value));
    default: return fmt::format("set {}", assignment(change));
  }
}

/// What the constant had where the change differs first.
std::string hard_coded(const tools::ConstantChange& change) {
  const auto hard_codes = [](const auto& now, const auto& before) -> std::string {
    const auto at = std::mismatch(now.begin(), now.end(), before.begin(), before.end());
    if (at.second == before.end()) return {};
    return fmt::format("the constant hard-codes {} in element {}; ", *at.second, at.second - before.begin());
  };
  // A double holds integers up to 2^53 only.
  if (contains(kInteger, change.value.type()) && contains(kInteger, change.before.type()))
    return hard_codes(to_i64(change.value), to_i64(change.before));
  return hard_codes(to_f64(change.value), to_f64(change.before));
}

bool is_error(const Diagnostic& d) { return severity(d.code) == Severity::error; }

/// It makes an error go, its own or another.
bool cures_error(const Diagnostics& diagnostics, const tools::Fix& fix) {
  return is_error(diagnostics.all()[fix.diagnostic]) ||
         std::any_of(fix.also.begin(), fix.also.end(), [&](std::size_t i) { return is_error(diagnostics.all()[i]); });
}

/// "this error disappears, 2 others remain".
std::string outcome(const Diagnostics& diagnostics, const tools::Fixes& fixes, const tools::Fix& fix) {
  const auto cures = std::count_if(fixes.list.begin(), fixes.list.end(),
                                   [&](const tools::Fix& other) { return cures_error(diagnostics, other); });
  std::string text = is_error(diagnostics.all()[fix.diagnostic]) ? "this error disappears" : "this warning disappears";
  const auto after = cures == 2  ? std::string(" after both changes")
                     : cures > 2 ? fmt::format(" after all {} changes", cures)
                                 : std::string();
  std::size_t uncovered = 0;
  for (const auto& other : fixes.list) uncovered += other.uncovered;
  const auto staying = fixes.errors - std::min(fixes.errors, uncovered);
  if (cures_error(diagnostics, fix) && fixes.errors == 0)
    text = cures > 1 ? "with the other changes, the whole model checks" : "the whole model checks";
  else if (cures_error(diagnostics, fix) && staying > 0)
    text += fmt::format(", {} remain{}{}", counted(staying, "other"), staying == 1 ? "s" : "", after);
  if (fix.uncovered > 0) text += fmt::format(", {} more come{} to light", fix.uncovered, fix.uncovered == 1 ? "s" : "");
  if (fixes.errors == 0 && fixes.contradictions > 0 && !fix.edits.constants.empty())
    text += fmt::format(", but for {}", counted(fixes.contradictions, "stale declaration"));
  return text;
}

std::string edit_command(const ModelOptions& options, const std::string& what) {
  const auto out = std::filesystem::path(options.model).replace_extension("").string() + "_fixed.xml";
  return fmt::format("ovir edit {}{} {} -o {}", shell_word(options.model),
                     options.weights.empty() ? "" : " -w " + shell_word(options.weights), what, shell_word(out));
}

}  // namespace

tools::CheckedModel subject_of(const ModelOptions& options, const Model& model) {
  return {model.graph->source, {options.weights, options.no_weights}, infer_options(options, model), options.release};
}

std::string describe(const Remedy& remedy) {
  std::string text;
  for (std::size_t k = 0; k < remedy.size(); ++k) {
    const bool again = k > 0 && is_assignment(remedy[k - 1]) && is_assignment(remedy[k]);  // "set a="1" and b="2""
    text += fmt::format("{}{}", k == 0 ? "" : " and ", again ? assignment(remedy[k]) : describe(remedy[k]));
  }
  return text;
}

void add_help(Diagnostics& diagnostics, const Model& model, const tools::Fixes& fixes, const ModelOptions& options) {
  Places places(options.model);
  for (const auto& fix : fixes.list) {
    const auto& d = diagnostics.all()[fix.diagnostic];
    const auto then = outcome(diagnostics, fixes, fix);
    std::string help = fmt::format("{} (verified: {})", describe(fix.remedy), then);
    if (d.layer)
      for (const auto other : fix.also) {
        if (!is_error(diagnostics.all()[other])) continue;
        diagnostics.set_help(
            other,
            fmt::format("{} in layer {} \"{}\" at {} (verified: {})", describe(fix.remedy), printable(d.layer->id),
                        printable(d.layer->name),
                        places.text(fix.edits.texts.empty() ? d.at : fix.edits.texts.front().at), then),
            {});
      }
    if (!fix.edits.constants.empty()) {
      const auto& constant = fix.edits.constants.front();
      help = hard_coded(constant) + help;
      help +=
          ":\n      " + edit_command(options, "--set-const " + shell_word(fmt::format("{}{}={}", constant.path,
                                                                                      constant.name, constant.values)));
    }
    auto replacements = fix.edits.texts;
    for (const auto& change : fix.edits.constants)
      if (auto bytes = tools::in_place(model, change)) replacements.push_back(std::move(*bytes));
    diagnostics.set_help(fix.diagnostic, std::move(help), std::move(replacements));
  }
}

Diagnostics without_consequences(const Diagnostics& diagnostics, const tools::Fixes& fixes) {
  std::vector<std::size_t> cause(diagnostics.all().size(), diagnostics.all().size());
  for (const auto& fix : fixes.list)
    for (const auto i : fix.also)
      if (diagnostics.all()[i].code == Code::W0901) cause[i] = fix.diagnostic;
  std::vector<std::size_t> consequences(diagnostics.all().size() + 1, 0);
  for (const auto i : cause) ++consequences[i];
  Diagnostics list;
  list.dependents = diagnostics.dependents;
  for (std::size_t i = 0; i < diagnostics.all().size(); ++i) {
    if (cause[i] != diagnostics.all().size()) continue;
    auto d = diagnostics.all()[i];
    if (consequences[i] > 0)
      d.notes.push_back({fmt::format("{} elsewhere, which are not shown, {} for the same reason",
                                     counted(consequences[i], "declared shape or type", "declared shapes and types"),
                                     consequences[i] == 1 ? "contradicts" : "contradict"),
                         {},
                         "",
                         ""});
    list.add(std::move(d));
  }
  return list;
}

std::string fix_line(const tools::Fixes& fixes, const ModelOptions& options, const Style& style) {
  const bool of_text =
      std::any_of(fixes.list.begin(), fixes.list.end(), [](const tools::Fix& f) { return !f.edits.texts.empty(); });
  if (!of_text) return {};
  std::string what;
  for (const auto& shape : options.shapes) what += fmt::format("--shape {} ", shell_word(shape));
  if (!options.release.empty()) what += fmt::format("--for {} ", options.release);
  const auto n = fixes.list.size();
  const auto left = fixes.errors == 0
                        ? std::string()
                        : fmt::format(", after which {}", counted(fixes.errors, "error remains", "errors remain"));
  return fmt::format("{} to make {}{}, run:\n      {}\n", style(Paint::help, "help:"),
                     n == 1 ? "this change" : fmt::format("these {} changes", n), left,
                     edit_command(options, what + "--fix"));
}

}  // namespace ovir::app
