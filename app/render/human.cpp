// Diagnostics for people: in the manner of rustc, or one line each.
#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "op/known_types.hpp"
#include "ovir.hpp"
#include "render/diagnostics.hpp"

namespace ovir::app {
namespace {

/// "Reshape-1": the version of the operation that the layer's opset holds.
std::string operation_name(const LayerRef& layer) {
  if (layer.version.starts_with("opset")) {
    const auto opset = parse_number<int>(std::string_view(layer.version).substr(5));
    const auto* const op = operations().find(layer.type);
    const auto* const version = op && opset && *opset <= kNewestOpset ? version_in(*op, *opset) : nullptr;
    if (version) return fmt::format("{}-{}", printable(layer.type), version->since);
  }
  const bool both = !layer.type.empty() && !layer.version.empty();
  return fmt::format("{}{}{}", printable(layer.type), both ? ", " : "", printable(layer.version));
}

Paint paint_of(Severity severity) {
  return severity == Severity::error ? Paint::error : severity == Severity::warning ? Paint::warning : Paint::note;
}

/// The code points of a line, each fit for a terminal and one column wide: a tab is one column, as in the positions.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t n = 1;
    while (i + n < line.size() && (line[i + n] & 0xC0) == 0x80) ++n;
    const auto bytes = line.substr(i, n);
    const auto shown = printable(bytes);
    list.push_back(bytes == "\t" ? " " : shown == bytes ? std::string(bytes) : "?");
    i += n;
  }
  return list;
}

/// The source line with the caret under it; a long line is cut to what surrounds the caret.
std::string snippet(const SourceLoc& at, std::size_t number, std::size_t column, std::string_view label, Paint paint,
                    const Style& style) {
  // A line of megabytes may have thousands of faults: only what surrounds the caret is looked at.
  constexpr std::size_t around = 2048;  // bytes, more than a terminal shows
  auto near = source_line(at);
  const auto byte = std::min<std::size_t>(at.offset - (near.data() - at.file->text.data()), near.size());
  auto first = byte > around ? byte - around : 0;
  while (first > 0 && (near[first] & 0xC0) == 0x80) --first;
  const auto skipped = first > 0 ? column - 1 - count_code_points(near.substr(first, byte - first)) : 0;
  near = near.substr(first, byte - first + around);
  const auto line = cells(near);
  const auto gutter = std::to_string(number);
  const std::string margin(gutter.size(), ' ');
  const std::size_t room =
      std::max<std::size_t>(20, static_cast<std::size_t>(style.width) - std::min<std::size_t>(gutter.size() + 3, 20));
  const std::size_t caret = std::min(column - 1 - skipped, line.size());

  std::size_t begin = 0, end = line.size();
  if (line.size() > room) {
    if (caret > room / 2) begin = std::min(caret - room / 3, line.size() - room + 3);
    end = std::min(line.size(), begin + room - (begin > 0 ? 3 : 0));
    if (end < line.size()) end -= 3;
  }
  std::string text = begin > 0 ? "..." : "";
  for (std::size_t i = begin; i < end; ++i) text += line[i];
  if (end < line.size()) text += "...";
  const auto marked = at.file->text.substr(std::min(at.offset, at.file->text.size()), at.length);
  const std::size_t length = std::clamp<std::size_t>(count_code_points(marked.substr(0, marked.find('\n'))), 1,
                                                     std::max<std::size_t>(1, end - std::min(end, caret)));
  const std::string indent(caret - begin + (begin > 0 ? 3 : 0), ' ');

  std::string out = fmt::format("{} {}\n", margin, style(Paint::place, "|"));
  out += fmt::format("{} {} {}\n", style(Paint::place, gutter), style(Paint::place, "|"), text);
  out += fmt::format("{} {} {}{}{}{}\n", margin, style(Paint::place, "|"), indent,
                     style(paint, std::string(length, '^')), label.empty() ? "" : " ", style(paint, label));
  return out;
}

std::string rest_of_place(const Diagnostic& d) {
  std::string rest;
  if (d.layer) rest = "   " + describe(*d.layer);
  if (d.layer && d.port) rest += ", " + describe(*d.port);
  return rest;
}

/// Calls `f` with what is to be shown and tells how many errors are left out.
template <class F>
std::size_t each(const Diagnostics& diagnostics, std::size_t max_errors, F&& f) {
  std::size_t errors = 0;
  for (const auto& d : diagnostics.all())
    if (d.severity != Severity::error || ++errors <= max_errors || max_errors == 0) f(d);
  return max_errors != 0 && errors > max_errors ? errors - max_errors : 0;
}

std::string left_out(std::size_t n) {
  return n == 0 ? "" : fmt::format("note: {} not shown (--max-errors)\n", counted(n, "further error"));
}

}  // namespace

