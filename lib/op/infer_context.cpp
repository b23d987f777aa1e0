#include "op/infer_context.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/word_list.hpp"
#include "diag/diagnostic.hpp"
#include "op/compute.hpp"
#include "op/ports.hpp"
#include "op/work.hpp"

namespace ovir {

Dim Interval::to_dim() const {
  // From 2^53 on a double stands for several integers: no more than a bound below them.
  constexpr auto kExact = static_cast<double>(i64{1} << 53), kLargest = static_cast<double>(i64{1} << 62);
  auto low = std::max(0.0, std::ceil(lo));
  if (low >= kExact) low = std::clamp(std::nextafter(low, 0.0), kExact, kLargest);
  const auto high = std::floor(hi);
  return Dim(static_cast<i64>(low), high >= kExact ? Dim::kUnbounded : std::max<i64>(0, static_cast<i64>(high)),
             symbol);
}

Interval to_interval(const Dim& d) {
  return {static_cast<double>(d.min),
          d.is_bounded() ? static_cast<double>(d.max) : std::numeric_limits<double>::infinity(), d.symbol};
}

InferContext::InferContext(const OpDef& op, const Version& version, const void* attrs, std::span<const Fact> inputs,
                           int output_count)
    : op_(&op), version_(&version), attrs_(attrs), inputs_(inputs), outputs_(output_count) {}

void InferContext::require_reads(int port) const {
  if (!inferred_ && !version_->reads.contains(port))
    throw std::logic_error(fmt::format("infer of {}-{} reads the value of input {}, which its `reads` does not name",
                                       op().type, version_->since, port));
}

const Tensor* InferContext::peek(int port) const { return has(port) && in(port).value ? &in(port).value : nullptr; }

const Tensor* InferContext::known(int port) const {
  require_reads(port);
  return peek(port);
}

std::optional<std::vector<i64>> InferContext::peek_ints(int port) const {
  if (const auto* t = peek(port); t && t->type() != ElementType::string) return to_i64(*t);
  return std::nullopt;
}

std::optional<std::vector<i64>> InferContext::ints(int port) const {
  require_reads(port);
  return peek_ints(port);
}

std::optional<std::vector<double>> InferContext::floats(int port) const {
  if (const auto* t = known(port); t && t->type() != ElementType::string) return to_f64(*t);
  return std::nullopt;
}

std::optional<i64> InferContext::scalar_int(int port) const {
  if (const auto list = ints(port); list && list->size() == 1) return list->front();
  return std::nullopt;
}

std::optional<std::vector<Interval>> InferContext::intervals(int port) const {
  require_reads(port);
  if (!has(port)) return std::nullopt;
  if (const auto list = floats(port)) {
    std::vector<Interval> exact;
    for (const auto v : *list) exact.push_back({v, v});
    return exact;
  }
  if (in(port).bounds) return *in(port).bounds;
  return std::nullopt;
}

std::optional<std::vector<Dim>> InferContext::dims(int port) const {
  const auto list = intervals(port);
  if (!list) return std::nullopt;
  std::vector<Dim> result;
  for (const auto& i : *list) {
    if (i.hi < 0) return std::nullopt;
    result.push_back(i.to_dim());
  }
  return result;
}

namespace {

constexpr i64 kAnyRank = std::numeric_limits<i64>::max();

std::string rank_words(i64 min, i64 max) {
  if (max == 0) return "be a scalar";
  if (min == 0 && max == 1) return "be a scalar or have rank 1";
  if (min == max) return fmt::format("have rank {}", min);
  if (max == kAnyRank) return fmt::format("have rank {} or more", min);
  return fmt::format("have rank {} {} {}", min, max == min + 1 ? "or" : "to", max);
}

}  // namespace

void InferContext::require_rank(int port, i64 min, i64 max) const {
  if (!has(port) || !shape(port).has_rank()) return;
  const auto rank = shape(port).rank();
  if (min <= rank && rank <= max) return;
  fail_at(port, Code::E0504,
          fmt::format("input \"{}\" of {} must {}, but its shape is {}", port_name(port), op().type,
                      rank_words(min, max), to_string(shape(port))));
}

void InferContext::require_index_type(ElementType type, std::string_view attribute) const {
  require_attr(contains(kIndex, type), attribute, "must be i32 or i64, but is {}", name(type));
}

void InferContext::require_rank_at_least(int port, i64 min) const { require_rank(port, min, kAnyRank); }

void InferContext::require_single(int port) const {
  require_rank(port, 0, 1);
  if (!has(port) || !shape(port).has_rank() || shape(port).rank() == 0) return;
  require(shape(port)[0].contains(1), port, Code::E0506,
          "input \"{}\" of {} must hold one element, but its shape is {}", port_name(port), op().type,
          to_string(shape(port)));
}

std::optional<std::vector<Interval>> InferContext::require_at_least(int port, i64 min) const {
  auto values = intervals(port);
  const auto exact = ints(port);  // a double holds integers up to 2^53 only
  for (std::size_t i = 0; values && i < values->size(); ++i) {
    const auto highest = exact ? (*exact)[i] : static_cast<i64>(std::clamp((*values)[i].hi, -9e18, 9e18));
    if (highest >= min) continue;
    const auto which = values->size() == 1 ? std::string() : fmt::format("element {} of ", i);
    fail_at(port, Code::E0508,
            fmt::format("{}input \"{}\" of {} must be {} or more, but is {}", which, port_name(port), op().type, min,
                        highest));
  }
  return values;
}

PartialShape InferContext::require_same_shape(int a, int b) const {
  auto both = intersect(shape(a), shape(b));
  require(both.has_value(), b, Code::E0505,
          "inputs \"{}\" and \"{}\" of {} must have the same shape, but their shapes are {} and {}", port_name(a),
          port_name(b), op().type, to_string(shape(a)), to_string(shape(b)));
  return *both;
}

Dim InferContext::require_same_dim(const Dim& a, const Dim& b, int port, std::string_view a_is,
                                   std::string_view b_is) const {
  auto both = intersect(a, b);
  require(both.has_value(), port, Code::E0506, "{4} needs {0} and {2} to be equal, but they are {1} and {3}", a_is,
          to_string(a), b_is, to_string(b), op().type);
  return *both;
}

std::string axes_of_rank(i64 rank) {
  return rank == 0 ? "a scalar has no axes" : fmt::format("rank {} has axes {}..{}", rank, -rank, rank - 1);
}

i64 InferContext::require_axis(i64 axis, int port, i64 rank, std::string_view attribute,
                               std::optional<std::size_t> entry) const {
  if (-rank <= axis && axis < rank) return axis < 0 ? axis + rank : axis;
  const auto range = axes_of_rank(rank);
  if (port >= 0)
    fail_at(port, Code::E0507,
            fmt::format("input \"{}\" of {} names axis {}, but {}", port_name(port), op().type, axis, range));
  fail_attr(attribute, fmt::format("names axis {}, but {}", axis, range), Code::E0507, entry);
}

PartialShape InferContext::require_broadcast(int a, int b) const {
  auto both = broadcast(shape(a), shape(b));
  if (both) return *both;
  std::string why;
  for (i64 i = 1; why.empty(); ++i) {
    const auto &x = shape(a)[shape(a).rank() - i], &y = shape(b)[shape(b).rank() - i];
    if (!broadcast(x, y))
      why = fmt::format("at axis {2}, {0} and {1} differ and neither is 1", to_string(x), to_string(y), -i);
  }
  fail_at(b, Code::E0505,
          fmt::format("{} cannot broadcast \"{}\" {} with \"{}\" {}: {}", op().type, port_name(a), to_string(shape(a)),
                      port_name(b), to_string(shape(b)), why));
}

void InferContext::fail_at(int port, Code code, std::string message, std::vector<Remedy> remedies) const {
  ovir::fail_at(*version_, port, code, std::move(message), std::move(remedies));
}

void InferContext::fail_attr(std::string_view attribute, std::string message, Code code,
                             std::optional<std::size_t> entry) const {
  auto d = diagnose(code, fmt::format("attribute \"{}\" of {} {}", attribute, op().type, message));
  d.attribute = attribute;
  d.entry = entry;
  fail(std::move(d));
}

void InferContext::output(int port, PartialShape shape) {
  auto& out = outputs_.at(port);
  if (shape.rank() > kMaxRank)
    fail(Code::E0003, "output {} would have {} axes, more than the {} that are supported", port, shape.rank(),
         kMaxRank);
  out.shape = std::move(shape);
  // What follows from a length that nothing is known of is known to have the same.
  for (auto& d : out.shape.dims())
    if (!d.is_static() && d.symbol == 0) d.symbol = new_symbol();
}

void InferContext::output(int port, ElementType type, PartialShape shape) {
  outputs_.at(port).type = type;
  output(port, std::move(shape));
}

void InferContext::output_value(int port, Tensor value) { outputs_.at(port).value = std::move(value); }

void InferContext::output_bounds(int port, std::vector<Interval> bounds) {
  outputs_.at(port).bounds = std::make_shared<const std::vector<Interval>>(std::move(bounds));
}

std::uint32_t InferContext::new_symbol() const { return next_symbol_ ? ++*next_symbol_ : 0; }

std::string InferContext::port_name(int port) const { return ovir::port_name(*version_, port); }

namespace {

/// "f16, f32 or an integer type".
std::string type_names(TypeSet set) {
  std::vector<std::string> words;
  const auto whole = [&](TypeSet group, const char* word) {
    if ((set & group) != group) return;
    words.emplace_back(word);
    set &= ~group;
  };
  whole(kFloat | kNarrowFloat | kInteger, "a floating-point or integer type");
  whole(kFloat | kNarrowFloat, "a floating-point type");
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (contains(kInteger, type)) whole(kInteger, "an integer type");
    if (contains(set, type)) words.emplace_back(name(type));
  }
  return word_list(std::move(words), "or");
}

/// " ("data", "axes")".
std::string port_names(std::span<const PortDef> defs) {
  std::string text;
  for (const auto& def : defs) text += fmt::format("{}\"{}\"", text.empty() ? " (" : ", ", def.name);
  return text.empty() ? text : text + ')';
}

const PortDef* port_def(std::span<const PortDef> defs, int port) {
  if (port < std::ssize(defs)) return &defs[port];
  return !defs.empty() && is_endless(defs.back()) ? &defs.back() : nullptr;
}

}  // namespace

