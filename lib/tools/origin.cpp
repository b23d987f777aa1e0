#include "tools/origin.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "op/infer_context.hpp"

namespace ovir::tools {
namespace {

/// Symbols from here on are ours; inference numbers its own from 1.
constexpr std::uint32_t kMark = 1u << 30, kFresh = 1u << 31;

bool same(const Dim& a, const Dim& b) {
  if (a.symbol != 0 && b.symbol != 0) return a.symbol == b.symbol;
  return a == b && (a.is_static() || a.is_bounded());
}

/// How many lengths an integer value may be; 0 where it is none.
i64 length_count(const Fact& f) {
  constexpr i64 max = 16;
  if (!contains(kInteger, f.type)) return 0;
  if (f.value) return f.value.rank() <= 1 && f.value.size() <= max ? f.value.size() : 0;
  return f.bounds && std::ssize(*f.bounds) <= max ? std::ssize(*f.bounds) : 0;
}

std::vector<Interval> intervals_of(const Fact& f) {
  if (!f.value) return *f.bounds;
  std::vector<Interval> list;
  for (const auto v : to_i64(f.value.unpacked())) list.push_back({static_cast<double>(v), static_cast<double>(v)});
  return list;
}

/// An axis of an input, or an element of its value.
struct Operand {
  std::size_t input;
  i64 axis;
  bool element;
};

/// The length that an axis has or an element is; nothing where there is none. A negative element is no length.
std::optional<Dim> length_in(const Fact& fact, i64 axis, bool element) {
  if (!element)
    return fact.shape.has_rank() && axis < fact.shape.rank() ? std::optional(fact.shape[axis]) : std::nullopt;
  if (axis >= length_count(fact)) return std::nullopt;
  const auto value = intervals_of(fact)[axis];
  return value.hi < 0 ? std::nullopt : std::optional(value.to_dim());
}

using Operands = std::vector<Operand>;

/// Asks a layer's own shape inference: what the output's length does where lengths of its inputs are others.
class Experiment {
 public:
  explicit Experiment(const Spot& s) : spot_(s), node_(s.node()), wanted_(*length_in(s.fact(), s.axis, s.element)) {
    for (const auto& v : node_.inputs) inputs_.push_back(v.node < 0 ? Fact{} : s.frame->facts->of(v));
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (const bool element : {false, true}) collect(i, element);
    std::stable_sort(all_.begin(), all_.end(),
                     [&](const Operand& a, const Operand& b) { return likeness(a) > likeness(b); });
    // A symbol that none of them has was made for this length, and proves nothing.
    const auto has_it = [&](const Operand& o) { return length(o).symbol == wanted_.symbol; };
    if (std::ranges::none_of(all_, has_it)) wanted_.symbol = 0;
  }

  std::optional<Origin> origin() const {
    if (!node_.version || !node_.bodies.empty() || node_.faulty) return std::nullopt;
    Operands equal;
    for (const auto& o : all_)
      if (same(length(o), wanted_)) equal.push_back(o);
    for (const bool element : {false, true})
      if (const auto proven = marked(equal, element)) return at({*proven}, false);
    // An element that only says what follows from the others as well: the target of a Reshape.
    if (const auto proven = marked(equal, true, true)) return at({*proven}, false);
    // One symbol is one length, whichever of the inputs is named.
    if (wanted_.symbol != 0 && !equal.empty()) return at({equal.front()}, false);
    Operands seen;
    for (const auto& o : all_)
      if (const auto found = with({o}, other(length(o))); found && !(*found == wanted_)) seen.push_back(o);
    // A length that the model's inputs decide is theirs, though weights have a part in it.
    if (std::any_of(seen.begin(), seen.end(), [&](const Operand& o) { return !is_constant(o); }))
      std::erase_if(seen, [&](const Operand& o) { return is_constant(o); });
    if (seen.size() == 1) return at(seen, !same(length(seen.front()), wanted_));
    if (!seen.empty()) return at(seen, true);
    for (const auto& o : equal)
      if (decides_with_its_equals(o, equal)) return at({o}, false);
    if (const auto together = needed(); !together.empty()) return at(together, true);
    // Nothing else can have left it open.
    if (!wanted_.is_static() && !all_.empty()) return at(all_, true);
    return std::nullopt;
  }

 private:
  const Spot& spot_;
  const Node& node_;
  Dim wanted_;
  std::vector<Fact> inputs_;
  Operands all_;  ///< the likeliest first

  /// What little is computed from Constants alone: weights that are stored in another type or form.
  bool is_constant(const Operand& o) const {
    constexpr std::size_t kMaxLayers = 32;
    std::vector<int> pending{node_.inputs[o.input].node};
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const auto& node = (*spot_.frame->model)[pending[i]];
      if (i >= kMaxLayers || !node.op || (node.inputs.empty() && node.op->kind != Kind::constant)) return false;
      if (node.op->kind == Kind::read_value) return false;  // the Constant is only what a state begins with
      for (const auto& v : node.inputs) {
        if (v.node < 0) return false;
        pending.push_back(v.node);
      }
    }
    return true;
  }

