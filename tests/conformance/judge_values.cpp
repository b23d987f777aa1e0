// Value cases and real models: run the model on the inputs, compare with what OpenVINO or the specification gave.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/core.h>

#include "harness/ways.hpp"
#include "io/npy.hpp"
#include "io/storable.hpp"
#include "judge.hpp"

namespace ovir::conformance {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// As numpy.isclose; with `rms`, the relative root-mean-square error decides instead.
struct Tolerance {
  double rtol = 0, atol = 0;
  std::optional<double> rms;
};

double largest(const std::vector<double>& values) {
  double max = 0;
  for (const auto v : values)
    if (!std::isnan(v)) max = std::max(max, std::abs(v));
  return values.empty() ? 1.0 : max;
}

Tolerance tolerance_of(const json& meta, const std::vector<double>& expected) {
  if (meta.contains("rtol")) return {meta["rtol"], meta["atol"], {}};
  const auto& t = meta.at("tolerance");
  Tolerance result{t.value("rtol", 0.0), t.value("atol_of_max", 0.0) * std::max(largest(expected), 1e-6), {}};
  if (t.contains("rms")) result.rms = t["rms"].get<double>();
  return result;
}

std::string described(const Tensor& t) { return fmt::format("{}{}", name(t.type()), to_string(t.shape())); }

bool close(double a, double e, const Tolerance& t) {
  if (std::isnan(a) || std::isnan(e)) return std::isnan(a) && std::isnan(e);
  if (std::isinf(a) || std::isinf(e)) return a == e;
  return std::abs(a - e) <= t.atol + t.rtol * std::abs(e);
}

std::string difference(const Tensor& actual, const Tensor& expected, const json& meta) {
  if (actual.type() != expected.type() || actual.shape() != expected.shape())
    return fmt::format("{}, not {}", described(actual), described(expected));
  if (meta.value("check", "") == "shape") return "";
  i64 wrong = 0;
  double worst = 0;
  if (expected.type() == ElementType::string) {
    for (i64 i = 0; i < expected.size(); ++i)
      wrong += actual.data<std::string_view>()[i] != expected.data<std::string_view>()[i];
    return wrong ? fmt::format("{}/{} strings differ", wrong, expected.size()) : "";
  }
  const auto a = to_f64(actual), e = to_f64(expected);
  const auto t = tolerance_of(meta, e);
  const bool real = contains(kFloat, expected.type());
  if (real && t.rms) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < e.size(); ++i) error += (a[i] - e[i]) * (a[i] - e[i]), norm += e[i] * e[i];
    const auto relative = std::sqrt(error) / std::max(std::sqrt(norm), 1e-12);
    return relative <= *t.rms ? "" : fmt::format("relative RMS error {:.3g} > {}", relative, *t.rms);
  }
  // Integers exactly, but colors and the like, whose tolerance is 1 or more, may be rounded otherwise.
  const bool rounded = !real && t.atol >= 1 && expected.type() != ElementType::boolean;
  const bool wide = expected.type() == ElementType::i64 || expected.type() == ElementType::u64;
  const auto exact_a = wide ? to_i64(actual) : std::vector<i64>(),
             exact_e = wide ? to_i64(expected) : std::vector<i64>();
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool same = real      ? close(a[i], e[i], t)
                      : rounded ? std::abs(a[i] - e[i]) <= t.atol
                      : wide    ? exact_a[i] == exact_e[i]
                                : a[i] == e[i];
    if (same) continue;
    ++wrong;
    if (const auto d = std::abs(a[i] - e[i]); !std::isnan(d)) worst = std::max(worst, d);
  }
  return wrong ? fmt::format("{}/{} differ, worst {:.3g}", wrong, expected.size(), worst) : "";
}

std::vector<std::string> names_of(const Model& model, std::size_t k) {
  const auto& layer = *model[model.parameters[k]].layer;
  auto names = layer.outputs.at(0).names;
  names.push_back(layer.name);
  return names;
}

std::vector<Tensor> read_inputs(const Loaded& loaded, const fs::path& folder) {
  std::vector<Tensor> inputs;
  for (std::size_t k = 0; k < loaded.model->parameters.size(); ++k) {
    fs::path file;
    for (const auto& name : names_of(*loaded.model, k))
      if (auto candidate = folder / (name + ".npy"); fs::exists(candidate)) file = candidate;
    if (file.empty()) throw std::runtime_error("no input for " + loaded.model->parameter_name(static_cast<int>(k)));
    const auto type = inferred_fact(loaded, loaded.model->parameters[k], 0).type;
    auto tensor = io::read_npy(file.string());
    const bool as_is = tensor.type() == type || tensor.type() == exchanged_type(*loaded.model, type, true);
    inputs.push_back(as_is ? tensor : io::narrow(tensor, type));
  }
  return inputs;
}

int step_count(const json& meta) {
  if (!meta.contains("steps")) return 0;
  const auto& steps = meta["steps"];
  if (steps.is_array()) return steps.size() > 1 ? static_cast<int>(steps.size()) : 0;
  return steps.is_number_integer() ? steps.get<int>() : 0;
}

