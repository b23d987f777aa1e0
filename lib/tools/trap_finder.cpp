#include "tools/trap_finder.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "base/text.hpp"
#include "op/eval_context.hpp"
#include "op/infer_context.hpp"
#include "op/ports.hpp"
#include "op/shared_attrs.hpp"
#include "tools/input_ports.hpp"

namespace ovir::tools {
namespace {

constexpr std::size_t kKeptBytes = std::size_t{256} << 20;
/// What a layer takes that is kept, beside the elements.
constexpr std::size_t kKeptLayer = 1024;
/// Of layers with bodies in bodies.
constexpr std::size_t kEntered = 100'000;
/// Integers that may end as an index are fewer than this.
constexpr i64 kFewIntegers = 1 << 16;

/// What the elements of an index input pick from.
struct Range {
  i64 axis = -1;  ///< of data; -1: none, they count up to a value
  i64 length = 0;
};

/// Of element `at` of an index input; nothing where it cannot be told.
std::optional<Range> range_of(const Event& e, std::size_t port, const Indexes& indexes, i64 at) {
  using Along = Indexes::Along;
  const auto value = [&](int p) { return to_i64(e.inputs[p])[0]; };
  const auto usable = [&](int p) { return p < std::ssize(e.inputs) && e.inputs[p].size() == 1; };
  if (indexes.along == Along::value)
    return usable(indexes.at) ? std::optional(Range{-1, value(indexes.at)}) : std::nullopt;
  const auto& data = e.inputs[indexes.data].shape();
  std::optional<i64> axis;
  if (indexes.along == Along::axis) axis = indexes.at;
  if (indexes.along == Along::attribute) axis = integer_attribute(e.node, "axis");
  if (indexes.along == Along::input && usable(indexes.at)) axis = value(indexes.at);
  if (indexes.along == Along::leading && e.inputs[port].rank() > 0)
    axis = integer_attribute(e.node, "batch_dims").value_or(0) + at % e.inputs[port].shape().back();
  if (axis && *axis < 0) *axis += data.rank();
  if (!axis || *axis < 0 || *axis >= data.rank()) return std::nullopt;
  return Range{*axis, data[*axis]};
}

/// Layers some of whose index elements need not be looked at: only their kernels know which are.
bool has_padding(std::string_view type) { return type == "CTCLoss" || type == "GatherTree"; }

/// Whether integers of this type hold the number, truncated towards zero.
bool holds(ElementType type, double value) {
  if (type == ElementType::boolean) return true;
  const int bits = bit_width(type) - (contains(kSigned, type) ? 1 : 0);
  const double end = std::ldexp(1.0, bits);
  return std::isfinite(value) && value < end && (contains(kSigned, type) ? value > -end - 1 : value > -1);
}

/// The exact result of integer arithmetic, or nothing where it exceeds 64 bits. No value: another operation.
struct Exact {
  bool known = false;
  std::optional<i64> value;
};
Exact exact(std::string_view type, i64 a, i64 b) {
  i64 r = 0;
  if (type == "Add") return {true, __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r)};
  if (type == "Subtract") return {true, __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r)};
  if (type == "Multiply") return {true, __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r)};
  return {};
}

/// 1 in place of what is NaN and, if asked, of infinities.
std::vector<Tensor> cleaned(std::span<const Tensor> in, bool infinities) {
  std::vector<Tensor> list(in.begin(), in.end());
  for (auto& t : list) {
    const auto bad = not_finite(t);
    if (bad.empty()) continue;
    const auto type = t.type();
    auto values = to_f64(t);
    for (const auto i : bad)
      if (auto& v = values[i]; infinities || std::isnan(v)) v = 1;
    t = convert(Tensor::of<double>(ElementType::f64, t.shape(), values), type);
  }
  return list;
}

/// Without operands and outputs.
Computed begun(const Event& e) {
  return {&e.model, e.index, {e.iterations.begin(), e.iterations.end()}, {e.declared.begin(), e.declared.end()},
          {},       {}};
}

