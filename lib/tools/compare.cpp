#include "tools/compare.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace ovir::tools {
namespace {

ElementType declared_type(const Event& event, std::size_t port) {
  return port < event.declared.size() ? event.declared[port] : event.outputs[port].type();
}

/// The run as it is, against the reference.
class Meter final : public Observer {
 public:
  Meter(const Reference& reference, const CompareOptions& options, const std::map<TensorPlace, const OwnError*>& own,
        Comparison& to)
      : reference_(reference), options_(options), own_(own), to_(to) {}

  ovir::Verdict after(Event& event) override {
    const auto kind = event.node.op->kind;
    for (int port = 0; port < std::ssize(event.outputs); ++port) {
      const auto& value = event.outputs[port];
      if (!value) continue;
      const TensorPlace place{&event.model, event.index, port, {event.iterations.begin(), event.iterations.end()}};
      if (options_.wants && !options_.wants(place)) continue;
      const auto saved = reference_.at(place);
      if (!saved) {
        to_.without_reference += kind == Kind::compute ? 1 : 0;
        continue;
      }
      seen_.insert(place);
      add(place, declared_type(event, port), value, saved, kind == Kind::result && event.model.path.empty());
      if (options_.fail_fast && !to_.within) return ovir::Verdict::stop;
    }
    return ovir::Verdict::go_on;
  }

  bool saw(const TensorPlace& place) const { return seen_.contains(place); }

 private:
  void add(const TensorPlace& place, ElementType type, const Tensor& value, const Tensor& saved, bool is_output) {
    Compared c;
    c.place = place;
    c.type = type;
    c.shape = value.shape();
    c.difference = measure(value, saved, options_.tolerance(place));
    for (const auto k : options_.top) c.top.push_back(top_agreement(value, saved, k));
    if (const auto own = own_.find(place); own != own_.end()) {
      c.own = *own->second;
      c.own->value = Tensor();
      if (own->second->value.shape() == value.shape()) c.inherited = measure(value, own->second->value, {}).max_abs;
    }
    to_.within = to_.within && c.difference.within;
    (is_output ? to_.outputs : to_.layers).push_back(std::move(c));
  }

  const Reference& reference_;
  const CompareOptions& options_;
  const std::map<TensorPlace, const OwnError*>& own_;
  Comparison& to_;
  std::set<TensorPlace> seen_;
};

class Keep final : public Observer {
 public:
  explicit Keep(Reference& to) : to_(to) {}
  ovir::Verdict after(Event& event) override {
    for (int port = 0; port < std::ssize(event.outputs); ++port)
      if (event.outputs[port])
        to_.put({&event.model, event.index, port, {event.iterations.begin(), event.iterations.end()}},
                event.outputs[port].owned());
    return ovir::Verdict::go_on;
  }

 private:
  Reference& to_;
};

/// One place of a run as it is.
class Look final : public Observer {
 public:
  explicit Look(const TensorPlace& place) : place_(place) {}
  bool wants(const Model& model, int node) override { return &model == place_.model && node == place_.node; }
  ovir::Verdict after(Event& event) override {
    if (!std::equal(event.iterations.begin(), event.iterations.end(), place_.iterations.begin(),
                    place_.iterations.end()))
      return ovir::Verdict::go_on;
    value = event.outputs[place_.port].owned();
    return ovir::Verdict::stop;
  }
  Tensor value;

 private:
  const TensorPlace& place_;
};

double badness(const Compared& c) {
  const auto& d = c.difference;
  if (!d.unlike.empty() || d.nan.first || d.inf.first) return std::numeric_limits<double>::infinity();
  return d.within ? d.max_rel / (1 + d.max_rel) - 1 : 1 + d.max_abs;
}

}  // namespace

const Compared* Comparison::worst() const {
  const Compared* worst = nullptr;
  for (const auto* list : {&layers, &outputs})
    for (const auto& c : *list)
      if (!c.difference.equal() && (!worst || badness(c) > badness(*worst))) worst = &c;
  return worst;
}

std::size_t count_tensors(const std::vector<TensorPlace>& places) {
  std::set<TensorPlace> tensors;
  for (auto place : places) {
    if (place.at().op->kind == Kind::result) {
      const auto from = place.at().inputs.front();
      place.node = from.node;
      place.port = from.port;
    }
    tensors.insert(std::move(place));
  }
  return tensors.size();
}

Comparison compare(Session& session, std::span<const Tensor> inputs, const Reference& reference,
                   const CompareOptions& options) {
  std::vector<OwnError> errors;
  if (options.own) errors = own_errors(session, inputs, reference, {options.allowance, false});
  std::map<TensorPlace, const OwnError*> own;
  for (const auto& e : errors) own.emplace(e.place, &e);

  Comparison comparison;
  Meter meter(reference, options, own, comparison);
  session.reset_states();
  session.run(inputs, &meter);
  session.reset_states();
  if (!session.stopped())
    for (const auto& [place, read] : reference.tensors())
      if (!meter.saw(place) && (!options.wants || options.wants(place))) comparison.not_computed.push_back(place);
  return comparison;
}

Comparison compare_outputs(const Model& model, std::span<const Tensor> values, const Reference& reference) {
  Comparison comparison;
  for (std::size_t k = 0; k < values.size(); ++k) {
    Compared c;
    c.place = {&model, model.results[k], 0, {}};
    c.type = values[k].type();
    c.shape = values[k].shape();
    const auto saved = reference.at(c.place);
    if (!saved) {
      ++comparison.without_reference;
      continue;
    }
    c.difference = measure(values[k], saved, {});
    comparison.within = comparison.within && c.difference.within;
    comparison.outputs.push_back(std::move(c));
  }
  return comparison;
}

void keep_values(Session& session, std::span<const Tensor> inputs, Reference& to) {
  Keep keep(to);
  session.reset_states();
  session.run(inputs, &keep);
  session.reset_states();
}

Bisection bisect(Session& session, std::span<const Tensor> inputs, const Reference& reference,
                 const Allowance& allowance) {
  const auto errors = own_errors(session, inputs, reference, {allowance, true});
  Bisection result;
  std::vector<TensorPlace> places;
  for (const auto& e : errors) places.push_back(e.place);
  result.judged = count_tensors(places);
  const auto wrong =
      std::find_if(errors.begin(), errors.end(), [](const OwnError& e) { return e.judgment == OwnVerdict::wrong; });
  if (wrong == errors.end()) return result;
  Look look(wrong->place);
  session.reset_states();
  session.run(inputs, &look);
  session.reset_states();
  Culprit culprit{*wrong, {}, 0};
  if (look.value) {
    culprit.difference = measure(look.value, reference.at(wrong->place), {});
    culprit.inherited = measure(look.value, wrong->value, {}).max_abs;
  }
  result.found = std::move(culprit);
  return result;
}

}  // namespace ovir::tools
