#include "cli.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "base/word_list.hpp"
#include "log.hpp"
#include "model/report.hpp"
#include "names.hpp"
#include "render/diagnostics.hpp"
#include "tools/releases.hpp"

namespace ovir::app {
namespace {

/// "; did you mean '[2,3,224,224]'?" for "2,3,224,224", "(2,3,224,224)", "2 3 224 224", "2x3x224x224" and "nhwc", also
/// behind a name and "(", ":" or "="; else nothing.
std::string in_brackets(std::string_view text, std::string_view name = {}) {
  const auto only = [&](std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == text.npos;
  };
  if (text.size() > 2 && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  const bool letters = only("NCHWnchw");
  if (!letters && !only("0123456789,.?- x")) {
    const auto end = text.find_first_of("(:=");
    if (end == text.npos || end == 0 || !name.empty()) return {};
    return in_brackets(text.substr(text[end] == '(' ? end : end + 1), text.substr(0, end));
  }
  std::string list(trim(text));
  if (letters) std::transform(list.begin(), list.end(), list.begin(), [](char c) { return c < 'a' ? c : c - 32; });
  if (list.find(',') == list.npos)
    std::replace_if(
        list.begin(), list.end(), [](char c) { return c == ' ' || c == 'x'; }, ',');
  return fmt::format("; did you mean '{}[{}]'?", printable(name), list);
}

/// "a[1,3],b[?]" -> {"a", "1,3"}, {"b", "?"}. A name may hold anything but brackets around its values.
std::vector<std::pair<std::string, std::string>> split_brackets(std::string_view flag, std::string_view text) {
  std::vector<std::pair<std::string, std::string>> list;
  while (!trim(text).empty()) {
    const auto close = text.find(']');
    const auto open = close == text.npos ? close : text.rfind('[', close);
    if (open == text.npos)
      throw UsageError(fmt::format("{} {}: expected NAME[...], or [...] for a model with one input{}", flag,
                                   printable(text), in_brackets(text)));
    list.emplace_back(trim(text.substr(0, open)), text.substr(open + 1, close - open - 1));
    text = trim(text.substr(close + 1));
    if (text.empty()) break;
    if (text.front() != ',') throw UsageError(fmt::format("{}: expected a comma before '{}'", flag, printable(text)));
    text.remove_prefix(1);
  }
  return list;
}

}  // namespace

std::string_view exit_meaning(int code) {
  switch (code) {
    case kOk: return "done";
    case kDiffers: return "a difference was found, or what was asked for does not hold";
    case kUsage: return "usage: a wrong option, selector or shape text";
    case 3: return "the model is malformed or its shapes are inconsistent";
    case 4: return "the model is valid, but part of it is not supported";
    case 5: return "input data is missing or unusable";
    case 6: return "a numeric trap";
    case 7: return "a file cannot be read or written, or a limit was hit";
    default: return "internal";
  }
}

std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  if (printable(word) != word) {  // what a terminal must not get goes into Bash's $'...'
    std::string escaped;
    for (const char c : word) escaped += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return "$'" + printable(escaped) + "'";
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

void keep_model(const std::string& model, const std::string& weights, std::string_view flag, const std::string& path) {
  const auto bin = weights.empty() ? std::filesystem::path(model).replace_extension(".bin").string() : weights;
  for (const auto& own : {model, bin})
    if (std::error_code ignored; std::filesystem::equivalent(own, path, ignored))
      throw UsageError(
          fmt::format("{} {}: this is a file of the model, and would be overwritten", flag, printable(path)));
}

void require_stdout() {
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
    fail(Code::E0002, "cannot write to stdout: {}", std::generic_category().message(EBADF));
}

void require_release(const ModelOptions& options) {
  if (options.release.empty() || tools::is_release(options.release)) return;
  std::vector<std::string> of_year;
  for (char n = '0'; n <= '9'; ++n)
    if (const auto name = fmt::format("{}.{}", options.release.substr(0, 4), n); tools::is_release(name))
      of_year.push_back(name);
  throw UsageError(fmt::format(
      "--for {}: unknown release of OpenVINO; expected {}", printable(options.release),
      of_year.empty() ? fmt::format("2020.1 to {}", tools::kNewestRelease) : word_list(std::move(of_year), "or")));
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  fail(Code::E0002, "cannot write to stdout: {}", std::generic_category().message(errno));
}

void to_stderr(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

int leave(int status) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  flush_log();
  std::_Exit(status);
#endif
  return status;
}

int exit_status(const Diagnostics& diagnostics) {
  int status = kOk;
  for (const auto& d : diagnostics.all())
    if (d.severity == Severity::error)
      status = status == kOk ? info(d.code).exit_status : std::min(status, info(d.code).exit_status);
  return status;
}

int report(const Diagnostics& diagnostics, const std::string& model_path, const Common& common) {
  auto errors = diagnostics;
  errors.drop_warnings([](const Diagnostic&) { return true; });
  auto text = human(errors, {model_path, 0}, common.err);
  if (errors.errors() > 1 || errors.dependents > 0) text += closing_line(errors, 0, common.err);
  to_stderr(text);
  if (diagnostics.warnings() > 0) note_details(common, counted(diagnostics.warnings(), "warning"), model_path);
  return exit_status(diagnostics);
}

void note(const Common& common, std::string_view text) {
  if (!common.quiet) to_stderr(fmt::format("{} {}\n", common.err(Paint::note, "note:"), text));
}

void note_details(const Common& common, std::string_view what, const std::string& model_path, std::string_view flags) {
  note(common, fmt::format("{}; run 'ovir check {}{}' for details", what, shell_word(model_path), flags));
}

std::vector<tools::Selected> select_layers(const Common& common, const Model& model, std::string_view flag,
                                           std::string_view selector, tools::Constants constants, const Model* part) {
  try {
    auto selected = tools::select(model, selector, constants, part);
    for (const auto& text : tools::shared_names(model, selector)) note(common, fmt::format("{}: {}", flag, text));
    return selected;
  } catch (const tools::SelectorError& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

std::vector<std::pair<int, std::string>> per_input(std::string_view flag, const std::vector<std::string>& texts,
                                                   const Model& model) {
  std::vector<std::pair<int, std::string>> list;
  for (const auto& text : texts) {
    for (auto& [name, value] : split_brackets(flag, text)) {
      if (name.empty() && model.parameters.size() != 1)
        throw UsageError(fmt::format("{} [{}]: expected the name of an input before '['; the inputs are {}", flag,
                                     printable(value), input_names(model)));
      const auto k = name.empty() ? 0 : find_input(model, name);
      if (!k) throw UsageError(fmt::format("{}: {}", flag, unknown_input(model, name)));
      for (const auto& [other, unused] : list)
        if (other == *k)
          throw UsageError(fmt::format("{}: input \"{}\" is given twice", flag, printable(model.parameter_name(*k))));
      list.emplace_back(*k, std::move(value));
    }
  }
  return list;
}

passes::InferOptions infer_options(const ModelOptions& options, const Model& model) {
  passes::InferOptions infer;
  for (const auto& [k, dims] : per_input("--shape", options.shapes, model)) {
    const auto shape = parse_shape("[" + dims + "]");
    if (!shape) {
      const auto meant = dims.find(' ') == dims.npos ? std::string() : in_brackets(dims);
      throw UsageError(fmt::format("--shape: expected dims like 3, ? or 1..512 in brackets, not [{}]{}",
                                   printable(dims), meant.empty() ? ": " + why_no_shape(dims) : meant));
    }
    infer.shapes.emplace(k, *shape);
  }
  return infer;
}

Loaded load_model(const ModelOptions& options, const Common& common) {
  Loaded loaded;
  Diagnostics diagnostics;
  Stopwatch watch;
  loaded.model = load(options.model, {options.weights, options.no_weights}, diagnostics);
  log_info("read {} in {}", printable(options.model), watch.lap());
  if (loaded.model && loaded.model->complete) {
    loaded.facts = ovir::infer(*loaded.model, infer_options(options, *loaded.model), diagnostics);
    const auto& model = *loaded.model;
    log_info("inferred {} layers in {}", count_layers(model), watch.lap());
    log_debug("weights: {}", model.graph->weights ? fmt::format("{}, {} bytes", printable(model.graph->weights_path),
                                                                model.graph->weights->size())
                                                  : "not read");
    for (int k = 0; k < std::ssize(model.parameters); ++k)
      log_debug("input {} \"{}\": {}", k, printable(model.parameter_name(k)),
                describe(loaded.facts.of({model.parameters[k], 0})));
  }
  if (diagnostics.errors() > 0) throw Refused(std::move(diagnostics), options.model);
  report(diagnostics, options.model, common);
  return loaded;
}

}  // namespace ovir::app
