#include "flags.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "command.hpp"

namespace ovir::app {

struct Flags::Parser : CLI::App {
  std::map<const CLI::Option*, std::vector<std::string>> words;  ///< that their values may be
  const CLI::Option* may_be_empty = nullptr;                     ///< its empty values are judged by who reads them
};

namespace {

/// The flag, and the environment variable where the value comes from there.
std::string source_of(const CLI::App& app, const std::string& flag, const std::string& value) {
  const auto variable = app.get_option(flag)->get_envname();
  const char* const set = variable.empty() ? nullptr : std::getenv(variable.c_str());
  return set && value == set ? fmt::format("{} (environment variable {})", flag, variable) : flag;
}

/// "--format" of "-f,--format"; of an argument its name.
std::string long_name(const std::string& names) {
  const auto dashes = names.find("--");
  return dashes == names.npos ? names : names.substr(dashes);
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

/// "-w", "--weights".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// "'ovir bisect' or 'ovir compare'": commands that have an option, three of them where there are more; empty: none.
std::string commands_with(const std::string& option) {
  std::vector<std::string> names;
  for (const auto* command : commands::all()) {
    Flags flags;
    command->declare(flags);
    const auto entries = flags.entries();
    if (std::any_of(entries.begin(), entries.end(), [&](const Flags::Entry& entry) {
          return std::find(entry.flags.begin(), entry.flags.end(), option) != entry.flags.end();
        }))
      names.push_back(fmt::format("'ovir {}'", command->name));
  }
  if (names.size() > 3) return fmt::format("{}, {}, {} and others", names[0], names[1], names[2]);
  return joined(names);
}

/// What options of OpenVINO's, TensorRT's and Polygraphy's tools are here.
std::optional<std::string_view> counterpart(std::string_view option) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"--json", "did you mean '--format json'?"},
      {"-m", "the model is given without an option"},
      {"--model", "the model is given without an option"},
      {"-d", "ovir always runs on the CPU"},
      {"--device", "ovir always runs on the CPU"},
      {"-pc", "'ovir profile' measures layers"},
      {"-ip", "'ovir info' shows the types of inputs"},
      {"-infer_precision", "did you mean '--precision'?"},
      {"-data_shape", "did you mean '--shape'?"},
      {"--input-shapes", "did you mean '--shape'?"},
      {"--input_shape", "did you mean '--shape'?"},
      {"--reverse_input_channels", "did you mean '--reverse_channels'?"},
      {"--iterations", "did you mean '--niter'?"},
      {"--duration", "did you mean '--time'?"},
      {"--loadInputs", "did you mean '--input NAME=@FILE'?"},
      {"--load-inputs", "did you mean '--input @FILE.npz'?"},
      {"--exportOutput", "did you mean '--output out.json'?"},
      {"--save-outputs", "did you mean '--output out.npz'?"},
      {"--val-range", "did you mean '--input NAME=rand:A,B'?"}};
  const auto* const found =
      std::find_if(std::begin(known), std::end(known), [&](const auto& k) { return k.first == option; });
  return found == std::end(known) ? std::nullopt : std::optional(found->second);
}

/// "-niter 100": CLI11 would read it as -n with the value "iter".
void refuse_single_dashes(const CLI::App& app, const std::vector<std::string>& words) {
  for (const auto& word : words) {
    if (word == "--") return;
    if (word.size() < 3 || word[0] != '-' || word[1] == '-') continue;
    const auto name = word.substr(0, word.find('='));
    if (app.get_option_no_throw("-" + name))
      throw UsageError(fmt::format("unknown option '{0}'; did you mean '-{0}'?", printable(name)));
    if (const auto other = counterpart(name))
      throw UsageError(fmt::format("unknown option '{}'; {}", printable(name), *other));
    // "-hint", "-nireq": another toggle may stand behind one, and digits behind -n and -t.
    const auto* const option = app.get_option_no_throw(word.substr(0, 2));
    if (!option) continue;
    const auto type = option->get_type_name();
    const bool toggle = option->get_items_expected_max() == 0, number = type == "N" || type == "SEC";
    if ((toggle && name.find_first_not_of("hqv", 1) != name.npos) ||
        (number && name.size() > 2 && std::isalpha(static_cast<unsigned char>(name[2])) != 0))
      throw UsageError(fmt::format("unknown option '{}'", printable(name)));
  }
}

