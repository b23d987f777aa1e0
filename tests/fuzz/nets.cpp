// Random small nets of the operations that the fast tier fuses: convolutions, products, normalizations, poolings and
// what stands around them, over operands of every shape that broadcasts, and states. Every way to run gives what the
// reference tier gives, also a second time, after other data, with the batch unknown beforehand, and in lower precision
// at least the same shapes.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/ranges.h>

#include "agree.hpp"
#include "fuzz.hpp"
#include "harness/graph_text.hpp"
#include "scratch.hpp"
#include "values.hpp"

using namespace ovir;
using fuzz::Choices;

namespace {

constexpr i64 kMaxElements = 1 << 13;  // of a value

/// What the driver's figures stand for.
struct Statistics {
  std::size_t made = 0, run = 0;
  ~Statistics() { fmt::print("{} nets, {} of them valid\n", made, run); }
};

struct Made {
  std::shared_ptr<const Model> model;
  Facts facts;
};

class Net {
 public:
  explicit Net(Choices& choices) : choices_(choices) {
    const auto channels = choices_.pick(std::array<i64, 6>{1, 3, 8, 16, 17, 33});
    const auto rank = 2 + choices_.below(3);
    Shape shape{1 + static_cast<i64>(choices_.below(3))};
    for (std::size_t axis = 1; axis < rank; ++axis)
      shape.push_back(axis == 1 && rank > 2 ? channels
                                            : 1 + static_cast<i64>(choices_.below(axis + 1 == rank ? 40 : 9)));
    stepped_ = choices_.one_in(4);
    if (choices_.one_in(3)) compressed_ = choices_.one_in(4) ? ElementType::bf16 : ElementType::f16;
    inputs_.push_back(shape);
    values_.push_back({graph_.parameter(name(), ElementType::f32, shape), shape});
  }

  /// Adds a few layers to the last value, each of them perhaps read elsewhere, too.
  void grow() {
    for (auto left = 1 + choices_.below(6); left > 0; --left) {
      const auto before = values_.size();
      add_layer(values_.back());
      if (values_.size() > before && choices_.one_in(6)) graph_.result(name(), values_.back().layer);
    }
    graph_.result(name(), values_.back().layer);
  }

  Made made(bool open_batch) const { return made(graph_, open_batch); }

  /// Of the shapes that the net is made for, or of one image more where it has several.
  std::vector<Tensor> some_inputs(Choices& choices, bool larger = false) const {
    std::vector<Tensor> all;
    for (auto shape : inputs_) {
      if (larger && !shape.empty() && shape[0] > 1) ++shape[0];
      all.push_back(fuzz::filled(ElementType::f32, shape, fuzz::Fill::fractions, choices));
    }
    return all;
  }
  bool has_levels() const { return has_levels_; }
  std::string xml() const { return graph_.xml(); }

  struct Invalid {};

 private:
  struct Value {
    int layer;
    Shape shape;
  };

  Made made(const spec::GraphText& graph, bool open_batch) const {
    static MemoryFile weights;
    weights.fill(bin_);
    Diagnostics diagnostics;
    Made m;
    m.model = load(model_file(graph.xml()), {.weights = weights.path()}, diagnostics);
    promise(m.model != nullptr, "a net is well-formed XML");
    passes::InferOptions options;
    for (int i = 0; open_batch && i < std::ssize(inputs_); ++i) {
      PartialShape shape(inputs_[static_cast<std::size_t>(i)]);
      if (shape.rank() == 0) continue;
      shape[0] = Dim();
      options.shapes[i] = shape;
    }
    m.facts = passes::infer(*m.model, options, diagnostics);
    if (!m.model->complete || diagnostics.errors() > 0) m.model = nullptr;
    return m;
  }

  std::string name() { return fmt::format("n{}", names_++); }
  i64 some(std::initializer_list<i64> list) { return list.begin()[choices_.below(list.size())]; }

