#include "ops/infrastructure/common.hpp"

#include "tensor/copy.hpp"

namespace ovir::ops::infrastructure {
namespace {

/// After so many rounds dims that still change are given up, then values and dims of all that is fed back, then all
/// that is known of it: a chain of a thousand feedbacks need not take a thousand rounds.
constexpr int kRoundsBeforeWidening = 3, kRoundsBeforeRanks = 8, kRoundsBeforeNothing = 16;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The axis along which an input of known rank is sliced.
i64 sliced_axis(const InferContext& c, const BodyLink& link) {
  const auto& shape = c.shape(link.port);
  c.require(-shape.rank() <= link.axis && link.axis < shape.rank(), link.port, Code::E0507,
            "the port map of {} slices input \"{}\" along axis {}, but its shape is {}", c.op().type,
            c.port_name(link.port), link.axis, to_string(shape));
  return link.axis < 0 ? link.axis + shape.rank() : link.axis;
}

Fact part_fact(const InferContext& c, const BodyLink& link) {
  Fact part{c.type(link.port), c.shape(link.port), {}, nullptr};
  if (part.shape.has_rank()) part.shape[sliced_axis(c, link)] = Dim(link.part_size);
  return part;
}

/// Gives up dims that still change.
void widen(PartialShape& next, const PartialShape& before) {
  if (!next.has_rank() || !before.has_rank()) return;
  for (i64 i = 0; i < next.rank(); ++i) {
    if (next[i].min != before[i].min) next[i].min = 0;
    if (next[i].max != before[i].max) next[i].max = Dim::kUnbounded;
  }
}

/// A scalar is concatenated as a vector of one element.
PartialShape concatenated(const PartialShape& part, const BodyLink& link, const Dim& iterations, bool sized,
                          const InferContext& c) {
  if (!part.has_rank()) return part;
  auto whole = part.rank() == 0 ? PartialShape{Dim(1)} : part;
  c.require(-whole.rank() <= link.axis && link.axis < whole.rank(), -1, Code::E0507,
            "the port map of {} concatenates the parts of output {} along axis {}, but their shape is {}", c.op().type,
            link.port, link.axis, to_string(part));
  auto& along = whole[link.axis < 0 ? link.axis + whole.rank() : link.axis];
  if (sized && along.contains(link.part_size)) along = Dim(link.part_size);
  along = along * iterations;
  return whole;
}

/// Symbols that were born in the body mean one length in one iteration, not outside.
void drop_symbols(PartialShape& shape, std::uint32_t after) {
  for (auto& d : shape.dims())
    if (d.symbol > after) d.symbol = 0;
}

const BodyFeedback* feedback_of(const BodyMap& map, int result) {
  for (const auto& edge : map.feedback)
    if (edge.result == result) return &edge;
  return nullptr;
}

const BodyLink* input_of(const BodyMap& map, int parameter) {
  for (const auto& link : map.inputs)
    if (link.inner == parameter) return &link;
  return nullptr;
}

i64 normalized(i64 axis, i64 rank) { return axis < 0 ? axis + rank : axis; }

/// Of an input that inference has judged.
Parts parts_along(const BodyLink& link, const Tensor& whole) {
  return parts_of(link, whole.dim(normalized(link.axis, whole.rank()))).value();
}

/// The part of an input that iteration `iteration` receives: a view where it is contiguous, else a copy.
Tensor part(const Tensor& whole, const BodyLink& link, const Parts& parts, i64 iteration) {
  const auto axis = normalized(link.axis, whole.rank());
  auto shape = whole.shape();
  shape[axis] = link.part_size;
  const auto strides = strides_of(whole.shape());
  const auto first = (parts.first + iteration * parts.step) * strides[axis];
  const bool contiguous = std::all_of(shape.begin(), shape.begin() + axis, [](i64 length) { return length == 1; });
  if (contiguous && !whole.packed())
    return {whole.type(), std::move(shape), whole.owner(), whole.bytes() + first * byte_width(whole.type())};
  Tensor piece(whole.type(), shape);
  if (whole.type() == ElementType::string) piece.keep_alive(whole);
  gather_strided(whole, first, strides, shape, piece);
  return piece;
}

/// What follows was planned for the inferred shape: a body that breaks its word must not go on.
void require_as_inferred(const EvalContext& c, int port, const Shape& shape) {
  if (!c.out_shape(port).contains(shape))
    fail(Code::E0506, "output {} must have shape {} as inferred from the body, but has {}", port,
         to_string(c.out_shape(port)), to_string(shape));
}

/// An output that is concatenated from what the iterations give. Where it is known beforehand how long it becomes, it
/// is written in place; else the parts are kept until the end.
class Scan {
 public:
  Scan(EvalContext& context, const BodyLink& l, std::optional<i64> iterations)
      : c(context), link(l), iterations_(iterations) {}

