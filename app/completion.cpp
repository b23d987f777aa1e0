#include "completion.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "command.hpp"

namespace ovir::app {
namespace {

using Words = std::vector<std::string>;

void keep_matching(Words& list, std::string_view prefix) {
  std::erase_if(list, [&](const std::string& word) { return !word.starts_with(prefix); });
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::shared_ptr<const Graph> read_graph(const std::string& path) {
  Diagnostics unused;
  xml::ReadOptions options;
  options.no_weights = true;
  return xml::read(path, options, unused);
}

void for_each_layer(const Graph& graph, const std::string& path, auto&& f) {
  for (const auto& layer : graph.layers) {
    f(layer, path);
    for (const auto& body : layer.bodies) for_each_layer(*body.graph, path + layer.name + "/" + body.role + "/", f);
  }
}

/// What a selector may say, but for patterns: the part behind the last comma, `!`, `from:` or `to:` is completed.
Words selectors(const Graph& graph, std::string_view typed) {
  auto begin = typed.rfind(',') + 1;  // none: 0
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view prefix : {"!", "from:", "to:"})
      if (typed.substr(begin).starts_with(prefix)) {
        begin += prefix.size();
        more = true;
      }
  }
  const std::string before(typed.substr(0, begin));
  const auto term = typed.substr(begin);
  Words list;
  for_each_layer(graph, "", [&](const Layer& layer, const std::string& path) {
    if (term.starts_with("type:")) list.push_back("type:" + layer.type);
    else if (term.starts_with("id:") && path.empty()) list.push_back("id:" + layer.id_text);
    else if (term.starts_with("tensor:"))
      for (std::size_t p = 0; p < layer.outputs.size(); ++p)
        list.push_back(fmt::format("tensor:{}{}:{}", path, layer.name, p));
    else list.push_back(path + layer.name);
    for (const auto& port : layer.outputs)
      for (const auto& name : port.names) list.push_back((term.starts_with("tensor:") ? "tensor:" : "") + name);
  });
  for (const auto* form : {"type:", "id:", "tensor:", "from:", "to:"}) list.emplace_back(form);
  keep_matching(list, term);
  for (auto& word : list) word.insert(0, before);
  return list;
}

/// Names of a graph's own layers of one type, each with `behind` behind it; those of Parameters by their tensor names.
Words names(const Graph& graph, std::string_view type, std::string_view behind) {
  Words list;
  for (const auto& layer : graph.layers) {
    if (!equals_ignoring_case(layer.type, type) && !(type == "Constant" && layer.type == "Const")) continue;
    bool named = false;
    for (const auto& port : layer.outputs)
      for (const auto& name : port.names) {
        if (type == "Constant") continue;
        list.push_back(name + std::string(behind));
        named = true;
      }
    if (!named) list.push_back(layer.name + std::string(behind));
  }
  return list;
}

Words output_names(const Graph& graph) {
  Words list;
  for (const auto& edge : graph.edges) {
    const auto by_id = [&](i64 id) {
      return std::find_if(graph.layers.begin(), graph.layers.end(), [&](const Layer& layer) { return layer.id == id; });
    };
    const auto to = by_id(edge.to_layer), from = by_id(edge.from_layer);
    if (to == graph.layers.end() || from == graph.layers.end() || to->type != "Result") continue;
    const auto port =
        std::find_if(from->outputs.begin(), from->outputs.end(), [&](const Port& p) { return p.id == edge.from_port; });
    const bool named = port != from->outputs.end() && !port->names.empty();
    list.push_back((named ? port->names.front() : from->name) + "=");
  }
  return list;
}

/// A value of this type; nothing: files are meant.
Words values(const Flags::Entry& flag, const std::optional<std::string>& model, std::string_view typed) {
  if (!flag.words.empty()) return flag.words;
  const std::set<std::string_view> named{"SELECTOR", "SELECTOR=@FILE",     "SHAPES", "NAME=VALUE", "NAME=VALUES",
                                         "OLD=NEW",  "LAYER[:port[:axis]]"};
  if (!model || !named.contains(flag.type)) return {};
  const auto graph = read_graph(*model);
  if (!graph) return {};
  if (flag.type.starts_with("SELECTOR")) return selectors(*graph, typed);
  if (flag.type == "SHAPES") return names(*graph, "Parameter", "[");
  if (flag.type == "NAME=VALUES") return names(*graph, "Constant", "=");
  if (flag.type == "NAME=VALUE") return names(*graph, "Parameter", "=");
  if (flag.type == "OLD=NEW")
    return flag.names.find("output") == std::string::npos ? names(*graph, "Parameter", "=") : output_names(*graph);
  Words list;
  for_each_layer(*graph, "", [&](const Layer& layer, const std::string& path) { list.push_back(path + layer.name); });
  return list;
}

Words command_names() {
  Words list;
  for (const auto* command : commands::all()) list.emplace_back(command->name);
  return list;
}

/// The words of a command line as flags see them.
struct Line {
  std::vector<Flags::Entry> flags;
  const Flags::Entry* open = nullptr;  ///< the flag whose value the last word is
  std::size_t value_at = 0;            ///< where the value begins in it
  std::optional<std::string> model;
  std::size_t arguments = 0;  ///< before the last word
};

const Flags::Entry* find_flag(const std::vector<Flags::Entry>& flags, std::string_view name) {
  const auto has = [&](const Flags::Entry& flag) {
    return !flag.argument && std::find(flag.flags.begin(), flag.flags.end(), name) != flag.flags.end();
  };
  const auto at = std::find_if(flags.begin(), flags.end(), has);
  return at == flags.end() ? nullptr : &*at;
}

Line parse(const Command& command, const Words& words) {
  Flags flags;
  Common common;
  command.declare(flags);
  flags.common(common);
  Line line;
  line.flags = flags.entries();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool last = i + 1 == words.size();
    if (!word.starts_with('-') || word == "-") {
      if (!last && !line.model && word.ends_with(".xml")) line.model = word;
      if (!last) ++line.arguments;
      continue;
    }
    const auto equals = word.find('=');
    const auto* const flag = find_flag(line.flags, word.substr(0, equals));
    if (!flag || flag->type.empty()) continue;
    if (equals != word.npos) {
      if (last) {
        line.open = flag;
        line.value_at = equals + 1;
      }
      continue;
    }
    if (i + 2 == words.size()) line.open = flag;
    ++i;  // its value
  }
  return line;
}

}  // namespace