  /// Fractions that keep sums of `terms` of them small.
  int weights(const Shape& shape, i64 terms = 1) {
    auto values = to_f64(fuzz::filled(ElementType::f32, shape, fuzz::Fill::fractions, choices_));
    for (auto& v : values) v /= std::sqrt(static_cast<double>(terms));
    if (stepped_) {
      // Integers by a step, as convolutions and products in int8 want them.
      for (auto& v : values) v = std::clamp(std::nearbyint(v * 127), -127.0, 127.0);
      const auto whole = graph_.constant(
          name(),
          Tensor::of<std::int8_t>(ElementType::i8, shape, std::vector<std::int8_t>(values.begin(), values.end())));
      const auto numbers = graph_.add(name(), "Convert-1", {whole}, {{"destination_type", "f32"}});
      return graph_.add(name(), "Multiply-1", {numbers, number(1.0F / 64)});
    }
    const auto wide = Tensor::of<float>(ElementType::f32, shape, std::vector<float>(values.begin(), values.end()));
    if (!compressed_) return graph_.constant(name(), wide);
    const auto narrow = graph_.constant(name(), convert(wide, *compressed_));
    return graph_.add(name(), "Convert-1", {narrow}, {{"destination_type", "f32"}});
  }
  int indices(const std::vector<i64>& values) { return graph_.constant(name(), Tensor::vector(values)); }
  int number(float value) {
    return graph_.constant(name(), Tensor::of<float>(ElementType::f32, {}, std::vector{value}));
  }

  /// The layer, if it is valid and not large: its shape is what inference says.
  void push(std::string_view operation, const std::vector<int>& inputs, const spec::AttributeTexts& attributes = {}) {
    const auto layer = graph_.add(name(), operation, inputs, attributes);
    auto probe = graph_;
    probe.result("probe", layer);
    const auto m = made(probe, false);
    if (!m.model) throw Invalid();
    const auto& shape = m.facts.of((*m.model)[m.model->results.back()].inputs.at(0)).shape;
    if (!shape.is_static() || shape.to_shape().count() > kMaxElements) throw Invalid();
    values_.push_back({layer, shape.to_shape()});
  }

  /// Another operand for `to`: an earlier value, a constant or an input that broadcasts with it, now and then to more.
  int operand(const Shape& to) {
    if (choices_.one_in(4)) {
      std::vector<int> same;
      for (const auto& v : values_)
        if (v.shape == to) same.push_back(v.layer);
      return choices_.pick(same);
    }
    Shape shape = to;
    for (auto& length : shape)
      if (choices_.one_in(2)) length = 1;
      else if (length == 1 && choices_.one_in(8)) length = 2;
    if (choices_.one_in(3)) shape = to;
    while (!shape.empty() && shape[0] == 1 && choices_.one_in(2)) shape = Shape(shape.begin() + 1, shape.end());
    if (choices_.one_in(2)) return weights(shape);
    inputs_.push_back(shape);
    return graph_.parameter(name(), ElementType::f32, shape);
  }

  void elementwise(const Value& x) {
    constexpr std::string_view kBinary[] = {"Add-1", "Add-1", "Multiply-1", "Subtract-1", "Maximum-1"};
    auto other = operand(x.shape);
    const auto type = choices_.pick(kBinary);
    if (choices_.one_in(4)) push(type, {other, x.layer});
    else push(type, {x.layer, other});
  }

  /// x where it is greater than 0, x · slopes elsewhere.
  void sloped(const Value& x) {
    auto slopes = x.shape;
    for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = i == 1 ? slopes[i] : 1;
    push("Greater-1", {x.layer, number(0)});
    const auto test = values_.back().layer;
    push("Multiply-1", {x.layer, weights(slopes)});
    push("Select-1", {test, x.layer, values_.back().layer});
  }

  void activation(const Value& x) {
    switch (choices_.below(10)) {
      case 9: return sloped(x);
      case 0: return push("Relu-1", {x.layer});
      case 1: return push("Sigmoid-1", {x.layer});
      case 2: return push("Tanh-1", {x.layer});
      case 3: return push("HSwish-4", {x.layer});
      case 4: return push("Gelu-7", {x.layer}, {{"approximation_mode", choices_.one_in(2) ? "ERF" : "TANH"}});
      case 5: return push("Clamp-1", {x.layer}, {{"min", "-0.5"}, {"max", "6"}});
      case 6: return push("Swish-4", {x.layer});
      case 7: return push("Elu-1", {x.layer}, {{"alpha", "0.5"}});
      default: return push("PRelu-1", {x.layer, weights({x.shape.rank() > 1 ? x.shape[1] : i64{1}})});
    }
  }

  spec::AttributeTexts windows(i64 axes, i64 kernel) {
    const auto list = [&](i64 value) { return axes == 1 ? fmt::format("{}", value) : fmt::format("{0},{0}", value); };
    return {{"strides", list(some({1, 1, 2}))},
            {"dilations", list(kernel > 1 ? some({1, 1, 2}) : 1)},
            {"pads_begin", list(some({0, kernel / 2, kernel / 2}))},
            {"pads_end", list(some({0, kernel / 2, kernel / 2}))}};
  }