  void add(Tensor given) {
    auto piece = given.rank() == 0 ? given.reshaped({1}) : std::move(given);
    if (first_.empty()) begin(piece);
    auto expected = first_;
    if (piece.rank() == expected.rank()) expected[axis_] = piece.shape()[axis_];
    if (piece.shape() != expected)
      fail(Code::E0505, "output {} cannot concatenate {} with {} along axis {}", link.port, to_string(first_),
           to_string(piece.shape()), axis_);
    if (whole_ && piece.shape()[axis_] != first_[axis_]) spill();
    if (whole_) put(piece);
    else pieces_.push_back(std::move(piece));
  }

  void finish() {
    if (first_.empty()) return nothing();
    if (!whole_) {
      auto shape = first_;
      shape[axis_] = 0;
      for (const auto& piece : pieces_) shape[axis_] += piece.shape()[axis_];
      allocate(std::move(shape));
      for (const auto& piece : pieces_) put(piece);
    }
  }

 private:
  EvalContext& c;
  const BodyLink& link;
  std::optional<i64> iterations_;
  i64 axis_ = 0;
  Shape first_;  ///< of the first part
  Tensor* whole_ = nullptr;
  i64 filled_ = 0;  ///< along the axis
  std::vector<Tensor> pieces_;

  void begin(const Tensor& piece) {
    first_ = piece.shape();
    axis_ = normalized(link.axis, piece.rank());
    if (!iterations_) return;
    auto shape = first_;
    const auto length = checked_mul(shape[axis_], *iterations_);
    if (!length) fail(Code::E0003, "output {} would have 2^63 elements or more", link.port);
    shape[axis_] = *length;
    allocate(std::move(shape));
  }

  void allocate(Shape shape) {
    require_as_inferred(c, link.port, shape);
    whole_ = &c.out(link.port, std::move(shape));
  }

  /// Parts of several lengths: how long the output becomes is not known after all.
  void spill() {
    auto shape = whole_->shape();
    const auto strides = strides_of(shape);
    const auto begin = link.stride < 0 ? shape[axis_] - filled_ : 0;
    shape[axis_] = filled_;
    Tensor so_far(whole_->type(), shape);
    if (so_far.type() == ElementType::string) so_far.keep_alive(*whole_);
    gather_strided(*whole_, begin * strides[axis_], strides, shape, so_far);
    pieces_.push_back(std::move(so_far));
    filled_ = 0;
    whole_ = nullptr;
  }

  void put(const Tensor& given) {
    const auto piece = given.type() == whole_->type() ? given : convert(given, whole_->type());
    const auto length = piece.shape()[axis_], whole = whole_->shape()[axis_];
    const auto begin = link.stride < 0 ? whole - filled_ - length : filled_;
    if (whole_->type() == ElementType::string) whole_->keep_alive(piece);
    const auto strides = strides_of(whole_->shape());
    scatter_strided(piece, piece.shape(), *whole_, begin * strides[axis_], strides);
    filled_ += length;
  }