  /// Inference reads the elements, which are known.
  bool value_is_read(std::size_t input) const {
    return node_.version && node_.version->reads.contains(static_cast<int>(input)) && length_count(inputs_[input]) > 0;
  }

  Dim length(const Operand& o) const { return *length_in(inputs_[o.input], o.axis, o.element); }

  Origin at(const Operands& operands, bool computed) const {
    Origin origin{{}, computed};
    for (const auto& o : operands) origin.spots.push_back({spot_.frame, node_.inputs[o.input], o.axis, o.element});
    return origin;
  }

  /// What is open comes from nothing that is known.
  void collect(std::size_t input, bool element) {
    const auto& fact = inputs_[input];
    // How many elements a value has says nothing of the lengths among them.
    if (node_.inputs[input].node < 0 || (!element && !spot_.element && value_is_read(input))) return;
    const auto count = element ? length_count(fact) : fact.shape.has_rank() ? fact.shape.rank() : 0;
    for (i64 a = 0; a < count; ++a)
      if (const auto d = length_in(fact, a, element); d && (wanted_.is_static() || !d->is_static()))
        all_.push_back({input, a, element});
  }

  /// The same axis is likelier than another, counted from the front or from the back.
  int likeness(const Operand& o) const {
    if (o.element) return o.axis == spot_.axis ? 3 : 1;
    const auto behind = spot_.element ? 0 : spot_.fact().shape.rank() - spot_.axis;
    if (o.axis == spot_.axis) return 5;
    return behind == inputs_[o.input].shape.rank() - o.axis ? 4 : 2;
  }

  /// The length at the spot where the inputs were these. Where they contradict nothing, and `refused` is the input that
  /// the layer finds fault with, -1 where it names none.
  std::optional<Dim> infer(const std::vector<Fact>& inputs, i64* refused = nullptr) const {
    InferContext c(*node_.op, *node_.version, node_.attrs.get(), inputs,
                   static_cast<int>(spot_.frame->facts->outputs[spot_.at.node].size()));
    std::uint32_t symbols = kFresh;
    c.set_symbols(&symbols);
    try {
      infer_node(c);
    } catch (const Failure& failure) {
      if (refused) *refused = failure.diagnostic.port ? failure.diagnostic.port->index : -1;
      return std::nullopt;
    }
    return length_in(c.out(spot_.at.port), spot_.axis, spot_.element);
  }

  static void set(Fact& fact, const Operand& o, Dim d) {
    if (!o.element) {
      fact.shape[o.axis] = d;
      fact.value = {};  // a value of another shape would contradict
      fact.bounds = {};
      return;
    }
    auto list = intervals_of(fact);
    list[o.axis] = to_interval(d);
    if (fact.value && d.is_static()) {
      Tensor values(ElementType::f64, fact.value.shape());
      std::transform(list.begin(), list.end(), values.mutable_data<double>(), [](const Interval& i) { return i.lo; });
      fact.value = convert(values, fact.type);
      return;
    }
    fact.bounds = std::make_shared<const std::vector<Interval>>(std::move(list));
    fact.value = {};
  }

  /// Each operand, of those that are elements or those that are axes, becomes an unknown length with a symbol of its
  /// own: the output's symbol is then proof.
  /// `open`: the dims of inputs whose values are not read become unknown, too.
  std::optional<Operand> marked(Operands list, bool element, bool open = false) const {
    std::erase_if(list, [&](const Operand& o) { return o.element != element; });
    if (list.empty() || wanted_.symbol != 0) return std::nullopt;
    auto inputs = inputs_;
    for (std::size_t i = 0; open && i < inputs.size(); ++i)
      if (!value_is_read(i) && inputs[i].shape.has_rank())
        inputs[i].shape = PartialShape(std::vector<Dim>(inputs[i].shape.rank()));
    for (std::size_t k = 0; k < list.size(); ++k)
      set(inputs[list[k].input], list[k], Dim(1, Dim::kUnbounded, kMark + static_cast<std::uint32_t>(k)));
    const auto found = infer(inputs);
    if (!found || found->symbol < kMark || found->symbol - kMark >= list.size()) return std::nullopt;
    return list[found->symbol - kMark];
  }

  /// Another length than `now`.
  static Dim other(const Dim& now) {
    constexpr i64 some = 64;
    if (!now.is_static()) return now.contains(some) ? some : now.min + 1;
    return now.length() > (i64{1} << 30) ? now.length() / 2 : 2 * now.length() + (now.length() == 0);
  }

  std::optional<Dim> with(const Operands& operands, const Dim& length, i64* refused = nullptr) const {
    auto inputs = inputs_;
    for (const auto& o : operands) set(inputs[o.input], o, length);
    return infer(inputs, refused);
  }