  void convolution(const Value& from) {
    if (stepped_ && choices_.one_in(2)) levels(from);
    const auto x = values_.back();
    const auto kernel = some({1, 1, 3, 3, 5}), channels = x.shape[1], axes = x.shape.rank() - 2;
    Shape taps(static_cast<std::size_t>(axes), kernel);
    if (choices_.one_in(3)) {
      Shape filters{channels, 1, 1};
      filters.insert(filters.end(), taps.begin(), taps.end());
      return push("GroupConvolution-1", {x.layer, weights(filters, kernel * kernel)}, windows(axes, kernel));
    }
    const auto outputs = choices_.one_in(2) ? channels : some({1, 5, 16, 24, 33});
    Shape filters{outputs, channels};
    filters.insert(filters.end(), taps.begin(), taps.end());
    push("Convolution-1", {x.layer, weights(filters, channels * kernel * kernel)}, windows(axes, kernel));
  }

  void pooling(const Value& x) {
    const auto list = [&](i64 value) {
      return x.shape.rank() == 3 ? fmt::format("{}", value) : fmt::format("{0},{0}", value);
    };
    // No window lies in the padding alone: its maximum is the least number, of which only overflows follow.
    const bool ceil = choices_.one_in(2);
    spec::AttributeTexts attributes{{"kernel", list(some({2, 3}))},
                                    {"strides", list(some({1, 2}))},
                                    {"pads_begin", list(some({0, 1}))},
                                    {"pads_end", list(ceil ? 0 : some({0, 1}))},
                                    {"rounding_type", ceil ? "ceil" : "floor"}};
    if (choices_.one_in(2)) return push("MaxPool-1", {x.layer}, attributes);
    attributes.emplace_back("exclude-pad", choices_.one_in(2) ? "true" : "false");
    push("AvgPool-1", {x.layer}, attributes);
  }

  /// By a constant that has the last axis, perhaps another one, and one or two of its own; in any order.
  void einsum(const Value& x) {
    const auto rank = x.shape.rank();
    auto labels = std::string("abcdefgh").substr(0, static_cast<std::size_t>(rank));
    std::string own(1, labels.back()), out = labels.substr(0, labels.size() - 1);
    Shape shape{x.shape.back()};
    if (rank > 1 && choices_.one_in(2)) {
      const auto axis = static_cast<i64>(choices_.below(static_cast<std::size_t>(rank - 1)));
      own += labels[static_cast<std::size_t>(axis)];
      shape.push_back(x.shape[axis]);
    }
    for (const char label : choices_.one_in(2) ? "y" : std::string("yz")) {
      own += label;
      out += label;
      shape.push_back(some({1, 3, 16, 20}));
    }
    const auto shuffle = [&](std::size_t n, auto swap) {
      for (std::size_t i = 0; i + 1 < n; ++i) swap(i, i + choices_.below(n - i));
    };
    shuffle(own.size(), [&](std::size_t i, std::size_t j) {
      std::swap(own[i], own[j]);
      std::swap(shape[static_cast<i64>(i)], shape[static_cast<i64>(j)]);
    });
    if (choices_.one_in(2)) shuffle(out.size(), [&](std::size_t i, std::size_t j) { std::swap(out[i], out[j]); });
    const auto w = weights(shape, x.shape.back());
    if (choices_.one_in(2)) push("Einsum-7", {x.layer, w}, {{"equation", fmt::format("{},{}->{}", labels, own, out)}});
    else push("Einsum-7", {w, x.layer}, {{"equation", fmt::format("{},{}->{}", own, labels, out)}});
  }

  /// Of planes, or of images whose channels come last.
  void resize(const Value& x) {
    constexpr std::string_view kModes[] = {"nearest", "linear_onnx", "linear_onnx", "linear"},
                               kCoordinates[] = {"half_pixel", "asymmetric", "align_corners"};
    const i64 first = choices_.one_in(2) ? 2 : 1;
    const auto length = [&](i64 axis) {
      return std::max<i64>(1, x.shape[axis] * some({1, 2, 2, 3}) / some({1, 1, 2}));
    };
    push("Interpolate-11", {x.layer, indices({length(first), length(first + 1)}), indices({first, first + 1})},
         {{"mode", std::string(choices_.pick(kModes))},
          {"shape_calculation_mode", "sizes"},
          {"coordinate_transformation_mode", std::string(choices_.pick(kCoordinates))}});
  }