/// The expected results of one step: position of the Result and file.
std::vector<std::pair<std::size_t, fs::path>> expected_files(const fs::path& folder) {
  std::vector<std::pair<std::size_t, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".npy") files.emplace_back(std::stoul(entry.path().stem().string()), entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// What inference said of a value, held against the value. Empty: it holds.
std::string contradiction(const Fact& fact, const std::string& place, const Tensor& value) {
  if (!fact.shape.contains(value.shape()))
    return fmt::format("{} was inferred as {} but is {}", place, to_string(fact.shape), to_string(value.shape()));
  if (!fact.bounds || value.type() == ElementType::string) return "";
  const auto values = to_f64(value);
  if (values.size() != fact.bounds->size())
    return fmt::format("{}: bounds of {} elements, but it has {}", place, fact.bounds->size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] < (*fact.bounds)[i].lo || values[i] > (*fact.bounds)[i].hi)
      return fmt::format("{}[{}] was inferred in {}..{} but is {}", place, i, (*fact.bounds)[i].lo,
                         (*fact.bounds)[i].hi, values[i]);
  return "";
}

Session open(const Loaded& loaded, const testing::Way& way, int threads) {
  auto options = testing::options_of(way);
  options.runtime.threads = threads;
  return compile(loaded.model, loaded.facts, options);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  if (a.type() == ElementType::string)
    return std::ranges::equal(a.values<std::string_view>(), b.values<std::string_view>());
  return std::equal(a.bytes(), a.bytes() + a.byte_size(), b.bytes());
}

/// Neither who watches a run nor how many threads it has changes anything of it, and inference excluded nothing that is
/// seen.
class Watched final : private Observer {
 public:
  Watched(const Loaded& loaded, const testing::Way& way, int threads)
      : loaded_(loaded), session_(open(loaded, way, threads)) {}

  std::string run(const std::vector<Tensor>& inputs, const std::vector<Tensor>& unwatched, bool random) {
    wrong_.clear();
    seen_.clear();
    const auto results = session_.run(inputs, this);
    for (std::size_t k = 0; k < results.size() && wrong_.empty() && !random; ++k)
      if (!same_bits(results[k], unwatched[k]))
        wrong_ = fmt::format("output {}: not the same bits when it is watched, on another number of threads", k);
    return wrong_;
  }

 private:
  ovir::Verdict after(Event& event) override {
    if (&event.model != loaded_.model.get() || !wrong_.empty()) return ovir::Verdict::go_on;  // in a body
    const auto& facts = loaded_.facts.outputs.at(static_cast<std::size_t>(event.index));
    if (!seen_.insert(event.index).second) wrong_ = fmt::format("{} was seen twice", event.node.layer->name);
    for (std::size_t o = 0; o < event.outputs.size() && wrong_.empty(); ++o)
      if (event.outputs[o])
        wrong_ = contradiction(facts.at(o), fmt::format("{}:{}", event.node.layer->name, o), event.outputs[o]);
    return ovir::Verdict::go_on;
  }

  const Loaded& loaded_;
  Session session_;
  std::set<int> seen_;
  std::string wrong_;
};

/// Runs a case in one of the ways; throws std::runtime_error with what went wrong. The number of tensors that were
/// compared.
std::size_t run(const Loaded& loaded, const fs::path& folder, const json& meta, const testing::Way& way) {
  const auto steps = step_count(meta);
  const auto reference =
      folder / (meta.contains("tolerance") ? meta["tolerance"].value("against", "expected") : "expected");
  auto session = open(loaded, way, 4);
  Watched watched(loaded, way, 1);
  std::size_t compared = 0;
  const auto demand = [](const std::string& wrong) {
    if (!wrong.empty()) throw std::runtime_error(wrong);
  };
  for (int s = 0; s < std::max(steps, 1); ++s) {
    const auto sub = steps ? std::to_string(s) : std::string();
    const auto inputs = read_inputs(loaded, folder / "inputs" / sub);
    const auto results = session.run(inputs);
    demand(watched.run(inputs, results, meta.value("check", "") == "shape"));
    for (const auto& [k, file] : expected_files(reference / sub)) {
      if (k >= results.size()) throw std::runtime_error(fmt::format("there is no output {}", k));
      const auto wrong = difference(io::storable(results[k]), io::read_npy(file.string()), meta);
      if (!wrong.empty()) throw std::runtime_error(fmt::format("output {} {}: {}", sub, k, wrong));
      const auto inferred = inferred_fact(loaded, loaded.model->results[k], 0).shape;
      if (!inferred.contains(results[k].shape()))
        throw std::runtime_error(fmt::format("result {} was inferred as {} but is {}", k, to_string(inferred),
                                             to_string(results[k].shape())));
      ++compared;
    }
  }
  return compared;
}

}  // namespace

Verdict judge_values(const fs::path& folder, const Options& options) {
  const bool model = !fs::exists(folder / "case.json");
  const auto loaded = load_case(folder);
  if (loaded.diagnostics.errors() > 0) return {first_error(loaded.diagnostics)};
  const auto meta = read_json(folder / (model ? "meta.json" : "case.json"));
  Verdict verdict;
  for (const auto& way : testing::kWays) {
    if (way.tier != options.tier) continue;
    try {
      verdict.compared += run(loaded, folder, meta, way);
    } catch (const Failure& failure) {
      return {fmt::format("{}: {}: {}", way.name, to_string(failure.diagnostic.code), failure.diagnostic.message)};
    } catch (const std::runtime_error& error) {
      return {fmt::format("{}: {}", way.name, error.what())};
    }
  }
  return verdict;
}

}  // namespace ovir::conformance