void InferContext::check_signature() {
  const auto ins = version_->inputs;
  const int min = min_count(ins);
  const bool endless = !ins.empty() && is_endless(ins.back());
  if (input_count() < min)
    fail(Code::E0501, "{} takes {}{}, but {} {} connected: \"{}\" is missing", op().type,
         endless || min < std::ssize(ins) ? "at least " : "", counted(min, "input"), input_count(),
         input_count() == 1 ? "is" : "are", port_name(input_count()));
  if (!endless && input_count() > std::ssize(ins)) {
    auto d = diagnose(Code::E0501, fmt::format("{} takes {}{}, but {} are connected", op().type,
                                               counted(ins.size(), "input"), port_names(ins), input_count()));
    d.port.emplace().index = std::ssize(ins);
    fail(std::move(d));
  }

  std::vector<std::pair<std::string_view, int>> firsts;  // of each TypeVar, the first port of known type
  for (int i = 0; i < input_count(); ++i) {
    const auto* def = port_def(ins, i);
    if (type(i) == ElementType::dynamic) continue;
    if (!contains(def->type.domain, type(i)))
      fail_at(i, Code::E0502,
              fmt::format("input \"{0}\" of {1} must be {3}, but is {2}", port_name(i), op().type, name(type(i)),
                          type_names(def->type.domain)));
    if (def->arity == Arity::mixed) continue;
    const auto first =
        std::find_if(firsts.begin(), firsts.end(), [&](const auto& f) { return f.first == def->type.name; });
    if (first == firsts.end()) {
      firsts.emplace_back(def->type.name, i);
    } else if (const int j = first->second; type(j) != type(i)) {
      fail_at(i, Code::E0503,
              fmt::format("inputs \"{}\" and \"{}\" of {} must have the same element type, but they are {} and {}",
                          port_name(j), port_name(i), op().type, name(type(j)), name(type(i))));
    }
  }

  // An output takes the type of an input with its TypeVar, or the only type of its domain.
  const auto outs = version_->outputs;
  for (int o = 0; o < output_count(); ++o) {
    const auto* def = port_def(outs, o);
    if (!def) {
      if (outs.empty() || op().kind == Kind::assign) continue;
      fail(Code::E0501, "{} has {}, but the layer declares {}", op().type, counted(outs.size(), "output"),
           output_count());
    }
    auto& out = outputs_[o];
    for (int i = 0; i < input_count() && out.type == ElementType::dynamic; ++i)
      if (const auto* from = port_def(ins, i); from->type.name == def->type.name) out.type = type(i);
    if (out.type == ElementType::dynamic && (def->type.domain & (def->type.domain - 1)) == 0)
      for (int t = 1; t < kElementTypeCount; ++t)
        if (contains(def->type.domain, static_cast<ElementType>(t))) out.type = static_cast<ElementType>(t);
  }
}