  void product(const Value& x) {
    if (choices_.one_in(5)) return einsum(x);
    const auto k = x.shape.back(), n = choices_.one_in(2) ? k : some({1, 7, 16, 35, 64});
    const bool transposed = choices_.one_in(2), first = choices_.one_in(8);
    if (first) {  // the constant on the left
      const auto rows = x.shape[x.shape.rank() - 2];
      return push("MatMul-1", {weights({n, rows}, rows), x.layer},
                  {{"transpose_a", "false"}, {"transpose_b", "false"}});
    }
    auto matrix = transposed ? Shape{n, k} : Shape{k, n};
    if (x.shape.rank() > 2 && choices_.one_in(4)) matrix.insert(matrix.begin(), x.shape[x.shape.rank() - 3]);
    const auto w = weights(matrix, k);
    push("MatMul-1", {x.layer, w}, {{"transpose_a", "false"}, {"transpose_b", transposed ? "true" : "false"}});
  }

  void normalization(const Value& x) {
    const auto last = x.shape.rank() - 1;
    switch (choices_.below(4)) {
      case 0:
        push("MVN-6", {x.layer, indices({choices_.one_in(3) ? 1 : last})},
             {{"normalize_variance", "true"}, {"eps", "1e-3"}, {"eps_mode", "inside_sqrt"}});
        break;
      case 1: return push("Softmax-8", {x.layer}, {{"axis", choices_.one_in(3) ? "1" : "-1"}});
      case 2: return push("ReduceMean-1", {x.layer, indices({last})}, {{"keep_dims", "true"}});
      default: {
        const auto squares = values_.back();
        push("Power-1", {x.layer, number(2)});
        push("ReduceMean-1", {values_.back().layer, indices({last})}, {{"keep_dims", "true"}});
        push("Add-1", {values_.back().layer, number(1e-2F)});
        push("Sqrt-1", {values_.back().layer});
        push("Divide-1", {number(1), values_.back().layer});
        push("Multiply-1", {squares.layer, values_.back().layer});
      }
    }
    push("Multiply-1", {values_.back().layer, weights({values_.back().shape.back()})});
    if (choices_.one_in(2)) push("Add-1", {values_.back().layer, weights({values_.back().shape.back()})});
  }

  /// The value as it is, by an operation that could change it.
  void unchanged(const Value& x) {
    std::vector<i64> shape(x.shape.begin(), x.shape.end());
    switch (choices_.below(3)) {
      case 0: return push("Broadcast-3", {x.layer, indices(shape)}, {{"mode", "bidirectional"}});
      case 1: return push("Tile-1", {x.layer, indices(std::vector<i64>(shape.size(), 1))});
      default:
        shape[choices_.below(shape.size())] = -1;
        push("Reshape-1", {x.layer, indices(shape)}, {{"special_zero", "true"}});
    }
  }

  void movement(const Value& x) {
    const auto rank = x.shape.rank();
    if (choices_.one_in(3)) return unchanged(x);
    if (choices_.one_in(2)) {
      std::vector<i64> order(static_cast<std::size_t>(rank));
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<i64>(i);
      std::swap(order[choices_.below(order.size())], order[choices_.below(order.size())]);
      return push("Transpose-1", {x.layer, indices(order)});
    }
    push("Concat-1", {x.layer, operand_like(x)},
         {{"axis", std::to_string(choices_.below(static_cast<std::size_t>(rank)))}});
  }
  int operand_like(const Value& x) {
    if (choices_.one_in(2)) return x.layer;
    inputs_.push_back(x.shape);
    return graph_.parameter(name(), ElementType::f32, x.shape);
  }

  /// What the run before gave, or zeros, added up.
  void state(const Value& x) {
    const auto variable = name(), shape = fmt::format("{}", fmt::join(x.shape, ","));
    const auto zeros =
        Tensor::of<float>(ElementType::f32, x.shape, std::vector<float>(static_cast<std::size_t>(x.shape.count())));
    push("ReadValue-6", {graph_.constant(name(), zeros)},
         {{"variable_id", variable}, {"variable_type", "f32"}, {"variable_shape", shape}});
    push("Multiply-1", {values_.back().layer, number(0.5F)});
    push("Add-1", {values_.back().layer, x.layer});
    graph_.sink(name(), "Assign-6", values_.back().layer, {{"variable_id", variable}});
  }