std::string unexpected(const CLI::App& app) {
  const auto words = app.remaining();
  const auto flag = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with('-') && word.size() > 1 && word != "--";
  });
  if (flag == words.end()) {
    const auto word = words.empty() ? "" : printable(words.front());
    const auto generator = word.substr(0, word.find(':'));
    const bool value = app.get_option_no_throw("--input") &&
                       (word.find_first_of("@=") != word.npos || generator == "zeros" || generator == "ones" ||
                        generator == "rand" || generator == "randn" || generator == "arange" || generator == "const");
    return fmt::format("unexpected argument '{}'{}", word,
                       value ? "; inputs are given with -i: -i " + shell_word(word) : "");
  }
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (auto& name : names_of(*option)) names.push_back(std::move(name));
  const auto name = flag->substr(0, flag->find('='));
  if (std::error_code ignored; std::filesystem::exists(*flag, ignored))
    return fmt::format("unknown option '{}'; the file of that name is {}", printable(*flag), shell_word("./" + *flag));
  if (std::find(names.begin(), names.end(), name) != names.end())
    return fmt::format("unexpected argument '{}' behind '--'", printable(*flag));
  if (const auto other = counterpart(name)) return fmt::format("unknown option '{}'; {}", printable(name), *other);
  std::vector<std::string_view> longer;
  for (const auto& candidate : names)
    if (name.size() > 3 && candidate.starts_with(name)) longer.push_back(candidate);
  const auto near = longer.size() == 1 ? longer.front() : nearest(name, {names.begin(), names.end()});
  if (name.size() == 2) return fmt::format("unknown option '{}'", printable(name));  // any letter is near any other
  if (const auto others = commands_with(name); !others.empty())
    return fmt::format("unknown option '{}'; it belongs to {}", printable(name), others);
  return fmt::format("unknown option '{}'{}", printable(name), near ? fmt::format("; did you mean '{}'?", *near) : "");
}

/// An empty word is a shell variable without a value: what it was to say must not go unnoticed.
void require_values(const CLI::App& app, const CLI::Option* may_be_empty) {
  for (const auto* option : app.get_options()) {
    const auto& values = option->results();
    if (option == may_be_empty || option->get_items_expected_max() == 0) continue;
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    const auto name = option->get_positional() ? option->get_name(true) : long_name(option->get_name(false, true));
    throw UsageError(fmt::format("{}: the value is empty", name));
  }
}

/// Why the command line was refused, in one sentence.
std::string reason(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) return unexpected(app);
  const std::string text = error.what();
  const auto name = text.substr(0, text.find_first_of(": "));
  if (dynamic_cast<const CLI::RequiredError*>(&error)) {
    // What is missing may be what was not understood.
    const auto words = app.remaining();
    const bool odd = std::any_of(words.begin(), words.end(), [](const std::string& w) { return w.starts_with('-'); });
    return odd ? unexpected(app) : fmt::format("{} is missing", name);
  }
  const auto* const option = app.get_option_no_throw(name);
  if (!dynamic_cast<const CLI::ArgumentMismatch*>(&error) || !option) return printable(text);
  if (option->get_items_expected_max() == 0) return fmt::format("{} takes no value", name);
  if (option->count() > 1) return fmt::format("{} is given more than once", name);
  return fmt::format("{0} needs a value: {0} {1}", name, option->get_type_name());
}

}  // namespace

Flag Flag::env(const std::string& variable) const { return Flag(option_->envname(variable)); }
Flag Flag::group(const std::string& heading) const { return Flag(option_->group(heading)); }
Flag Flag::required() const { return Flag(option_->required()); }

Flags::Flags() : parser_(std::make_unique<Parser>()) {}
Flags::~Flags() = default;

Flag Flags::argument(const std::string& name, std::string& to, const std::string& about) {
  return Flag(parser_->add_option(name, to, about));
}

