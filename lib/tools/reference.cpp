#include "tools/reference.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace ovir::tools {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A name as files have it.
std::string plain(std::string_view name) {
  std::string stem(name.substr(0, 120));
  for (auto& c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  return stem;
}

/// The digits at the end of `text`, and what stands before them; nothing where there are none.
std::optional<std::pair<std::string_view, int>> number_at_end(std::string_view text) {
  auto begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  const auto number = parse_number<int>(text.substr(begin));
  return number ? std::optional(std::pair(text.substr(0, begin), *number)) : std::nullopt;
}

/// "relu@it=3.1" as "relu" and {3, 1}.
Alias with_iterations(std::string_view name, std::optional<int> port) {
  for (const std::string_view mark : {"@it=", "_it_"}) {
    const auto at = name.rfind(mark);
    if (at == name.npos) continue;
    Alias alias{std::string(name.substr(0, at)), port, {}};
    bool all = true;
    for (const auto part : split(name.substr(at + mark.size()), '.')) {
      const auto number = parse_number<i64>(part);
      all = all && number.has_value();
      alias.iterations.push_back(number.value_or(0));
    }
    if (all) return alias;
  }
  return {std::string(name), port, {}};
}

/// Everything in a model that a name may mean.
class Names {
 public:
  explicit Names(const Model& model) { collect(model); }

  std::optional<TensorPlace> find(const Alias& alias) const {
    if (auto place = look_up(alias, layers_, tensors_, alias.name)) return place;
    if (auto place = look_up(alias, plain_layers_, plain_tensors_, plain(alias.name))) return place;
    const auto module = modules_.find(alias.name);
    if (alias.port || module == modules_.end()) return std::nullopt;
    return place(module->second, alias);
  }

 private:
  struct Output {
    const Model* model;
    int node, port;
  };
  using Table = std::map<std::string, std::vector<Output>, std::less<>>;

  void collect(const Model& model) {
    for (int i = 0; i < std::ssize(model.nodes); ++i) {
      const auto& layer = *model[i].layer;
      add(layers_, plain_layers_, model.path + layer.name, {&model, i, 0});
      for (int port = 0; port < std::ssize(layer.outputs); ++port)
        for (const auto& name : layer.outputs[port].names)
          add(tensors_, plain_tensors_, model.path + name, {&model, i, port});
      // OpenVINO calls what a module of PyTorch computes "__module.<module>/<operation>"; the last is its result.
      constexpr std::string_view mark = "__module.";
      if (const auto slash = layer.name.find('/'); layer.name.starts_with(mark) && slash != layer.name.npos)
        modules_.insert_or_assign(layer.name.substr(mark.size(), slash - mark.size()), Output{&model, i, 0});
      for (const auto& body : model[i].bodies) collect(*body);
    }
  }
  static void add(Table& table, Table& plain_table, const std::string& name, Output output) {
    table[name].push_back(output);
    plain_table[plain(name)].push_back(output);
  }

  static std::optional<TensorPlace> look_up(const Alias& alias, const Table& layers, const Table& tensors,
                                            const std::string& name) {
    if (const auto found = tensors.find(name); !alias.port && found != tensors.end() && found->second.size() == 1)
      return place(found->second[0], alias);
    const auto found = layers.find(name);
    if (found == layers.end() || found->second.size() != 1) return std::nullopt;
    auto output = found->second[0];
    output.port = alias.port.value_or(0);
    if (output.port >= std::max((*output.model)[output.node].output_count, 1)) return std::nullopt;
    return place(output, alias);
  }
  static TensorPlace place(const Output& output, const Alias& alias) {
    return {output.model, output.node, output.port, alias.iterations};
  }

  Table layers_, tensors_, plain_layers_, plain_tensors_;
  std::map<std::string, Output, std::less<>> modules_;
};

TensorPlace result_place(const Model& model, int k) { return {&model, model.results[k], 0, {}}; }

}  // namespace

void share_with_results(const Model& model, Reference& reference) {
  for (int k = 0; k < std::ssize(model.results); ++k) {
    const auto result = result_place(model, k);
    const auto from = model[result.node].inputs.at(0);
    const TensorPlace producer{&model, from.node, from.port, {}};
    const auto& tensors = reference.tensors();
    const auto of_result = tensors.find(result), of_producer = tensors.find(producer);
    if (of_result == tensors.end() && of_producer != tensors.end()) reference.put(result, of_producer->second);
    else if (of_result != tensors.end() && of_producer == tensors.end()) reference.put(producer, of_result->second);
  }
}

std::vector<Alias> aliases_of(std::string_view key) {
  std::vector<Alias> list{{std::string(key), {}, {}}};
  auto unordered = key;
  while (!unordered.empty() && is_digit(unordered.front())) unordered.remove_prefix(1);
  std::vector<std::string_view> names{key};
  if (unordered.size() > 1 && unordered.size() < key.size() && unordered.front() == '_')
    names.push_back(unordered.substr(1));
  for (const auto name : names) {
    // "split:1", "split.1", and where a tool that calls layers so appends its own number, "split:1.0".
    for (auto rest = number_at_end(name); rest && rest->first.size() > 1;) {
      if (rest->first.back() != '.' && rest->first.back() != ':') break;
      const auto stem = rest->first.substr(0, rest->first.size() - 1);
      list.push_back(with_iterations(stem, rest->second));
      rest = number_at_end(stem);
    }
    list.push_back(with_iterations(name, {}));
  }
  return list;
}

Tensor Reference::at(const TensorPlace& place) const {
  const auto found = tensors_.find(place);
  return found == tensors_.end() ? Tensor() : found->second();
}

NameMap parse_name_map(std::string_view text, std::string_view where) {
  NameMap names;
  std::size_t number = 0;
  for (const auto line : split(text, '\n')) {
    ++number;
    const auto content = trim(line);
    if (content.empty() || content.front() == '#') continue;
    auto at = content.find('\t');
    auto length = std::size_t{1};
    if (at == content.npos) {
      at = content.find(" = ");
      length = 3;
    }
    if (at == content.npos)
      fail(Code::E0705, "{}:{}: expected NAME IN THE REFERENCE = NAME IN THE MODEL, or a tab between them", where,
           number);
    names.insert_or_assign(std::string(trim(content.substr(0, at))), std::string(trim(content.substr(at + length))));
  }
  return names;
}

Reference match(const Model& model, std::vector<Saved> saved, const NameMap& map) {
  const Names names(model);
  Reference reference;
  auto unused = map;
  for (auto& tensor : saved) {
    if (tensor.result && *tensor.result >= 0 && *tensor.result < std::ssize(model.results)) {
      reference.put(result_place(model, *tensor.result), std::move(tensor.read));
      continue;
    }
    std::vector<Alias> aliases;
    for (const auto& alias : tensor.aliases) {
      const auto renamed = map.find(alias.name);
      if (renamed == map.end()) continue;
      for (auto& meant : aliases_of(renamed->second)) {
        if (names.find(meant)) unused.erase(alias.name);
        aliases.push_back(std::move(meant));
      }
    }
    aliases.insert(aliases.end(), tensor.aliases.begin(), tensor.aliases.end());
    std::optional<TensorPlace> place;
    for (auto alias = aliases.begin(); alias != aliases.end() && !place; ++alias) place = names.find(*alias);
    if (place) reference.put(std::move(*place), std::move(tensor.read));
    else reference.unmatched.push_back(std::move(tensor.name));
  }
  for (const auto& [from, to] : unused) reference.unused.push_back(fmt::format("{} = {}", from, to));
  share_with_results(model, reference);
  return reference;
}

}  // namespace ovir::tools