/// The first element of an output that the reference kernel leaves as it finds it.
struct Unset {
  int port = 0;
  i64 at = 0;
};
std::optional<Unset> unset_element(const Event& e) {
  const auto& version = *e.node.version;
  if (e.node.op->kind != Kind::compute || !version.pure || !e.node.bodies.empty() || !version.eval) return std::nullopt;
  // Nobody needs the elements of an operand of which the layer takes no more than the type.
  if (std::ranges::any_of(e.inputs, [](const Tensor& t) { return !t; })) return std::nullopt;
  std::vector<Fact> facts;
  for (const auto& t : e.inputs) facts.push_back({t.type(), t.shape(), t, nullptr});
  InferContext infer(*e.node.op, version, e.node.attrs.get(), facts, e.node.output_count);
  infer.check_signature();
  if (version.infer) version.infer(infer);
  std::vector<std::vector<Tensor>> runs;
  for (const int fill : {0x5A, 0xA5}) {
    EvalContext c(version, e.node.attrs.get(), e.inputs, infer.outputs());
    std::vector<Tensor> targets;
    for (int o = 0; o < c.output_count(); ++o) {
      targets.emplace_back();
      if (!c.out_shape(o).is_static() || c.out_type(o) == ElementType::string) continue;
      targets.back() = Tensor(c.out_type(o), c.out_shape(o).to_shape());
      std::memset(targets.back().mutable_bytes(), fill, targets.back().byte_size());
    }
    c.set_type(e.node.op->type);
    c.set_targets(targets);
    version.eval(c);
    runs.push_back(std::move(c.finish()));
  }
  for (int o = 0; o < std::ssize(runs[0]); ++o) {
    const auto &a = runs[0][o], &b = runs[1][o];
    if (!a || a.type() == ElementType::string || a.byte_size() != b.byte_size()) continue;
    const auto differs = std::mismatch(a.bytes(), a.bytes() + a.byte_size(), b.bytes()).first - a.bytes();
    if (differs < static_cast<std::ptrdiff_t>(a.byte_size())) return Unset{o, differs / byte_width(a.type())};
  }
  return std::nullopt;
}

}  // namespace

// --- History

void History::keep(const Event& event, bool all_finite) {
  if (event.inputs.empty()) return;
  const auto few_integers = [](const Tensor& t) {
    return t && contains(kInteger, t.type()) && t.size() <= kFewIntegers;
  };
  if (all_finite && std::none_of(event.outputs.begin(), event.outputs.end(), few_integers)) return;
  auto c = begun(event);
  std::size_t bytes = kKeptLayer;
  for (const auto& t : event.inputs) bytes += t.byte_size();
  for (const auto& t : event.outputs) bytes += t.byte_size();
  if (bytes > kKeptBytes) return;
  for (const auto& t : event.inputs) c.in.push_back(t.copied());
  for (const auto& t : event.outputs) c.out.push_back(t ? t.copied() : Tensor());
  const Key key{&event.node, c.iterations};
  if (!kept_.insert_or_assign(key, std::move(c)).second) return;
  order_.push_back(key);
  bytes_ += bytes;
  while (bytes_ > kKeptBytes) {
    const auto oldest = kept_.find(order_.front());
    bytes_ -= kKeptLayer;
    for (const auto& t : oldest->second.in) bytes_ -= t.byte_size();
    for (const auto& t : oldest->second.out) bytes_ -= t.byte_size();
    kept_.erase(oldest);
    order_.pop_front();
  }
}

void History::enter(const Event& event) {
  if (event.node.bodies.empty()) return;
  std::vector<Shape> shapes;
  for (const auto& t : event.inputs) shapes.push_back(t.shape());
  const Key key{&event.node, {event.iterations.begin(), event.iterations.end()}};
  if (!entered_.insert_or_assign(key, std::move(shapes)).second || key.second.empty()) return;
  entered_order_.push_back(key);
  if (entered_order_.size() <= kEntered) return;
  entered_.erase(entered_order_.front());
  entered_order_.pop_front();
}

const Computed* History::find(const Node& node, const std::vector<i64>& iterations) const {
  const auto at = kept_.find({&node, iterations});
  return at == kept_.end() ? nullptr : &at->second;
}

std::optional<std::vector<i64>> History::last_iteration(const Node& node, const std::vector<i64>& outer) const {
  auto beyond = outer;
  beyond.push_back(std::numeric_limits<i64>::max());
  const auto after = kept_.lower_bound({&node, beyond});
  if (after == kept_.begin()) return std::nullopt;
  const auto& [found, iterations] = std::prev(after)->first;
  const bool inside = found == &node && iterations.size() == beyond.size() &&
                      std::equal(outer.begin(), outer.end(), iterations.begin());
  return inside ? std::optional(iterations) : std::nullopt;
}

const std::vector<Shape>* History::operands_of(const Node& node, const std::vector<i64>& iterations) const {
  const auto at = entered_.find({&node, iterations});
  return at == entered_.end() ? nullptr : &at->second;
}