  void levels(const Value& x) {
    has_levels_ = true;
    auto low = number(-2), high = number(2 - 1.0F / 64);
    if (x.shape.rank() > 2 && choices_.one_in(2)) {
      // By channel, with 0 at another level in each.
      Shape shape(x.shape.rank(), 1);
      shape[1] = x.shape[1];
      std::vector<float> lows, highs;
      for (i64 c = 0; c < shape[1]; ++c) {
        const auto step = static_cast<float>(1 + choices_.below(4)) / 64;
        const auto zero = static_cast<float>(choices_.one_in(2) ? 0 : choices_.below(256));
        lows.push_back(-zero * step);
        highs.push_back((255 - zero) * step);
      }
      low = graph_.constant(name(), Tensor::of<float>(ElementType::f32, shape, std::move(lows)));
      high = graph_.constant(name(), Tensor::of<float>(ElementType::f32, shape, std::move(highs)));
    }
    push("FakeQuantize-1", {x.layer, low, high, low, high}, {{"levels", "256"}});
  }

  void add_layer(const Value last) {
    const bool plane = last.shape.rank() == 3 || last.shape.rank() == 4;
    switch (choices_.below(12)) {
      case 0:
      case 1: return plane ? convolution(last) : product(last);
      case 2: return last.shape.rank() > 1 ? product(last) : elementwise(last);
      case 3:
        if (last.shape.rank() == 4 && choices_.one_in(3)) return resize(last);
        return plane ? pooling(last) : activation(last);
      case 4: return normalization(last);
      case 5: return movement(last);
      case 6: return choices_.one_in(3) ? levels(last) : activation(last);
      case 9: return choices_.one_in(4) ? state(last) : elementwise(last);
      case 7:
      case 8: return activation(last);
      default: return elementwise(last);
    }
  }

  Choices& choices_;
  std::string bin_ = std::string(64, '\0');
  spec::GraphText graph_{bin_};
  std::vector<Value> values_;
  std::vector<Shape> inputs_;
  int names_ = 0;
  bool has_levels_ = false;
  bool stepped_ = false;                   // weights are integers by a step
  std::optional<ElementType> compressed_;  // what constants are in the file, as converters write them
};

// Sums of several layers leave more rounding than the small values that they cancel to.
constexpr double kFloor = 0.2;

std::string difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b, bool values) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (const auto wrong = fuzz::difference(a[k], b[k], values, kFloor); !wrong.empty())
      return fmt::format("result {}, {}", k, wrong);
  return "";
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  static Statistics statistics;
  Choices choices(bytes);
  Net net(choices);
  ++statistics.made;
  try {
    net.grow();
  } catch (const Net::Invalid&) {
    return;
  }
  const bool open_batch = choices.one_in(3);
  const auto m = net.made(open_batch);
  if (!m.model) return;
  const auto first = net.some_inputs(choices, open_batch && choices.one_in(2)), second = net.some_inputs(choices);
  const std::vector<Tensor>* const runs[] = {&first, &second, &second};
  std::vector<std::optional<std::vector<Tensor>>> expected;  // nothing where inputs do not go together
  const auto session_of = [&](const testing::Way& way, Precision precision) {
    auto options = testing::options_of(way);
    options.precision = precision;
    options.runtime.threads = choices.one_in(4) ? 2 : 1;
    return compile(m.model, m.facts, options);
  };
  const auto results_of = [&](Session& session, const std::vector<Tensor>& inputs) {
    try {
      return std::optional(session.run(inputs));
    } catch (const Failure&) {
      return std::optional<std::vector<Tensor>>();
    }
  };
  const auto judge = [&](const testing::Way& way, Precision precision) {
    auto session = session_of(way, precision);
    const bool values = precision == Precision::f32 && !net.has_levels();
    for (std::size_t run = 0; run < std::size(runs); ++run) {
      const auto results = results_of(session, *runs[run]);
      const auto wrong = results.has_value() != expected[run].has_value() ? std::string("only one of them fails")
                         : results                                        ? difference(*expected[run], *results, values)
                                                                          : "";
      if (!wrong.empty())
        broken(fmt::format("{}, run {}, precision {}: as the reference tier: {}\n{}", way.name, run,
                           static_cast<int>(precision), wrong, net.xml()));
    }
  };
  auto reference = session_of(testing::kReference, Precision::f32);
  for (const auto* inputs : runs) expected.push_back(results_of(reference, *inputs));
  judge(testing::kOnce, Precision::f32);
  judge(testing::kSteady, Precision::f32);
  judge(testing::kSteady, choices.one_in(2) ? Precision::bf16 : Precision::int8);
  ++statistics.run;
}