ShellWords shell_words(std::string_view line) {
  ShellWords result{{""}, 0};
  bool between = true;  // words
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    auto& word = result.words.back();
    if (result.quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (!between) result.words.emplace_back();
      between = true;
      continue;
    }
    between = false;
    if (result.quote != 0 && c == result.quote) result.quote = 0;
    else if (result.quote == 0 && (c == '\'' || c == '"')) result.quote = c;
    else if (c == '\\' && result.quote != '\'' && i + 1 < line.size()) word += line[++i];
    else word += c;
  }
  return result;
}

std::vector<std::string> candidates(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const auto& typed = words.back();
  Words list;
  if (words.size() == 1) {
    list = command_names();
    list.insert(list.end(), {"help", "--help", "--version"});
    keep_matching(list, typed);
    return list;
  }
  const auto all = commands::all();
  const auto command = std::find_if(all.begin(), all.end(), [&](const Command* c) { return c->name == words.front(); });
  if (words.front() == "help" && words.size() == 2) list = command_names();
  if (command == all.end()) {
    keep_matching(list, typed);
    return list;
  }
  const auto line = parse(**command, words);
  if (line.open) {
    const auto before = typed.substr(0, line.value_at);
    list = values(*line.open, line.model, std::string_view(typed).substr(line.value_at));
    for (auto& word : list) word.insert(0, before);
  } else if (typed.starts_with('-')) {
    for (const auto& flag : line.flags)
      if (!flag.argument) list.insert(list.end(), flag.flags.begin(), flag.flags.end());
  } else {
    std::size_t k = 0;
    for (const auto& flag : line.flags)
      if (flag.argument && k++ == line.arguments) list = flag.words;
  }
  keep_matching(list, typed);
  return list;
}

int complete(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) return kUsage;
  std::string out;
  if (arguments[0] != "bash") {
    for (const auto& word : candidates({arguments.begin() + 1, arguments.end()}))
      if (printable(word) == word) out += word + "\n";
    print(out);
    return kOk;
  }
  const auto line = shell_words(arguments[1]);
  const std::string_view breaks = arguments.size() > 2 ? std::string_view(arguments[2]) : "";
  // Readline replaces only what stands behind the last of these, unless it is quoted.
  const auto& typed = line.words.back();
  const auto is_break = [&](char c) { return (c == ':' || c == '=') && breaks.find(c) != breaks.npos; };
  const auto last = std::find_if(typed.rbegin(), typed.rend(), is_break);
  const auto kept = line.quote != 0 ? 0 : typed.rend() - last;
  for (const auto& word : candidates({line.words.begin() + 1, line.words.end()})) {
    if (printable(word) != word) continue;
    const auto rest = word.substr(std::min<std::size_t>(kept, word.size()));
    out += (line.quote != 0 ? rest : shell_word(rest)) + "\n";
  }
  print(out);
  return kOk;
}

}  // namespace ovir::app