  /// No iteration: the shape that inference found, what it left open being nothing.
  void nothing() {
    const auto& inferred = c.out_shape(link.port);
    Shape shape;
    for (const auto& d : inferred) shape.push_back(d.min);
    if (inferred.has_rank() && inferred.rank() > 0) shape[normalized(link.axis, inferred.rank())] = 0;
    else shape = {0};
    c.out(link.port, std::move(shape));
  }
};

}  // namespace

std::optional<Parts> parts_of(const BodyLink& link, i64 length) {
  const auto start = link.start < 0 ? length + 1 + link.start : link.start;
  const auto end = link.end < 0 ? length + 1 + link.end : link.end;
  const auto low = link.stride < 0 ? end : start, high = link.stride < 0 ? start : end;
  if (low < 0 || low > high || high > length) return std::nullopt;
  const auto step = link.stride < 0 ? -std::max(link.stride, -std::numeric_limits<i64>::max()) : link.stride;
  const auto count = high - low < link.part_size ? 0 : (high - low - link.part_size) / step + 1;
  if (link.stride > 0) return Parts{low, step, count};
  return Parts{high - link.part_size, -step, count};
}

std::optional<Dim> sliced_count(const InferContext& c) {
  std::optional<Dim> common;
  for (const auto& link : c.bodies()[0].inputs) {
    if (!link.sliced) continue;
    const auto& shape = c.shape(link.port);
    Dim count;
    if (shape.has_rank()) {
      const auto& along = shape[sliced_axis(c, link)];
      if (along.is_static()) {
        const auto parts = parts_of(link, along.length());
        c.require(parts.has_value(), link.port, Code::E0507,
                  "the port map of {} slices axis {} of input \"{}\" {} from {} to {} by {}, which is out of range",
                  c.op().type, link.axis, c.port_name(link.port), to_string(shape), link.start, link.end, link.stride);
        count = Dim(parts->count);
      } else {
        const auto min = parts_of(link, along.min), max = along.is_bounded() ? parts_of(link, along.max) : std::nullopt;
        count = Dim(min ? min->count : 0, max ? max->count : Dim::kUnbounded);
      }
    }
    const auto both = common ? intersect(*common, count) : count;
    c.require(both.has_value(), link.port, Code::E0506,
              "input \"{0}\" of {1} must be sliced into {3} parts as the inputs before it, but is sliced into {2}",
              c.port_name(link.port), c.op().type, to_string(count), to_string(common.value_or(Dim())));
    common = both;
  }
  return common;
}

std::optional<i64> sliced_count(EvalContext& c) {
  for (const auto& link : c.bodies()[0].inputs)
    if (link.sliced) return parts_along(link, c.in(link.port)).count;
  return std::nullopt;
}

std::vector<Fact> infer_rounds(const InferContext& c) {
  const auto& map = c.bodies()[0];
  std::vector<Fact> parameters(at(map.parameter_count));
  for (const auto& link : map.inputs) parameters[at(link.inner)] = link.sliced ? part_fact(c, link) : c.in(link.port);
  if (map.iteration_parameter >= 0)
    parameters[at(map.iteration_parameter)] = Fact{map.iteration_type, map.iteration_shape, {}, nullptr};
  for (int round = 0;; ++round) {
    auto results = c.infer_body(0, parameters);
    bool settled = true;
    for (const auto& edge : map.feedback) {
      auto& before = parameters[at(edge.parameter)];
      const auto& result = results[at(edge.result)];
      const auto* initial = input_of(map, edge.parameter);
      c.require(
          before.type == result.type || before.type == ElementType::dynamic || result.type == ElementType::dynamic,
          initial ? initial->port : -1, Code::E0503,
          "a Parameter in the body of {} must keep its element type, but is {} first and {} by its back edge",
          c.op().type, name(before.type), name(result.type));
      auto next = round < kRoundsBeforeNothing ? merge(before, result) : Fact{};
      if (round >= kRoundsBeforeWidening) widen(next.shape, before.shape);
      if (round >= kRoundsBeforeRanks)
        next = {next.type, next.shape.has_rank() ? PartialShape::of_rank(next.shape.rank()) : next.shape, {}, nullptr};
      if (same(next, before)) continue;
      settled = false;
      before = std::move(next);
    }
    if (settled) return results;
  }
}

void infer_outputs(InferContext& c, const std::vector<Fact>& results, const Dim& iterations, bool sized) {
  const auto& map = c.bodies()[0];
  std::uint32_t outside = 0;
  for (int i = 0; i < c.input_count(); ++i)
    for (const auto& d : c.shape(i)) outside = std::max(outside, d.symbol);
  for (int o = 0; o < c.output_count(); ++o)
    if (std::none_of(map.outputs.begin(), map.outputs.end(), [o](const BodyLink& link) { return link.port == o; }))
      fail(Code::E0208, "the body of {} must give output {}", c.op().type, o);
  for (const auto& link : map.outputs) {
    auto fact = results[at(link.inner)];
    fact.bounds = nullptr;
    if (link.sliced) {
      fact.shape = concatenated(fact.shape, link, iterations, sized, c);
      fact.value = {};
    } else if (const auto* edge = feedback_of(map, link.inner); edge && iterations.min == 0) {
      // Without an iteration what would have been fed back first is the output.
      if (const auto* initial = input_of(map, edge->parameter); initial && !initial->sliced)
        fact = iterations.max == 0 ? c.in(initial->port) : merge(fact, c.in(initial->port));
    }
    drop_symbols(fact.shape, outside);
    c.output(link.port, fact.type, std::move(fact.shape));
    if (fact.value) c.output_value(link.port, std::move(fact.value));
  }
}

void run_iterations(EvalContext& c, i64 limit) {
  const auto& map = c.bodies()[0];
  std::vector<Tensor> parameters(at(map.parameter_count)), results;
  std::vector<std::pair<const BodyLink*, Parts>> sliced;
  for (const auto& link : map.inputs) {
    const auto& whole = c.in(link.port);
    if (!link.sliced) parameters[at(link.inner)] = whole;
    else sliced.emplace_back(&link, parts_along(link, whole));
  }
  std::vector<Scan> scans;
  for (const auto& link : map.outputs) {
    if (!link.sliced) continue;
    // A condition may end the loop early, unless inference knew that it does not: then the shape is static.
    const bool exact = limit >= 0 && (map.condition_result < 0 || c.out_shape(link.port).is_static());
    scans.emplace_back(c, link, exact ? std::optional(limit) : std::nullopt);
  }
  const auto number_shape = map.iteration_shape.has_rank() && map.iteration_shape.rank() == 0 ? Shape{} : Shape{1};

  bool go_on = true;
  for (i64 i = 0; go_on && i != limit; ++i) {
    for (const auto& [link, parts] : sliced) parameters[at(link->inner)] = part(c.in(link->port), *link, parts, i);
    if (map.iteration_parameter >= 0)
      parameters[at(map.iteration_parameter)] = convert(Tensor::scalar(i).reshaped(number_shape), map.iteration_type);
    results = c.run_body(0, parameters);
    auto scan = scans.begin();
    for (const auto& link : map.outputs)
      if (link.sliced) (scan++)->add(results[at(link.inner)]);
    for (const auto& edge : map.feedback) parameters[at(edge.parameter)] = results[at(edge.result)];
    if (map.condition_result >= 0) go_on = to_i64(results[at(map.condition_result)]).at(0) != 0;
  }

  for (auto& scan : scans) scan.finish();
  for (const auto& link : map.outputs) {
    if (link.sliced) continue;
    const auto* edge = feedback_of(map, link.inner);
    if (results.empty() && !edge)
      fail(Code::E0508,
           "output {} has no value: the body ran for 0 iterations, and no back edge gives it an initial value",
           link.port);
    const auto& value = results.empty() ? parameters[at(edge->parameter)] : results[at(link.inner)];
    require_as_inferred(c, link.port, value.shape());
    c.set_out(link.port, value);
  }
}

}  // namespace ovir::ops::infrastructure
