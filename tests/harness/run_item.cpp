#include "run_item.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <fmt/core.h>

#include "bound.hpp"
#include "model_text.hpp"
#include "values.hpp"
#include "ways.hpp"

namespace ovir::spec {
namespace {

/// How the inputs of a value case reach the operation.
enum class Way { fixed, dynamic, unranked, mixed, constant };
constexpr Way kWays[] = {Way::fixed, Way::dynamic, Way::unranked, Way::mixed, Way::constant};

std::string_view name(Way way) {
  constexpr std::string_view names[] = {"static shapes", "dims unknown", "rank unknown",
                                        "first input dynamic, others constant", "all inputs constant"};
  return names[static_cast<std::size_t>(way)];
}

PartialShape blurred(const PartialShape& shape, Way way) {
  if (way == Way::unranked) return PartialShape::unknown_rank();
  return way == Way::dynamic || way == Way::mixed ? PartialShape::of_rank(shape.rank()) : shape;
}

std::string text_of(const Diagnostic& d) {
  const auto at = d.port ? " at " + d.port->name : d.attribute.empty() ? "" : " at attribute " + d.attribute;
  return fmt::format("{}{}: {}", to_string(d.code), at, d.message);
}

std::string text_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const auto& d : diagnostics.all()) text += (text.empty() ? "" : "; ") + text_of(d);
  return text;
}

struct Loaded {
  std::shared_ptr<const Model> model;
  Facts facts;
  Diagnostics diagnostics;
  Fact output(std::size_t k) const {
    return facts.of(model->nodes[static_cast<std::size_t>(model->results.at(k))].inputs.at(0));
  }
};

/// One item for one operation version.
class Runner {
 public:
  Runner(const Item& item, const OpDef& op, const Version& version, int opset, const Scratch& scratch, Tally& tally)
      : item_(item),
        op_(op),
        version_(version),
        bound_(bind(item, version)),
        opset_(opset),
        scratch_(scratch),
        tally_(tally) {}

  /// Throws std::runtime_error with what went wrong.
  void run() {
    if (item_.kind == ItemKind::values) run_values();
    else if (item_.kind == ItemKind::shape) run_shape();
    else run_reject();
  }

 private:
  template <class... A>
  [[noreturn]] void fail(fmt::format_string<A...> text, A&&... args) const {
    throw std::runtime_error(how_ + fmt::format(text, std::forward<A>(args)...));
  }

  Loaded load(std::vector<Source> inputs, std::vector<ElementType> outputs) {
    const auto text = model_text(
        {std::string(op_.type), opset_, item_.attributes, std::move(inputs), std::move(outputs), item_.bodies});
    const auto path = scratch_.write(text.xml, text.bin);
    Loaded l;
    l.model = ovir::load(path, {}, l.diagnostics);
    if (!l.model) fail("the model could not be read: {}", text_of(l.diagnostics));
    if (l.model->complete) l.facts = infer(*l.model, {.shapes = {}, .compare_declared = false}, l.diagnostics);
    return l;
  }

  static Source source(const BoundPort& port, std::size_t i) {
    return {fmt::format("{}.{}", port.def->name, i), port.text->type, port.text->shape, {}, {}};
  }

  static Tensor tensor(const BoundPort& port, ElementType type) {
    const auto shape = port.text->shape.to_shape();
    return make_tensor(type, shape, expand(*port.text, shape));
  }

  void run_values() {
    for (const auto* list : {&bound_.inputs, &bound_.outputs})
      for (const auto& p : *list)
        if (!p.text->shape.is_static()) fail("{}: a case needs static shapes", p.text->name);
    if (bound_.outputs.empty()) fail("what is expected?");
    for (const auto& types : type_variants(item_, bound_)) {
      std::string replaced;
      for (const auto& [variable, type] : types) replaced += fmt::format("{} = {}, ", variable, ovir::name(type));
      std::vector<Tensor> inputs, expected;
      for (const auto& p : bound_.inputs) {
        if (!p.text->has_values && p.text->shape.element_count() != Dim(0))
          fail("input {} has no values", p.text->name);
        inputs.push_back(tensor(p, type_of(p, types)));
      }
      for (const auto& p : bound_.outputs) {
        const auto type = type_of(p, types);
        const bool values = p.text->has_values && !item_.shape_only;
        expected.push_back(values ? tensor(p, type) : Tensor());
      }
      for (const auto way : kWays) {
        if (inputs.empty() && way != Way::fixed) continue;
        how_ = fmt::format("({}{}) ", replaced, name(way));
        run_way(way, types, inputs, expected);
      }
    }
  }