namespace {

bool small(const PartialShape& s) { return s.is_static() && s.element_count().max <= kMaxPropagated; }

/// Values are not worth more elementary steps than that before the model runs.
constexpr i64 kMostSteps = 2'000'000;

/// All inputs known and small: the values follow from the reference kernel itself.
void propagate_values(InferContext& c) {
  const auto& v = c.version();
  if (!v.eval || !v.pure || c.op().kind != Kind::compute || !c.bodies().empty()) return;
  std::vector<Tensor> inputs;
  for (int i = 0; i < c.input_count(); ++i) {
    const auto* value = c.peek(i);
    if (!value || value->size() > kMaxPropagated) return;
    inputs.push_back(*value);
  }
  for (const auto& out : c.outputs())
    if (!small(out.shape) || out.type == ElementType::dynamic) return;
  if (c.input_count() == 0) return;
  WorkBudget work(kMostSteps);
  const WorkBudget::Scope working(work);
  EvalContext e(v, c.raw_attrs(), inputs, c.outputs());
  try {
    spend(steps_of(v, c.raw_attrs(), inputs, c.outputs()));
    compute(e);
  } catch (const OverWork&) {
    return;
  }
  auto& values = e.finish();
  for (int o = 0; o < std::ssize(values); ++o) {
    const auto type = c.out(o).type;
    c.output_value(o, values[o].type() == type ? values[o] : convert(values[o], type));
  }
}

}  // namespace