// --- TrapFinder

bool TrapFinder::wants(const Model& model, int node) {
  if (also_) also_->wants(model, node);
  return true;
}

Verdict TrapFinder::before(const Event& event) {
  if (event.model.path.empty()) whole_ = &event.model;
  running_ = begun(event);
  history_.enter(event);
  if (traps_.has(Trap::oob) && check_indices(event)) return Verdict::stop;
  if (traps_.has(Trap::div0) && check_divisors(event)) return Verdict::stop;
  if (traps_.has(Trap::uninit) && check_state(event)) return Verdict::stop;
  return Verdict::go_on;
}

Verdict TrapFinder::after(Event& event) {
  if (event.model.path.empty()) whole_ = &event.model;
  if (also_ && also_->wants(event.model, event.index) && also_->after(event) == Verdict::stop) return Verdict::stop;
  if (event.node.op->kind == Kind::result) return check_result(event) ? Verdict::stop : Verdict::go_on;
  // A constant is the same in every iteration.
  if (event.node.op->kind == Kind::constant && !event.iterations.empty() && event.iterations.back() > 0)
    return Verdict::go_on;
  bool all_finite = true;
  for (int o = 0; o < std::ssize(event.outputs); ++o) {
    if (!event.outputs[o] || event.outputs[o].size() == 0) continue;
    const auto port = o;
    const auto unusual = find_unusual(event.outputs[o]);
    all_finite = all_finite && unusual.finite();
    if (is_float(event.outputs[o].type()) ? check_floats(event, port, unusual) : check_integers(event, port))
      return Verdict::stop;
  }
  if (traps_.has(Trap::uninit) && check_written(event)) return Verdict::stop;
  history_.keep(event, all_finite);
  return Verdict::go_on;
}

Verdict TrapFinder::hit(const Event& event, Trap trap, bool input, int port, const Tensor& value, i64 at,
                        std::string cause, std::vector<OperandElement> due_to) {
  TrapEvent e;
  e.trap = trap;
  e.input = input;
  e.at = {&event.model,
          event.index,
          port,
          {event.iterations.begin(), event.iterations.end()},
          index_of(value.shape(), at),
          element_text(value, at)};
  e.cause = std::move(cause);
  found_ = std::move(e);
  due_to_ = std::move(due_to);
  if (event.inputs.empty()) return Verdict::stop;
  auto c = begun(event);
  for (const auto& t : event.inputs) c.in.push_back(t.copied());
  for (const auto& t : event.outputs) c.out.push_back(t ? t.copied() : Tensor());
  computed_ = std::move(c);
  return Verdict::stop;
}

bool TrapFinder::check_indices(const Event& e) {
  if (e.node.version->inputs.empty() || has_padding(e.node.op->type)) return false;
  for (int p = 0; p < std::ssize(e.inputs); ++p) {
    const auto& indexes = input_def(*e.node.version, p).indexes;
    if (indexes.along == Indexes::Along::nothing || indexes.data >= std::ssize(e.inputs)) continue;
    const auto values = to_i64(e.inputs[p]);
    const bool per_element = indexes.along == Indexes::Along::leading;
    std::optional<Range> range;
    for (i64 i = 0; i < std::ssize(values); ++i) {
      if (per_element || i == 0) range = range_of(e, p, indexes, i);
      if (!range) break;
      const auto v = values[i];
      if (v < range->length && v >= (indexes.from_end ? -range->length : 0)) continue;
      const auto& data = e.inputs[indexes.data];
      const auto what =
          range->axis < 0 ? std::string("the number of classes")
                          : fmt::format("axis {} of \"{}\" {}{}", range->axis, port_name(*e.node.version, indexes.data),
                                        name(data.type()), to_string(data.shape()));
      hit(e, Trap::oob, true, p, e.inputs[p], i,
          fmt::format("{} is outside {}..{}, {}", v, indexes.from_end ? -range->length : 0, range->length - 1, what),
          {{p, i}});
      return true;
    }
  }
  return false;
}

bool TrapFinder::check_divisors(const Event& e) {
  const auto& type = e.node.op->type;
  if ((type != "Divide" && type != "Mod" && type != "FloorMod") || e.inputs.size() != 2) return false;
  const auto& by = e.inputs[1];
  if (!contains(kInteger, by.type()) || e.inputs[0].size() == 0) return false;
  const auto values = to_i64(by);
  const auto zero = std::find(values.begin(), values.end(), 0);
  if (zero == values.end()) return false;
  hit(e, Trap::div0, true, 1, by, zero - values.begin(), "an integer is divided by 0", {{1, zero - values.begin()}});
  return true;
}