  void run_way(Way way, const Types& types, const std::vector<Tensor>& inputs, const std::vector<Tensor>& expected) {
    std::vector<Source> sources;
    std::vector<Tensor> given;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& p = bound_.inputs[i];
      auto s = source(p, i);
      s.type = inputs[i].type();
      s.shape = blurred(p.text->shape, way);
      const bool always =
          std::find(item_.constants.begin(), item_.constants.end(), p.text->name) != item_.constants.end();
      if (always || way == Way::constant || (way == Way::mixed && i > 0)) s.constant = inputs[i];
      else given.push_back(inputs[i]);
      sources.push_back(std::move(s));
    }
    std::vector<ElementType> outputs;
    for (const auto& p : bound_.outputs) outputs.push_back(type_of(p, types));
    const auto loaded = load(std::move(sources), outputs);
    if (!loaded.diagnostics.all().empty()) fail("{}", text_of(loaded.diagnostics));
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const auto fact = loaded.output(k);
      const auto actual = bound_.outputs[k].text->shape.to_shape();
      // ConvertPromoteTypes: the type may depend on the rank.
      const bool open = way == Way::unranked && fact.type == ElementType::dynamic;
      if (fact.type != outputs[k] && !open)
        fail("output {}: expected type {}, inferred {}", k, ovir::name(outputs[k]), ovir::name(fact.type));
      if (way == Way::constant && !version_.sized_by_data && !fact.shape.is_static())
        fail("output {}: all inputs are known, but the shape stays {}; is it sized_by_data?", k, to_string(fact.shape));
      if (way == Way::fixed && version_.shape_only && !fact.value)
        fail("output {}: all shapes are known, but not the value; is it shape_only?", k);
      if (!fact.shape.contains(actual))
        fail("output {}: expected shape {}, inferred {}", k, to_string(actual), to_string(fact.shape));
    }
    // Constant inputs once as folded and otherwise as computed; runs that repeat keep what the first one found.
    const auto how = how_;
    for (const auto& run : testing::kWays) {
      how_ = fmt::format("{}{}: ", how, run.name);
      try {
        auto session = compile(loaded.model, loaded.facts, testing::options_of(run, run.tier == Tier::fast), runtime_);
        if (version_.pure && !given.empty()) testing::run_with_other_data(session, given);
        for (int repeat = 0; repeat < (run.expected_runs > 1 ? 2 : 1); ++repeat)
          judge(session.run(given), expected, outputs);
      } catch (const Failure& failure) {
        fail("{}", text_of(failure.diagnostic));
      }
    }
  }

  void judge(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
             const std::vector<ElementType>& types) {
    ++tally_.runs;
    if (actual.size() != expected.size()) fail("expected {} outputs, got {}", expected.size(), actual.size());
    for (std::size_t k = 0; k < actual.size(); ++k) {
      const auto label = actual.size() > 1 ? fmt::format("output {}: ", k) : std::string();
      if (expected[k]) {
        if (const auto wrong = difference(actual[k], expected[k], {item_.rtol, item_.atol}); !wrong.empty())
          fail("{}{}", label, wrong);
      } else if (actual[k].type() != types[k] || actual[k].shape() != bound_.outputs[k].text->shape.to_shape()) {
        fail("{}expected {}{}, got {}{}", label, ovir::name(types[k]), to_string(bound_.outputs[k].text->shape),
             ovir::name(actual[k].type()), to_string(actual[k].shape()));
      }
    }
  }

  /// As written: with values a Constant, else a Parameter. Values with unknowns come from a ShapeOf.
  std::vector<Source> written_sources() {
    std::vector<Source> sources;
    for (std::size_t i = 0; i < bound_.inputs.size(); ++i) {
      const auto& p = bound_.inputs[i];
      auto s = source(p, i);
      const auto open = [](const Word& w) { return !w.quoted && (w.text == "?" || w.text.find("..") != w.text.npos); };
      if (p.text->has_values && std::any_of(p.text->values.begin(), p.text->values.end(), open)) {
        for (const auto& w : p.text->values) {
          const auto bounds = open(w) ? parse_shape("[" + w.text + "]") : std::nullopt;
          if (open(w) && !bounds) fail("{} is neither a number nor bounds", w.text);
          s.parts.push_back({bounds ? Tensor() : make_tensor(s.type, {1}, {&w, 1}), bounds.value_or(PartialShape())});
        }
      } else if (p.text->has_values) {
        if (!p.text->shape.is_static()) fail("{} has values, so its shape must be known", p.text->name);
        s.constant = tensor(p, p.text->type);
      }
      sources.push_back(std::move(s));
    }
    return sources;
  }

  void run_shape() {
    if (!bound_.outputs.empty()) fail("{} is an output: outputs come after ->", bound_.outputs[0].text->name);
    const auto count = item_.after_arrow.size();
    const auto loaded = load(written_sources(), std::vector(count, ElementType::dynamic));
    ++tally_.runs;
    if (!loaded.diagnostics.all().empty()) fail("{}", text_of(loaded.diagnostics));
    for (std::size_t k = 0; k < count; ++k) {
      const auto fact = loaded.output(k);
      const auto& wanted = item_.after_arrow[k];
      if (fact.type != wanted.type || fact.shape != wanted.shape)
        fail("output {}: expected {}{}, got {}{}", k, ovir::name(wanted.type), to_string(wanted.shape),
             ovir::name(fact.type), to_string(fact.shape));
    }
  }

  /// As many outputs as are written after ->, else those that the operation must have.
  std::vector<ElementType> rejected_outputs() const {
    auto count = item_.after_arrow.size();
    if (count == 0)
      count = static_cast<std::size_t>(std::count_if(version_.outputs.begin(), version_.outputs.end(),
                                                     [](const PortDef& p) { return p.arity != Arity::optional; }));
    return std::vector(count, ElementType::dynamic);
  }

  std::string wanted() const { return to_string(*item_.error) + (item_.at.empty() ? "" : " at " + item_.at); }

  void run_reject() {
    if (!bound_.outputs.empty()) fail("{} is no input", bound_.outputs[0].text->name);
    ++tally_.runs;
    if (!item_.when_run) {
      const auto diagnostics = load(written_sources(), rejected_outputs()).diagnostics;
      if (diagnostics.errors() == 0) fail("expected {}, but it was accepted", wanted());
      const auto& d = *std::find_if(diagnostics.all().begin(), diagnostics.all().end(),
                                    [](const Diagnostic& x) { return x.severity == Severity::error; });
      if (d.code != *item_.error || !is_at(d)) fail("expected {}, got {}", wanted(), text_of(d));
      if (diagnostics.errors() > 1) fail("expected one error, got {}", text_of(diagnostics));
      checked_ = d;
    }
    const auto known = [](const BoundPort& p) { return p.text->shape.is_static(); };
    if (std::all_of(bound_.inputs.begin(), bound_.inputs.end(), known)) reject_when_run();
  }

  /// An attribute that is missing has no place; the message names it.
  bool is_at(const Diagnostic& d) const {
    const auto place = d.port ? d.port->name : d.attribute;
    return item_.at.empty() || place == item_.at ||
           (place.empty() && d.message.find("\"" + item_.at + "\"") != d.message.npos);
  }

  /// What the check demands is demanded of the data too, in the same words.
  void reject_when_run() {
    how_ = "(with dims unknown) ";
    std::vector<Source> sources;
    std::vector<Tensor> given;
    for (std::size_t i = 0; i < bound_.inputs.size(); ++i) {
      const auto& p = bound_.inputs[i];
      auto s = source(p, i);
      s.shape = blurred(p.text->shape, Way::dynamic);
      const auto shape = p.text->shape.to_shape();
      const auto zeros = std::vector<Word>(static_cast<std::size_t>(shape.count()), Word{"0", false, 0});
      const auto value = make_tensor(p.text->type, shape, p.text->has_values ? expand(*p.text, shape) : zeros);
      if (std::find(item_.constants.begin(), item_.constants.end(), p.text->name) != item_.constants.end())
        s.constant = value;
      else given.push_back(value);
      sources.push_back(std::move(s));
    }
    const auto loaded = load(std::move(sources), rejected_outputs());
    if (loaded.diagnostics.errors() > 0) {
      if (item_.when_run) fail("expected {} when run, but the check says {}", wanted(), text_of(loaded.diagnostics));
      const auto same = [&](const Diagnostic& d) { return d.code == *item_.error; };
      if (std::none_of(loaded.diagnostics.all().begin(), loaded.diagnostics.all().end(), same))
        fail("expected {}, got {}", wanted(), text_of(loaded.diagnostics));
      return;
    }
    for (const auto& way : testing::kWays) {
      try {
        compile(loaded.model, loaded.facts, testing::options_of(way), runtime_).run(given);
      } catch (const Failure& failure) {
        const auto& d = failure.diagnostic;
        if (d.code != *item_.error || (checked_ ? text_of(d) != text_of(*checked_) : !is_at(d)))
          fail("expected {} when run, got {}", checked_ ? text_of(*checked_) : wanted(), text_of(d));
        continue;
      }
      fail("expected {} when run, but it ran", wanted());
    }
  }

  const Item& item_;
  const OpDef& op_;
  const Version& version_;
  Bound bound_;
  int opset_;
  const Scratch& scratch_;
  Tally& tally_;
  std::string how_;
  std::shared_ptr<Runtime> runtime_ = std::make_shared<Runtime>(RuntimeOptions{.threads = 2, .memory = 0, .time = {}});
  std::optional<Diagnostic> checked_;  ///< what the check said of a reject
};

