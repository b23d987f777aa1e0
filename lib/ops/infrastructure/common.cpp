#include "ops/infrastructure/common.hpp"

#include "tensor/copy.hpp"

namespace ovir::ops::infrastructure {
namespace {

/// After so many rounds dims that still change are given up, then values and dims of all that is fed back, then all
/// that is known of it: a chain of a thousand feedbacks need not take a thousand rounds.
constexpr int kRoundsBeforeWidening = 3, kRoundsBeforeRanks = 8, kRoundsBeforeNothing = 16;

/// A fault of the port map; `port`: the input that it is about, -1: none.
[[noreturn]] void fail_in_map(const InferContext& c, const SourceLoc& at, int port, std::string message) {
  auto d = diagnose(Code::E0507, std::move(message), at);
  if (port >= 0) d.port = PortRef{true, port, std::nullopt, c.port_name(port)};
  fail(std::move(d));
}

/// The axis along which an input of known rank is sliced.
i64 sliced_axis(const InferContext& c, const BodyLink& link) {
  const auto& shape = c.shape(link.port);
  if (link.axis < -shape.rank() || link.axis >= shape.rank())
    fail_in_map(c, link.axis_at, link.port,
                fmt::format("the port map of {} slices input \"{}\" {} along axis {}, but {}", c.op().type,
                            c.port_name(link.port), to_string(shape), link.axis, axes_of_rank(shape.rank())));
  return link.axis < 0 ? link.axis + shape.rank() : link.axis;
}

/// `start` and `end` lie on the axis, in the order of the stride; negative ones count from the end.
void require_range(const InferContext& c, const BodyLink& link, i64 length) {
  const auto input =
      fmt::format("axis {} of input \"{}\" {}", link.axis, c.port_name(link.port), to_string(c.shape(link.port)));
  const std::tuple<std::string_view, i64, const SourceLoc&> ends[] = {{"start", link.start, link.start_at},
                                                                      {"end", link.end, link.end_at}};
  for (const auto& [name, value, at] : ends)
    if (value < -length - 1 || value > length)
      fail_in_map(c, at, link.port,
                  fmt::format("\"{}\" of the port map of {} must be in {}..{} for {}, but is {}", name, c.op().type,
                              -length - 1, length, input, value));
  if (!parts_of(link, length))
    fail_in_map(
        c, link.start_at, link.port,
        fmt::format("\"start\" of the port map of {} must not be {} \"end\", as the stride is {}, but they are "
                    "{} and {} for {}",
                    c.op().type, link.stride < 0 ? "before" : "behind", link.stride, link.start, link.end, input));
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
  if (link.axis < -whole.rank() || link.axis >= whole.rank())
    fail_in_map(c, link.axis_at, -1,
                fmt::format("the port map of {} concatenates the parts {} of output {} along axis {}, but {}",
                            c.op().type, to_string(part), link.port, link.axis, axes_of_rank(whole.rank())));
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

/// An input that is cut into parts.
class Sliced {
 public:
  Sliced(EvalContext& c, const BodyLink& link)
      : link_(&link),
        whole_(&c.in(link.port)),
        parts_(parts_along(link, *whole_)),
        axis_(normalized(link.axis, whole_->rank())),
        shape_(whole_->shape()),
        strides_(strides_of(shape_)) {
    shape_[axis_] = link.part_size;
    contiguous_ = std::all_of(shape_.begin(), shape_.begin() + axis_, [](i64 length) { return length == 1; });
    if (contiguous_ && !whole_->packed()) return;
    contiguous_ = false;
    copy_ = whole_->type() == ElementType::string ? Tensor(whole_->type(), shape_) : c.scratch(whole_->type(), shape_);
    if (whole_->type() == ElementType::string) copy_.keep_alive(*whole_);
  }

  int parameter() const { return link_->inner; }
  /// What iteration `iteration` receives: a view where it is contiguous, else a copy that the next one overwrites.
  Tensor part(i64 iteration) {
    const auto first = (parts_.first + iteration * parts_.step) * strides_[axis_];
    if (contiguous_)
      return {whole_->type(), shape_, whole_->owner(), whole_->bytes() + first * byte_width(whole_->type())};
    gather_strided(*whole_, first, strides_, shape_, copy_);
    return copy_;
  }

 private:
  const BodyLink* link_;
  const Tensor* whole_;
  Parts parts_;
  i64 axis_;
  Shape shape_, strides_;
  bool contiguous_ = false;
  Tensor copy_;
};

/// What follows was planned for the inferred shape: a body that breaks its word must not go on.
void require_as_inferred(const EvalContext& c, int port, const Shape& shape) {
  if (!c.out_shape(port).contains(shape))
    fail(Code::E0506, "output {} must have shape {} as inferred from the body, but has {}", port,
         to_string(c.out_shape(port)), to_string(shape));
}

/// An output that is concatenated from what the iterations give. It is written in place; where it is not known
/// beforehand how long it becomes, the place grows.
class Scan {
 public:
  Scan(EvalContext& context, const BodyLink& l, std::optional<i64> iterations)
      : c(context), link(l), iterations_(iterations) {}

  void add(const Tensor& given) {
    auto piece = given.rank() == 0 ? given.reshaped({1}) : given;
    if (first_.empty()) begin(piece);
    auto expected = first_;
    if (piece.rank() == expected.rank()) expected[axis_] = piece.shape()[axis_];
    if (piece.shape() != expected)
      fail(Code::E0505, "output {} cannot concatenate {} with {} along axis {}", link.port, to_string(first_),
           to_string(piece.shape()), axis_);
    const auto end = checked_add(filled_, piece.shape()[axis_]);
    if (!end) fail_too_large();
    if (*end > whole_.shape()[axis_]) {
      move_to(place(std::max(*end, saturating_mul(2, filled_))));
      is_output_ = false;
    }
    put(piece);
  }

  void finish() {
    if (first_.empty()) return nothing();
    if (!is_output_ || whole_.shape()[axis_] != filled_) {
      auto shape = first_;
      shape[axis_] = filled_;
      require_as_inferred(c, link.port, shape);
      move_to(c.out(link.port, std::move(shape)));
    }
    c.set_out(link.port, std::move(whole_));
  }

 private:
  EvalContext& c;
  const BodyLink& link;
  std::optional<i64> iterations_;
  i64 axis_ = 0;
  Shape first_;             ///< of the first part
  Tensor whole_;            ///< as long as it may become
  bool is_output_ = false;  ///< `whole_` lies where the output goes
  i64 filled_ = 0;          ///< along the axis: from the front, or from the back where parts come last first

  [[noreturn]] void fail_too_large() const {
    fail(Code::E0003, "output {} would have 2^63 elements or more", link.port);
  }

  void begin(const Tensor& piece) {
    first_ = piece.shape();
    axis_ = normalized(link.axis, piece.rank());
    const auto length = checked_mul(first_[axis_], iterations_.value_or(1));
    if (!length) fail_too_large();
    auto shape = first_;
    shape[axis_] = *length;
    // Parts of several lengths belie what is expected; then it is found out at the end.
    is_output_ = iterations_ && c.out_shape(link.port).contains(shape);
    whole_ = is_output_ ? c.out(link.port, std::move(shape)) : place(*length);
  }

  Tensor place(i64 length) const {
    auto shape = first_;
    shape[axis_] = length;
    return {whole_ ? whole_.type() : c.out_type(link.port), std::move(shape)};
  }

  /// What is filled, into the same end of another tensor.
  void move_to(Tensor to) {
    auto shape = first_;
    shape[axis_] = filled_;
    const auto from_strides = strides_of(whole_.shape()), to_strides = strides_of(to.shape());
    const auto width = byte_width(to.type());
    const auto begin = [&](const Tensor& t, i64 stride) {
      return (link.stride < 0 ? t.shape()[axis_] - filled_ : 0) * stride * width;
    };
    copy_strided(shape, whole_.bytes() + begin(whole_, from_strides[axis_]), from_strides,
                 to.mutable_bytes() + begin(to, to_strides[axis_]), to_strides, width);
    if (to.type() == ElementType::string) to.keep_alive(whole_);
    whole_ = std::move(to);
  }

  void put(const Tensor& given) {
    const auto piece = given.type() == whole_.type() ? given : convert(given, whole_.type());
    const auto length = piece.shape()[axis_], whole = whole_.shape()[axis_];
    const auto begin = link.stride < 0 ? whole - filled_ - length : filled_;
    if (whole_.type() == ElementType::string) whole_.keep_alive(piece);
    const auto strides = strides_of(whole_.shape());
    scatter_strided(piece, piece.shape(), whole_, begin * strides[axis_], strides);
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

bool goes_on(const Tensor& condition) {
  if (condition.type() != ElementType::boolean || condition.size() != 1)
    fail(Code::E0502, "the execution condition must be one boolean, but is {}{}", name(condition.type()),
         to_string(condition.shape()));
  return *condition.data<std::uint8_t>() != 0;
}

[[noreturn]] void fail_without_iterations(i64 output) {
  fail(Code::E0508,
       "output {} has no value: the body runs for 0 iterations, and no back edge gives it an initial value", output);
}

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
        require_range(c, link, along.length());
        count = Dim(parts_of(link, along.length())->count);
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
  std::vector<Fact> parameters(map.parameter_count);
  for (const auto& link : map.inputs) parameters[link.inner] = link.sliced ? part_fact(c, link) : c.in(link.port);
  if (map.iteration_parameter >= 0)
    parameters[map.iteration_parameter] = Fact{map.iteration_type, map.iteration_shape, {}, nullptr};
  for (int round = 0;; ++round) {
    auto results = c.infer_body(0, parameters);
    bool settled = true;
    for (const auto& edge : map.feedback) {
      auto& before = parameters[edge.parameter];
      const auto& result = results[edge.result];
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
    auto fact = results[link.inner];
    fact.bounds = nullptr;
    const auto* edge = link.sliced ? nullptr : feedback_of(map, link.inner);
    if (!link.sliced && !edge && iterations.max == 0) fail_without_iterations(link.port);
    if (link.sliced) {
      fact.shape = concatenated(fact.shape, link, iterations, sized, c);
      fact.value = {};
    } else if (edge && iterations.min == 0) {
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
  std::pmr::vector<Tensor> parameters(map.parameter_count, c.memory()), results(map.result_count, c.memory());
  std::pmr::vector<Sliced> sliced(c.memory());
  std::pmr::vector<Scan> scans(c.memory());
  for (const auto& link : map.inputs)
    if (link.sliced) sliced.emplace_back(c, link);
    else parameters[link.inner] = c.in(link.port);
  for (const auto& link : map.outputs) {
    if (!link.sliced) continue;
    // A condition may end the loop early, unless inference knew that it does not: then the shape is static.
    const bool exact = limit >= 0 && (map.condition_result < 0 || c.out_shape(link.port).is_static());
    scans.emplace_back(c, link, exact ? std::optional(limit) : std::nullopt);
  }
  const Shape number_shape(map.iteration_shape.has_rank() && map.iteration_shape.rank() == 0 ? 0 : 1, 1);
  auto count = c.scratch(ElementType::i64, number_shape), number = count;
  if (map.iteration_type != ElementType::i64) number = c.scratch(map.iteration_type, number_shape);

  bool ran = false, go_on = true;
  for (i64 i = 0; go_on && i != limit; ++i) {
    for (auto& input : sliced) parameters[input.parameter()] = input.part(i);
    if (map.iteration_parameter >= 0) {
      *count.mutable_data<i64>() = i;
      if (number.type() != ElementType::i64) convert_into(count, number);
      parameters[map.iteration_parameter] = number;
    }
    std::fill(results.begin(), results.end(), Tensor());  // a place that nobody holds is written again
    c.run_body(0, parameters, results);
    ran = true;
    auto scan = scans.begin();
    for (const auto& link : map.outputs)
      if (link.sliced) (scan++)->add(results[link.inner]);
    for (const auto& edge : map.feedback) parameters[edge.parameter] = results[edge.result];
    if (map.condition_result >= 0) go_on = goes_on(results[map.condition_result]);
  }

  for (auto& scan : scans) scan.finish();
  for (const auto& link : map.outputs) {
    if (link.sliced) continue;
    const auto* edge = feedback_of(map, link.inner);
    if (!ran && !edge) fail_without_iterations(link.port);
    const auto& value = ran ? results[link.inner] : parameters[edge->parameter];
    require_as_inferred(c, link.port, value.shape());
    c.set_out(link.port, value);
  }
}

}  // namespace ovir::ops::infrastructure