namespace {

/// Bounds that leave no choice are a value. A double holds integers up to 2^53 exactly.
void settle(Fact& f) {
  const auto exact = [](const Interval& i) { return i.is_known() && std::abs(i.lo) <= 9007199254740992.0; };
  if (f.value || !f.bounds || !f.shape.is_static() || f.type == ElementType::dynamic ||
      !std::all_of(f.bounds->begin(), f.bounds->end(), exact))
    return;
  Tensor values(ElementType::f64, f.shape.to_shape());
  if (values.size() != std::ssize(*f.bounds)) return;
  std::transform(f.bounds->begin(), f.bounds->end(), values.mutable_data<double>(),
                 [](const Interval& i) { return i.lo; });
  f.value = convert(values, f.type);
}

/// A row of a table of words has few elements, but their bounds would be read from all of the table.
bool worth_bounds(const InferContext& c) {
  for (int i = 0; i < c.input_count(); ++i)
    if (c.shape(i).is_static() && !small(c.shape(i))) return false;
  return small(c.out(0).shape);
}

}  // namespace

void infer_node(InferContext& c) {
  c.check_signature();
  if (!c.version().infer) return;
  c.version().infer(c);
  c.set_inferred();
  if (c.output_count() == 0) return;
  if (!c.out(0).value) propagate_values(c);
  if (!c.out(0).value && !c.out(0).bounds && c.version().bounds && worth_bounds(c)) c.version().bounds(c);
  for (auto& out : c.outputs()) settle(out);
}

}  // namespace ovir