std::string_view word(ItemKind kind) {
  return kind == ItemKind::values ? "case" : kind == ItemKind::shape ? "shape" : "reject";
}

}  // namespace

Scratch::Scratch() : folder_(std::filesystem::temp_directory_path() / fmt::format("ovir-spec-{}", getpid())) {
  std::filesystem::create_directories(folder_);
}
Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string Scratch::write(const std::string& xml, const std::string& bin) const {
  const auto put = [&](const char* file, const std::string& content) {
    const auto path = folder_ / file;
    std::filesystem::remove(path);  // a mapped file of an earlier model must keep its bytes
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return path.string();
  };
  put("model.bin", bin);
  return put("model.xml", xml);
}

void run_file(const SpecFile& file, const Scratch& scratch, Tally& tally) {
  for (const auto& section : file.sections) {
    for (const auto& [type, opset] : section.ops) {
      const auto* op = operations().find(type);
      const auto* version = op ? version_in(*op, opset) : nullptr;
      if (!version) {
        tally.failures.push_back(
            fmt::format("{}:{}: opset{} of this build holds no {}", file.path, section.line, opset, type));
        continue;
      }
      for (const auto& item : section.items) {
        ++tally.items;
        try {
          Runner(item, *op, *version, opset, scratch, tally).run();
        } catch (const std::exception& error) {
          tally.failures.push_back(fmt::format("{}:{}: {} {} [{}-{}] {}", file.path, item.line, word(item.kind),
                                               item.name, type, opset, error.what()));
        }
      }
    }
  }
}