Flag Flags::argument(const std::string& name, std::string& to, std::vector<std::string> words,
                     const std::string& about) {
  return choice(name, to, std::move(words), name, about);
}

Flag Flags::toggle(const std::string& names, bool& to, const std::string& about) {
  return Flag(parser_->add_flag(names, to, about));
}

Flag Flags::text(const std::string& names, std::string& to, const std::string& type, const std::string& about) {
  return Flag(parser_->add_option(names, to, about)->type_name(type));
}

Flag Flags::list(const std::string& names, std::vector<std::string>& to, const std::string& type,
                 const std::string& about) {
  return Flag(parser_->add_option(names, to, about)->type_name(type)->allow_extra_args(false)->take_all());
}

Flag Flags::choice(const std::string& names, std::string& to, std::vector<std::string> words, const std::string& type,
                   const std::string& about) {
  auto marked = words;
  for (auto& word : marked)
    if (word == to) word += " (default)";
  const auto help = about.empty() ? joined(marked) : fmt::format("{}: {}", about, joined(marked));
  const auto store = [app = parser_.get(), &to, words, flag = long_name(names)](const std::string& value) {
    if (std::find(words.begin(), words.end(), value) == words.end()) {
      // An element type is no slip of another one: f16 does not mean bf16, but fp32 means f32.
      const auto type = parse_element_type(value);
      auto near = type ? std::nullopt : nearest(value, {words.begin(), words.end()});
      for (const auto& word : words)
        if (type && parse_element_type(word) == type) near = word;
      throw UsageError(fmt::format("{}: expected {}, not '{}'{}", source_of(*app, flag, value), joined(words),
                                   printable(value), near ? fmt::format("; did you mean '{}'?", *near) : ""));
    }
    to = value;
  };
  auto* const option = parser_->add_option_function<std::string>(names, store, help)->type_name(type);
  parser_->words[option] = std::move(words);
  return Flag(option);
}

Flag Flags::selector(const std::string& names, std::string& to, const std::string& about) {
  const std::string_view selectors =
      "Selectors:\n"
      "relu1 loop1/body/relu\ta layer; in a body with its path; relu@it=3 is one iteration\n"
      "'*/attn/*' '/conv[0-9]+/'\tlayers whose names match a pattern, or a regular expression\n"
      "type:MatMul id:42 id:10..20\tlayers by operation type or id\n"
      "tensor:conv1:0\toutput 0 of a layer, or an output by its tensor name\n"
      "from:A to:B\tA and all that depends on it; B and all that it depends on\n"
      "a,b,!c\ta or b, but not c";
  if (std::find(sections_.begin(), sections_.end(), selectors) == sections_.end()) section(std::string(selectors));
  return text(names, to, "SELECTOR", about);
}

Flag Flags::number(const std::string& names, i64& to, const std::string& type, const std::string& about, i64 min) {
  const auto store = [app = parser_.get(), &to, min, flag = long_name(names)](const std::string& value) {
    const auto number = parse_number<i64>(value);
    const bool digits = value.find_first_not_of("0123456789") == value.npos;
    if (!number && digits && !value.empty())
      throw UsageError(fmt::format("{}: expected a whole number of at most {}, not '{}'", source_of(*app, flag, value),
                                   INT64_MAX, value));
    if (!number || *number < min)
      throw UsageError(fmt::format("{}: expected a whole number of at least {}, not '{}'", source_of(*app, flag, value),
                                   min, printable(value)));
    to = *number;
  };
  return Flag(parser_->add_option_function<std::string>(names, store, about)->type_name(type));
}

Flag Flags::decimal(const std::string& names, double& to, const std::string& type, const std::string& about) {
  const auto store = [app = parser_.get(), &to, flag = long_name(names)](const std::string& value) {
    const auto number = parse_number<double>(value);
    if (!number || !std::isfinite(*number) || *number < 0)
      throw UsageError(fmt::format("{}: expected a number of at least 0, such as 10 or 2.5, not '{}'",
                                   source_of(*app, flag, value), printable(value)));
    to = *number;
  };
  return Flag(parser_->add_option_function<std::string>(names, store, about)->type_name(type));
}