bool TrapFinder::check_state(const Event& e) {
  if (e.node.op->kind != Kind::read_value || !e.inputs.empty()) return false;
  const auto& variable = e.node.as<VariableAttrs>().variable_id;
  if (session_.state(variable)) return false;
  TrapEvent event;
  event.trap = Trap::uninit;
  event.at = {&e.model, e.index, 0, {e.iterations.begin(), e.iterations.end()}, {}, ""};
  event.cause = fmt::format("variable \"{}\" is read before it was given a value", printable(variable));
  found_ = std::move(event);
  return true;
}

bool TrapFinder::check_floats(const Event& e, int port, const Unusual& unusual) {
  const auto& t = e.outputs[port];
  const bool given = e.inputs.empty();
  if (!unusual.finite() && !given && check_origins(e, port)) return true;
  const bool nan = traps_.has(Trap::nan) && unusual.nan >= 0, inf = traps_.has(Trap::inf) && unusual.infinite >= 0;
  const auto tell = [&](Trap trap, i64 at) {
    const auto* const by = e.node.op->kind == Kind::constant ? "the constant holds it" : "the input holds it";
    return hit(e, trap, false, port, t, at, given ? by : "") == Verdict::stop;
  };
  if (inf && (!nan || unusual.infinite < unusual.nan)) return tell(Trap::inf, unusual.infinite);
  if (nan) return tell(Trap::nan, unusual.nan);
  const auto too_large = [&](Trap trap, i64 at, std::string_view type, std::string_view largest) {
    return hit(e, trap, false, port, t, at,
               fmt::format("{} is beyond the largest {}, {}", element_text(t, at), type, largest)) == Verdict::stop;
  };
  if (traps_.has(Trap::f16) && unusual.beyond_f16 >= 0) return too_large(Trap::f16, unusual.beyond_f16, "f16", "65504");
  if (traps_.has(Trap::bf16) && unusual.beyond_bf16 >= 0)
    return too_large(Trap::bf16, unusual.beyond_bf16, "bf16", "3.3895314e+38");
  return false;
}

bool TrapFinder::check_origins(const Event& e, int port) {
  if (!traps_.has(Trap::div0) && !traps_.has(Trap::domain) && !traps_.has(Trap::overflow)) return false;
  if (e.node.op->kind != Kind::compute || !e.node.bodies.empty()) return false;
  const auto& t = e.outputs[port];
  const auto bad = not_finite(t);
  const Call call{&e.node, e.inputs};
  // Element-wise or not is a matter of the layer: its first element says.
  if (port == 0 && elementwise_operands(call, t, bad[0])) return check_elementwise(e, port, bad);
  return e.node.version->lift != Lift::moves && check_others(e, port);
}

bool TrapFinder::check_elementwise(const Event& e, int port, const std::vector<i64>& bad) {
  const auto& t = e.outputs[port];
  const Call call{&e.node, e.inputs};
  for (const auto at : bad) {
    if (e.inputs.size() == 1 && std::isnan(element(e.inputs[0], at))) continue;  // passed on
    auto operands = elementwise_operands(call, t, at);
    if (!operands) continue;
    std::vector<double> values;
    std::vector<std::string> texts;
    for (const auto& o : *operands) {
      values.push_back(element(e.inputs[o.port], o.at));
      texts.push_back(element_text(e.inputs[o.port], o.at));
    }
    const auto judged =
        judge(e.node.op->type, values, texts, element(t, at), is_cast(e.node) ? e.declared[port] : t.type());
    if (!judged || !traps_.has(judged->trap)) continue;
    hit(e, judged->trap, false, port, t, at, judged->cause, std::move(*operands));
    return true;
  }
  return false;
}