std::vector<std::string> uncovered(const std::vector<SpecFile>& files) {
  std::map<const Version*, std::set<std::string>> shown;
  for (const auto& file : files)
    for (const auto& section : file.sections)
      for (const auto& [type, opset] : section.ops) {
        const auto* op = operations().find(type);
        const auto* version = op ? version_in(*op, opset) : nullptr;
        if (!version) continue;
        auto& has = shown[version];
        for (const auto& [what, why] : section.exempt) has.insert(what);
        for (const auto& item : section.items) {
          const auto any = [&](auto&& is) { return std::any_of(item.ports.begin(), item.ports.end(), is); };
          if (item.kind == ItemKind::reject) has.insert("reject");
          if (item.kind == ItemKind::shape && any([](const PortText& p) { return !p.shape.is_static(); }))
            has.insert("shape");
          if (item.kind == ItemKind::values && !item.shape_only && any([](const PortText& p) { return p.has_values; }))
            has.insert("values");
        }
      }
  std::vector<std::string> lacking;
  for (const auto* op : operations().ops) {
    if (op->kind != Kind::compute) continue;
    for (const auto& version : op->versions) {
      std::string missing;
      for (const std::string what : {"values", "shape", "reject"})
        if (!shown[&version].contains(what)) missing += (missing.empty() ? "" : ", ") + what;
      if (!missing.empty()) lacking.push_back(fmt::format("{}-{}: no {}", op->type, version.since, missing));
    }
  }
  return lacking;
}

}  // namespace ovir::spec
