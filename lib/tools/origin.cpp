#include "tools/origin.hpp"

#include <algorithm>

#include "op/infer_context.hpp"

namespace ovir::tools {
namespace {

/// Symbols from here on are ours; inference numbers its own from 1.
constexpr std::uint32_t kMark = 1u << 30, kFresh = 1u << 31;

bool same(const Dim& a, const Dim& b) {
  return a.symbol != 0 || b.symbol != 0 ? a.symbol == b.symbol : a == b && (a.is_static() || a.is_bounded());
}

/// How many lengths an integer value may be; 0 where it is none.
i64 length_count(const Fact& f) {
  constexpr i64 max = 16;
  if (!contains(kInteger, f.type)) return 0;
  if (f.value) return f.value.rank() <= 1 && f.value.size() <= max ? f.value.size() : 0;
  return f.bounds && static_cast<i64>(f.bounds->size()) <= max ? static_cast<i64>(f.bounds->size()) : 0;
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

std::optional<Dim> length_in(const Fact& fact, i64 axis, bool element) {
  if (!element)
    return fact.shape.has_rank() && axis < fact.shape.rank() ? std::optional(fact.shape[axis]) : std::nullopt;
  if (axis >= length_count(fact)) return std::nullopt;
  return intervals_of(fact)[axis].to_dim();
}

class Layer {
 public:
  explicit Layer(const Spot& s) : spot_(s), node_(s.node()), wanted_(*length_in(s.fact(), s.axis, s.element)) {
    for (const auto& v : node_.inputs) inputs_.push_back(v.node < 0 ? Fact{} : s.frame->facts->of(v));
  }

  std::optional<Origin> origin() const {
    auto equal = operands([&](const Dim& d) { return same(d, wanted_); });
    std::stable_sort(equal.begin(), equal.end(),
                     [&](const Operand& a, const Operand& b) { return likeness(a) > likeness(b); });
    for (const bool element : {false, true})
      if (const auto proven = marked(equal, element)) return at(*proven, false);
    // A symbol is proof; of equal lengths one that the output does not depend on is none.
    for (const auto& operand : equal)
      if (wanted_.symbol != 0 || decides(operand)) return at(operand, false);
    auto others = operands([&](const Dim& d) { return !same(d, wanted_); });
    std::stable_sort(others.begin(), others.end(),
                     [&](const Operand& a, const Operand& b) { return likeness(a) > likeness(b); });
    for (const auto& operand : others)
      if (changes(operand)) return at(operand, true);
    return std::nullopt;
  }

 private:
  const Spot& spot_;
  const Node& node_;
  const Dim wanted_;
  std::vector<Fact> inputs_;

  Origin at(const Operand& o, bool computed) const {
    return {{spot_.frame, node_.inputs[o.input], o.axis, o.element}, computed};
  }

  template <class Wanted>
  std::vector<Operand> operands(Wanted wanted) const {
    std::vector<Operand> list;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (node_.inputs[i].node < 0) continue;
      for (const bool element : {false, true}) {
        const auto& shape = inputs_[i].shape;  // without dims where its rank is unknown
        const auto count = element ? length_count(inputs_[i]) : shape.rank();
        for (i64 a = 0; a < count; ++a)
          if (wanted(*length_in(inputs_[i], a, element))) list.push_back({i, a, element});
      }
    }
    return list;
  }

  /// The same axis is likelier than another, counted from the front or from the back.
  int likeness(const Operand& o) const {
    if (o.element) return o.axis == spot_.axis ? 3 : 1;
    const auto behind = spot_.element ? 0 : spot_.fact().shape.rank() - spot_.axis;
    if (o.axis == spot_.axis) return 5;
    return behind == inputs_[o.input].shape.rank() - o.axis ? 4 : 2;
  }

  /// The length at the spot where the inputs were these; nothing where they contradict.
  std::optional<Dim> infer(const std::vector<Fact>& inputs) const {
    if (!node_.version || !node_.bodies.empty() || node_.faulty) return std::nullopt;
    InferContext c(*node_.op, *node_.version, node_.attrs.get(), inputs,
                   static_cast<int>(spot_.frame->facts->outputs[spot_.at.node].size()));
    std::uint32_t symbols = kFresh;
    c.set_symbols(&symbols);
    try {
      infer_node(c);
    } catch (const Failure&) {
      return std::nullopt;
    }
    return length_in(c.out(spot_.at.port), spot_.axis, spot_.element);
  }

  static void set(Fact& fact, const Operand& o, Dim d) {
    if (!o.element) {
      fact.shape[o.axis] = d;
      return;
    }
    auto list = intervals_of(fact);
    list[o.axis] = to_interval(d);
    fact.bounds = std::make_shared<const std::vector<Interval>>(std::move(list));
    fact.value = {};
  }

  /// Each operand, of those that are elements or those that are axes, becomes an unknown length with a symbol of its
  /// own: the output's symbol is then proof.
  std::optional<Operand> marked(std::vector<Operand> list, bool element) const {
    std::erase_if(list, [&](const Operand& o) { return o.element != element; });
    if (list.empty() || wanted_.symbol != 0) return std::nullopt;
    auto inputs = inputs_;
    for (std::size_t k = 0; k < list.size(); ++k) {
      auto& fact = inputs[list[k].input];
      if (!element) fact.value = {}, fact.bounds = {};  // a value of another shape would contradict
      set(fact, list[k], Dim(1, Dim::kUnbounded, kMark + static_cast<std::uint32_t>(k)));
    }
    const auto found = infer(inputs);
    if (!found || found->symbol < kMark || found->symbol - kMark >= list.size()) return std::nullopt;
    return list[found->symbol - kMark];
  }

  /// Another length there would be refused, or seen at the spot.
  bool decides(const Operand& o) const {
    const auto found = infer_with(o);
    return !found || !same(*found, wanted_);
  }
  bool changes(const Operand& o) const {
    const auto found = infer_with(o);
    return found && !(*found == wanted_);
  }

  std::optional<Dim> infer_with(const Operand& o) const {
    auto inputs = inputs_;
    auto& fact = inputs[o.input];
    const auto now = *length_in(fact, o.axis, o.element);
    constexpr i64 some = 64;
    i64 other = now.contains(some) ? some : now.min + 1;
    if (now.is_static())
      other = now.length() > (i64{1} << 30) ? now.length() / 2 : 2 * now.length() + (now.length() == 0);
    if (!o.element) {
      fact.value = {};
      fact.bounds = {};
    }
    set(fact, o, Dim(other));
    return infer(inputs);
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
    if (link.inner != k || link.port < 0 || link.port >= static_cast<int>(node.inputs.size())) continue;
    const Spot there{frame.outer, node.inputs[link.port], s.axis, false};
    const auto& shape = there.fact().shape;
    if (shape.has_rank() && s.axis < shape.rank() && !(link.sliced && link.axis == s.axis)) return Origin{there, false};
  }
  return std::nullopt;
}

void collect(const Frame& frame, std::list<Frame>& frames) {
  const auto& here = frames.emplace_back(frame);
  for (std::size_t n = 0; n < frame.model->nodes.size() && n < frame.facts->bodies.size(); ++n)
    for (std::size_t b = 0; b < frame.facts->bodies[n].size(); ++b) {
      const auto& facts = frame.facts->bodies[n][b];
      if (!facts.outputs.empty())
        collect({frame.model->nodes[n].bodies[b].get(), &facts, &here, static_cast<int>(n), b}, frames);
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
  return kind == Kind::parameter ? outside(spot) : Layer(spot).origin();
}

std::optional<Spot> find_output(const std::list<Frame>& frames, std::string_view name) {
  for (const auto& frame : frames)
    for (std::size_t i = 0; i < frame.model->nodes.size(); ++i)
      if (name.starts_with(frame.model->path) &&
          frame.model->nodes[i].layer->name == name.substr(frame.model->path.size()))
        return Spot{&frame, {static_cast<int>(i), 0}};
  for (const auto& frame : frames)
    for (std::size_t i = 0; i < frame.model->nodes.size(); ++i) {
      const auto& ports = frame.model->nodes[i].layer->outputs;
      for (std::size_t p = 0; p < ports.size(); ++p)
        if (std::find(ports[p].names.begin(), ports[p].names.end(), name) != ports[p].names.end())
          return Spot{&frame, {static_cast<int>(i), static_cast<int>(p)}};
    }
  return std::nullopt;
}

}  // namespace ovir::tools