bool TrapFinder::check_others(const Event& e, int port) {
  Unusual given;
  for (const auto& in : e.inputs) {
    const auto u = find_unusual(in);
    given.nan = std::max(given.nan, u.nan);
    given.infinite = std::max(given.infinite, u.infinite);
  }
  const Call call{&e.node, e.inputs};
  /// What the layer makes of its own accord: without what its operands bring.
  const auto own = [&](bool infinities) {
    const bool clean = given.nan < 0 && (!infinities || given.infinite < 0);
    if (clean) return find_unusual(e.outputs[port]);
    const auto outputs = outputs_for(call, cleaned(e.inputs, infinities));
    return port < std::ssize(outputs) && outputs[port] ? find_unusual(outputs[port]) : Unusual{};
  };
  const auto tell = [&](Trap trap, i64 at) {
    return hit(e, trap, false, port, e.outputs[port], at, "") == Verdict::stop;
  };
  const auto is = [&](i64 at, bool nan) {
    if (at < 0 || at >= e.outputs[port].size()) return false;
    const auto v = element(e.outputs[port], at);
    return nan ? std::isnan(v) : std::isinf(v);
  };
  if (traps_.has(Trap::domain))
    if (const auto at = own(false).nan; is(at, true)) return tell(Trap::domain, at);
  if (traps_.has(Trap::overflow))
    if (const auto at = own(true).infinite; is(at, false)) return tell(Trap::overflow, at);
  return false;
}

bool TrapFinder::check_integers(const Event& e, int port) {
  const auto& t = e.outputs[port];
  if (!traps_.has(Trap::overflow) || port != 0 || !contains(kInteger, t.type()) || e.inputs.empty()) return false;
  const auto& type = e.node.op->type;
  const auto target = e.declared[0];
  if (is_cast(e.node)) {
    if (e.inputs[0].type() == ElementType::boolean) return false;
    const auto values = to_f64(e.inputs[0]);
    const auto bad = std::find_if(values.begin(), values.end(), [&](double v) { return !holds(target, v); });
    if (bad == values.end()) return false;
    const auto at = bad - values.begin();
    hit(e, Trap::overflow, false, 0, t, at,
        fmt::format("{} is outside the range of {}", element_text(e.inputs[0], at), name(target)), {{0, at}});
    return true;
  }
  if (!exact(type, 0, 0).known || e.inputs.size() != 2 || target == ElementType::u64) return false;
  const auto a = to_i64(e.inputs[0]), b = to_i64(e.inputs[1]);
  const Call call{&e.node, e.inputs};
  for (i64 at = 0; at < t.size(); ++at) {
    auto operands = elementwise_operands(call, t, at);
    if (!operands) return false;
    const auto x = a[(*operands)[0].at], y = b[(*operands)[1].at];
    const auto r = exact(type, x, y).value;
    if (r && (target == ElementType::i64 || holds(target, static_cast<double>(*r)))) continue;
    const auto sign = type == "Add" ? "+" : type == "Subtract" ? "-" : "*";
    hit(e, Trap::overflow, false, 0, t, at,
        fmt::format("{} {} {} is outside the range of {}", x, sign, y, name(target)), std::move(*operands));
    return true;
  }
  return false;
}

bool TrapFinder::check_result(const Event& e) {
  const auto trap = traps_.has(Trap::overflow) ? Trap::overflow : Trap::inf;
  if (!traps_.has(trap) || !e.model.path.empty() || e.inputs.empty()) return false;
  const auto declared = e.declared.empty() ? ElementType::dynamic : e.declared[0];
  if (exchanged_type(e.model, declared, false) != ElementType::f16) return false;
  const auto at = find_unusual(e.inputs[0]).beyond_f16;
  if (at < 0) return false;
  hit(e, trap, true, 0, e.inputs[0], at,
      fmt::format("{} is beyond the largest f16, 65504, in which the result is given", element_text(e.inputs[0], at)),
      {{0, at}});
  return true;
}

bool TrapFinder::check_written(const Event& e) {
  if (e.inputs.empty()) return false;
  const auto unset = unset_element(e);
  if (!unset) return false;
  hit(e, Trap::uninit, false, unset->port, e.outputs[unset->port], unset->at, "the kernel does not write this element");
  return true;
}

bool TrapFinder::refused(const Diagnostic& fault) {
  if (!traps_.has(Trap::oob) || found_ || running_.index < 0) return false;
  const auto& ports = running_.node().version->inputs;
  const bool picks = std::any_of(ports.begin(), ports.end(),
                                 [](const PortDef& p) { return p.indexes.along != Indexes::Along::nothing; });
  if (fault.code != Code::E0507 && !(fault.code == Code::E0508 && picks)) return false;
  TrapEvent e;
  e.trap = Trap::oob;
  e.input = fault.port && fault.port->input;
  e.at = {running_.model,
          running_.index,
          fault.port ? static_cast<int>(fault.port->index) : 0,
          running_.iterations,
          {},
          ""};
  e.cause = fault.message;
  found_ = std::move(e);
  return true;
}

}  // namespace ovir::tools