Flag Flags::duration(const std::string& names, double& seconds, const std::string& type, const std::string& about) {
  const auto store = [&seconds, flag = long_name(names)](const std::string& value) {
    const auto time = parse_duration(value);
    if (!time)
      throw UsageError(fmt::format("{}: expected a time such as 2, 0.5 or 500ms, not '{}'", flag, printable(value)));
    seconds = *time;
  };
  return Flag(parser_->add_option_function<std::string>(names, store, about)->type_name(type));
}

void Flags::model(ModelOptions& options, Model presence) {
  const auto flag = argument("MODEL", options.model, "the model's .xml file");
  if (presence == Model::required) flag.required();
  text("-w,--weights", options.weights, "FILE", "the .bin file; default: MODEL with the extension .bin");
}

void Flags::models(std::vector<std::string>& paths, ModelOptions& options) {
  parser_->add_option("MODEL", paths, "the model's .xml file; several, or folders of them, are checked one by one")
      ->required();
  text("-w,--weights", options.weights, "FILE", "the .bin file; default: MODEL with the extension .bin");
}

void Flags::shapes(ModelOptions& options) {
  list("-s,--shape", options.shapes, "SHAPES",
       "input shapes to use instead of the declared ones: 'image[1,3,?,224..640],ids[?]', or '[1,3,224,224]' for a "
       "model with one input");
}

void Flags::format(std::string& to, std::string_view words) {
  std::vector<std::string> list;
  for (const auto word : split(words, ' ')) list.emplace_back(word);
  to = list.front();
  format_ = &to;
  choice("--format", to, std::move(list), "FORMAT");
}

void Flags::may_be_empty(const std::string& name) { parser_->may_be_empty = parser_->get_option(name); }

void Flags::offer(const std::string& name, std::vector<std::string> words) {
  parser_->words[parser_->get_option(name)] = std::move(words);
}

void Flags::common(Common& common) {
  constexpr auto heading = "Common options";
  parser_->set_help_flag("-h,--help", "show this page")->group(heading);
  parser_->add_flag("-v", common.verbose, "log progress to stderr; -vv logs each input too")->group(heading);
  toggle("-q,--quiet", common.quiet, "no warnings, notes or closing line").group(heading);
  text("--log-level", common.log_level, "LEVEL", "trace, debug, info, warning, error or off")
      .env("OVIR_LOG_LEVEL")
      .group(heading);
  text("--log-file", common.log_file, "FILE", "write the log to this file instead of stderr")
      .env("OVIR_LOG_FILE")
      .group(heading);
  choice("--color", common.color, {"auto", "always", "never"}, "WHEN").env("OVIR_COLOR").group(heading);
  text("--limits", common.limits, "LIST", "stop with exit code 7 at these bounds: mem=8G,disk=20G,time=60s,work=2T")
      .env("OVIR_LIMITS")
      .group(heading);
}

bool Flags::parse(std::vector<std::string> words) {
  refuse_single_dashes(*parser_, words);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    parser_->parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    throw UsageError(reason(error, *parser_));
  }
  require_values(*parser_, parser_->may_be_empty);
  return true;
}

std::string Flags::subject() const {
  for (const auto* option : std::as_const(*parser_).get_options())
    if (option->get_positional() && option->count() > 0) return option->results().front();
  return {};
}

std::vector<Flags::Entry> Flags::entries() const {
  std::vector<Entry> list;
  for (const auto* option : std::as_const(*parser_).get_options()) {
    Entry entry{"",
                option->get_description(),
                option->get_group(),
                option->get_positional(),
                option->get_required(),
                names_of(*option),
                "",
                {}};
    for (const auto& name : names_of(*option)) entry.names += (entry.names.empty() ? "" : ", ") + name;
    if (entry.argument) entry.names = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    else if (option->get_items_expected_max() > 0) entry.names += " " + option->get_type_name();
    if (option->get_items_expected_max() > 0) entry.type = option->get_type_name();
    if (const auto words = parser_->words.find(option); words != parser_->words.end()) entry.words = words->second;
    if (!option->get_envname().empty()) entry.about += fmt::format(" [{}]", option->get_envname());
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace ovir::app