  /// Of an open length: the open operands that must all be known before it is, as the factors of a product.
  Operands needed() const {
    if (wanted_.is_static()) return {};
    auto list = all_;
    std::erase_if(list, [&](const Operand& o) { return o.element != all_.front().element; });
    const auto decided = [&] {
      auto inputs = inputs_;
      for (std::size_t k = 0; k < list.size(); ++k) set(inputs[list[k].input], list[k], other(length(list[k])));
      const auto found = infer(inputs);
      return found && found->is_static();
    };
    if (list.empty() || !decided()) return {};
    for (std::size_t k = list.size(); k-- > 0;) {
      const auto left_out = list[k];
      list.erase(list.begin() + k);
      if (!decided()) list.insert(list.begin() + k, left_out);
    }
    return list;
  }

  /// Another length there is refused as long as other inputs keep theirs: they are changed with it, one by one.
  bool decides_with_its_equals(const Operand& first, const Operands& equal) const {
    const auto length = other(wanted_);
    Operands changed{first};
    for (std::size_t round = 0; round <= equal.size(); ++round) {
      i64 refused = -1;
      if (const auto found = with(changed, length, &refused)) return *found == length;
      const auto fits = [&](const Operand& o) {
        const bool taken = std::any_of(changed.begin(), changed.end(), [&](const Operand& c) {
          return c.input == o.input && c.axis == o.axis && c.element == o.element;
        });
        return !taken && o.element == first.element &&
               (refused < 0 || static_cast<i64>(o.input) == refused || o.input == 0);
      };
      const auto next = std::find_if(equal.begin(), equal.end(), fits);
      if (next == equal.end()) return false;
      changed.push_back(*next);
    }
    return false;
  }
};

/// Of a body's Parameter: the input of the outer layer that it gets, or a slice of it along another axis.
std::optional<Origin> outside(const Spot& s) {
  const auto& frame = *s.frame;
  if (!frame.outer || s.element) return std::nullopt;
  const auto& parameters = frame.model->parameters;
  const auto k = std::find(parameters.begin(), parameters.end(), s.at.node) - parameters.begin();
  const auto& node = (*frame.outer->model)[frame.node];
  for (const auto& link : node.maps[frame.body].inputs) {
    if (link.inner != k || link.port < 0 || link.port >= std::ssize(node.inputs)) continue;
    const Spot there{frame.outer, node.inputs[link.port], s.axis, false};
    const auto& shape = there.fact().shape;
    if (shape.has_rank() && s.axis < shape.rank() && !(link.sliced && link.axis == s.axis))
      return Origin{{there}, false};
  }
  return std::nullopt;
}

void collect(const Frame& frame, std::list<Frame>& frames) {
  const auto& here = frames.emplace_back(frame);
  for (int n = 0; n < std::ssize(frame.model->nodes) && n < std::ssize(frame.facts->bodies); ++n)
    for (std::size_t b = 0; b < frame.facts->bodies[n].size(); ++b) {
      const auto& facts = frame.facts->bodies[n][b];
      if (!facts.outputs.empty()) collect({frame.model->nodes[n].bodies[b].get(), &facts, &here, n, b}, frames);
    }
}

}  // namespace

std::list<Frame> frames_of(const Model& model, const Facts& facts) {
  std::list<Frame> frames;
  collect({&model, &facts}, frames);
  return frames;
}

std::optional<Origin> origin(const Spot& spot) {
  const auto kind = spot.node().op->kind;
  if (kind == Kind::constant) return std::nullopt;
  return kind == Kind::parameter ? outside(spot) : Experiment(spot).origin();
}

Roots roots(const Spot& spot) {
  constexpr std::size_t kMaxSteps = 100'000;
  Roots found;
  std::vector<Spot> pending{spot};
  std::set<std::tuple<const Frame*, int, int, i64, bool>> visited;
  while (!pending.empty() && visited.size() < kMaxSteps) {
    const auto here = pending.back();
    pending.pop_back();
    if (!visited.emplace(here.frame, here.at.node, here.at.port, here.axis, here.element).second) continue;
    const auto from = origin(here);
    if (!from) {
      found.spots.push_back(here);
      continue;
    }
    found.computed |= from->computed;
    pending.insert(pending.end(), from->spots.rbegin(), from->spots.rend());
  }
  return found;
}

std::optional<Spot> find_output(const std::list<Frame>& frames, std::string_view name) {
  for (const auto& frame : frames)
    for (int i = 0; i < std::ssize(frame.model->nodes); ++i)
      if (name.starts_with(frame.model->path) &&
          frame.model->nodes[i].layer->name == name.substr(frame.model->path.size()))
        return Spot{&frame, {i, 0}};
  for (const auto& frame : frames)
    for (int i = 0; i < std::ssize(frame.model->nodes); ++i) {
      const auto& ports = frame.model->nodes[i].layer->outputs;
      for (int p = 0; p < std::ssize(ports); ++p)
        if (std::find(ports[p].names.begin(), ports[p].names.end(), name) != ports[p].names.end())
          return Spot{&frame, {i, p}};
    }
  return std::nullopt;
}

}  // namespace ovir::tools