Places::Place Places::operator()(const SourceLoc& at) {
  if (!at) return {model_};
  if (at.file->text.empty()) return {at.file->path};
  const auto [index, added] = indices_.try_emplace(at.file.get(), *at.file);
  const auto [line, column] = index->second(at.offset);
  const auto meant = at.file->text.substr(std::min(at.offset, at.file->text.size()), at.length);
  return {at.file->path, line, column, column + count_code_points(meant.substr(0, meant.find_first_of("\r\n")))};
}

std::string Places::text(const SourceLoc& at) {
  const auto place = (*this)(at);
  return place.line == 0 ? printable(place.file)
                         : fmt::format("{}:{}:{}", printable(place.file), place.line, place.column);
}

std::string describe(const LayerRef& layer) {
  return fmt::format("layer {}{}\"{}{}\" ({})", printable(layer.id), layer.id.empty() ? "" : " ", printable(layer.path),
                     printable(layer.name), operation_name(layer));
}

std::string describe(const PortRef& port) {
  std::string text = fmt::format("{} port {}", port.input ? "input" : "output", port.index);
  if (!port.name.empty()) text += fmt::format(" \"{}\"", port.name);
  if (port.id && *port.id != port.index) text += fmt::format(" (id {} in the file)", *port.id);
  return text;
}

std::string human(const Diagnostic& d, Places& places, const Style& style) {
  const auto paint = paint_of(d.severity);
  std::string out =
      fmt::format("{}{} {}\n", style(paint, fmt::format("{}[{}]", to_string(d.severity), to_string(d.code))),
                  style(Paint::bold, ":"), style(Paint::bold, d.message));
  const auto place = places(d.at);
  if (!place.file.empty())
    out += fmt::format("  {} {}{}\n", style(Paint::place, "-->"), places.text(d.at), rest_of_place(d));
  if (place.line != 0) out += snippet(d.at, place.line, place.column, printable(d.label), paint, style);
  for (const auto& note : d.notes) {
    out += fmt::format("{} {}\n", style(Paint::note, "note:"), note.message);
    if (!note.at && note.where.empty()) continue;
    out += fmt::format("  {} {}{}{}\n", style(Paint::place, "-->"), note.at ? places.text(note.at) : "",
                       note.at && !note.where.empty() ? "   " : "", note.where);
    if (note.at && !note.label.empty() && places(note.at).line != 0) {
      const auto there = places(note.at);
      out += snippet(note.at, there.line, there.column, printable(note.label), Paint::note, style);
    }
  }
  if (!d.help.empty()) out += fmt::format("{} {}\n", style(Paint::help, "help:"), d.help);
  return out;
}

std::string human(const Diagnostics& diagnostics, const ReportOptions& options, const Style& style) {
  // An operation that is unknown is so in every layer that has it: three of one wording are enough.
  constexpr std::size_t same_shown = 3;
  Places places(options.model);
  std::map<std::pair<Code, std::string_view>, std::size_t> shown;
  std::string out;
  const auto hidden = each(diagnostics, options.max_errors, [&](const Diagnostic& d) {
    if (++shown[{d.code, d.message}] <= same_shown) out += human(d, places, style) + "\n";
  });
  for (const auto& [what, n] : shown)
    if (n > same_shown)
      out += fmt::format("{} {} more: {}[{}]: {} (--format short lists them all)\n", style(Paint::note, "note:"),
                         n - same_shown, to_string(severity(what.first)), to_string(what.first), what.second);
  return out + left_out(hidden);
}

std::string short_form(const Diagnostics& diagnostics, const ReportOptions& options, const Style& style) {
  Places places(options.model);
  std::string out;
  const auto hidden = each(diagnostics, options.max_errors, [&](const Diagnostic& d) {
    const auto rest = rest_of_place(d);
    out += fmt::format("{}: {}: {}{}\n", places.text(d.at),
                       style(paint_of(d.severity), fmt::format("{}[{}]", to_string(d.severity), to_string(d.code))),
                       d.message, rest.empty() ? "" : fmt::format(" [{}]", rest.substr(3)));
  });
  return out + left_out(hidden);
}

std::string closing_line(const Diagnostics& diagnostics, std::size_t layers, const Style& style, bool no_weights) {
  const auto errors = diagnostics.errors(), dependents = diagnostics.dependents;
  auto text = errors > 0 ? style(Paint::error, counted(errors, "error"))
                         : fmt::format("{} {}", style(Paint::help, "ok:"), counted(layers, "layer"));
  if (diagnostics.warnings() > 0) text += ", " + counted(diagnostics.warnings(), "warning");
  if (dependents > 0)
    text += fmt::format("; {} on {} and {} not checked", counted(dependents, "layer depends", "layers depend"),
                        errors == 1 ? "it" : "them", dependents == 1 ? "was" : "were");
  if (no_weights) text += "; the weights were not read";
  return text + "\n";
}

}  // namespace ovir::app
