// A fault that only a run finds reads as the one that `check` finds where the shapes are known: code, message, layer,
// port and what reached the layer, in groups that a pattern took and in bodies, too.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "catch.hpp"
#include "harness/ways.hpp"
#include "small_model.hpp"

using namespace ovir;
using testing::kWays;

namespace {

enum class Knows : std::uint8_t { shapes, ranks, nothing };

/// A model with a fault, whose Parameters say all of their shapes, ranks only, or nothing.
class Faulty {
 public:
  explicit Faulty(Knows knows) : knows_(knows) {}

  /// A float Parameter, and the shape of what it receives.
  int input(const std::string& name, const Shape& shape) {
    given.push_back(floats(shape, std::vector<float>(static_cast<std::size_t>(shape.count()), 0.5F)));
    return model.graph.parameter(name, ElementType::f32, shown(shape));
  }
  /// Numbers that the model has as a constant where it knows shapes, and receives otherwise.
  int numbers(const std::string& name, const std::vector<i64>& values) {
    auto value = Tensor::vector(values);
    if (knows_ == Knows::shapes) return model.graph.constant(name, value);
    given.push_back(std::move(value));
    return model.graph.parameter(name, ElementType::i64, shown({std::ssize(values)}));
  }
  int weights(const std::string& name, const Shape& shape) {
    return model.graph.constant(name,
                                floats(shape, std::vector<float>(static_cast<std::size_t>(shape.count()), 0.25F)));
  }
  int add(const std::string& name, std::string_view operation, const std::vector<int>& inputs,
          const spec::AttributeTexts& attributes = {}) {
    return last_ = model.graph.add(name, operation, inputs, attributes);
  }
  /// A layer of two outputs.
  void split(const std::string& type, const std::vector<int>& inputs, const std::string& data) {
    const auto ports = static_cast<int>(inputs.size());
    last_ =
        model.graph.layer("faulty", type, "opset1", data, inputs,
                          spec::output_port(ports, ElementType::f32) + spec::output_port(ports + 1, ElementType::f32));
  }
  /// A TensorIterator over the rows of x: `make` gives the layer of its body whose values are concatenated.
  template <class Make>
  void iterate(int x, const PartialShape& slice, Make make) {
    spec::GraphText body(model.bin);
    const auto row = body.parameter("row", ElementType::f32, knows_ == Knows::shapes ? slice : shown(slice.to_shape()));
    const auto result = body.result("given", make(body, row));
    last_ = model.graph.layer(
        "loop", "TensorIterator", "opset1", "", {x}, spec::output_port(1, ElementType::f32),
        fmt::format(R"(<port_map><input external_port_id="0" internal_layer_id="{}" axis="0"/>)"
                    R"(<output external_port_id="1" internal_layer_id="{}" axis="0"/></port_map><body>{}</body>)",
                    row, result, body.text()));
  }
  /// The last layer gives the result.
  Checked check() {
    model.graph.result("result", last_);
    return model.check();
  }
  PartialShape shown(const Shape& shape) const {
    if (knows_ == Knows::shapes) return PartialShape(shape);
    if (knows_ == Knows::nothing) return PartialShape::unknown_rank();
    return PartialShape(std::vector<Dim>(static_cast<std::size_t>(shape.rank())));
  }

  SmallModel model;
  std::vector<Tensor> given;  ///< by Parameter

 private:
  Knows knows_;
  int last_ = -1;
};

const spec::AttributeTexts kPlain{{"transpose_a", "false"}, {"transpose_b", "false"}};

void product(Faulty& f) { f.add("faulty", "MatMul-1", {f.input("x", {4, 7}), f.weights("w", {8, 5})}, kPlain); }
void product_of_a_group(Faulty& f) {
  auto y = f.add("faulty", "MatMul-1", {f.input("x", {4, 7}), f.weights("w", {8, 5})}, kPlain);
  y = f.add("bias", "Add-1", {y, f.weights("b", {5})});
  f.add("relu", "Relu-1", {y});
}
void bias_of_a_group(Faulty& f) {
  auto y = f.add("product", "MatMul-1", {f.input("x", {4, 8}), f.weights("w", {8, 5})}, kPlain);
  f.add("faulty", "Add-1", {y, f.input("b", {6})});
}
void convolution_of_a_group(Faulty& f) {
  const auto y = f.add("faulty", "Convolution-1", {f.input("x", {1, 4, 8, 8}), f.weights("w", {16, 3, 3, 3})},
                       {{"strides", "1,1"}, {"dilations", "1,1"}, {"pads_begin", "0,0"}, {"pads_end", "0,0"}});
  f.add("relu", "Relu-1", {f.add("bias", "Add-1", {y, f.weights("b", {1, 16, 1, 1})})});
}
void elements(Faulty& f) {
  const auto y = f.add("before", "Tanh-1", {f.input("x", {2, 3})});
  f.add("behind", "Relu-1", {f.add("faulty", "Multiply-1", {y, f.input("z", {2, 4})})});
}
void reshape(Faulty& f) {
  f.add("faulty", "Reshape-1", {f.input("x", {4, 6}), f.numbers("target", {5, -1})}, {{"special_zero", "false"}});
}
void reshape_twice(Faulty& f) {
  f.add("faulty", "Reshape-1", {f.input("x", {4, 6}), f.numbers("target", {-1, -1})}, {{"special_zero", "true"}});
}
void split(Faulty& f) {
  const auto axis = f.model.graph.constant("axis", Tensor::scalar(1));
  f.split("VariadicSplit", {f.input("x", {2, 7}), axis, f.numbers("lengths", {3, 3})}, "");
}
void even_split(Faulty& f) {
  const auto axis = f.model.graph.constant("axis", Tensor::scalar(1));
  f.split("Split", {f.input("x", {2, 7}), axis}, R"(<data num_splits="2"/>)");
}
void transpose(Faulty& f) { f.add("faulty", "Transpose-1", {f.input("x", {2, 3, 4}), f.numbers("order", {0, 2, 2})}); }
void concat(Faulty& f) {
  f.add("faulty", "Concat-1", {f.input("x", {2, 3}), f.input("y", {2, 4}), f.input("z", {3, 4})}, {{"axis", "1"}});
}
void softmax(Faulty& f) { f.add("faulty", "Softmax-8", {f.input("x", {2, 3})}, {{"axis", "2"}}); }
void mean(Faulty& f) {
  f.add("faulty", "ReduceMean-1", {f.input("x", {2, 3}), f.numbers("axes", {1, 2})}, {{"keep_dims", "true"}});
}
void broadcast(Faulty& f) {
  f.add("faulty", "Broadcast-3", {f.input("x", {2, 3}), f.numbers("target", {2, 4})}, {{"mode", "numpy"}});
}
void roll(Faulty& f) {
  f.add("faulty", "Roll-7", {f.input("x", {2, 3}), f.numbers("shift", {1}), f.numbers("axes", {2})});
}
void unsqueeze(Faulty& f) { f.add("faulty", "Unsqueeze-1", {f.input("x", {2, 3}), f.numbers("axes", {0, 0})}); }
void attention(Faulty& f) {
  const auto q = f.input("q", {1, 2, 5, 8}), k = f.input("k", {1, 2, 8, 6}), v = f.input("v", {1, 2, 7, 8});
  const auto scores = f.add("scores", "MatMul-1", {q, k}, kPlain);
  f.add("faulty", "MatMul-1", {f.add("soft", "Softmax-8", {scores}, {{"axis", "-1"}}), v}, kPlain);
}
void normalization(Faulty& f) {
  const auto y = f.add("mvn", "MVN-6", {f.input("x", {2, 3}), f.model.graph.constant("axes", Tensor::vector({-1}))},
                       {{"normalize_variance", "true"}, {"eps", "1e-5"}, {"eps_mode", "inside_sqrt"}});
  f.add("faulty", "Multiply-1", {y, f.weights("w", {4})});
}

/// A body that adds to a slice of x, row by row, what has one element too many.
void loop(Faulty& f) {
  const auto x = f.input("x", {5, 3});
  f.iterate(x, PartialShape{1, 3}, [](spec::GraphText& body, int slice) {
    return body.add("faulty", "Add-1", {slice, body.constant("c", floats({4}, {1, 2, 3, 4}))});
  });
}
void loop_reshape(Faulty& f) {
  const auto x = f.input("x", {5, 3});
  f.iterate(x, PartialShape{1, 3}, [](spec::GraphText& body, int slice) {
    return body.add("faulty", "Reshape-1", {slice, body.constant("target", Tensor::vector({2, -1}))},
                    {{"special_zero", "false"}});
  });
}

struct Case {
  const char* name;
  void (*build)(Faulty&);
};
constexpr Case kCases[] = {{"product", product},
                           {"product of a group", product_of_a_group},
                           {"bias of a group", bias_of_a_group},
                           {"convolution of a group", convolution_of_a_group},
                           {"elements", elements},
                           {"reshape", reshape},
                           {"two open dims", reshape_twice},
                           {"split lengths", split},
                           {"even split", even_split},
                           {"transpose", transpose},
                           {"concat", concat},
                           {"softmax", softmax},
                           {"mean", mean},
                           {"broadcast", broadcast},
                           {"roll", roll},
                           {"unsqueeze", unsqueeze},
                           {"attention", attention},
                           {"normalization", normalization},
                           {"loop", loop},
                           {"reshape in a loop", loop_reshape}};

std::optional<Diagnostic> found_by_run(const Checked& c, const std::vector<Tensor>& inputs, const testing::Way& way) {
  try {
    testing::open(c.model, c.facts, way).run(inputs);
  } catch (const Failure& failure) {
    return failure.diagnostic;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a fault that a run finds reads as the one that the check finds") {
  for (const auto& [name, build] : kCases) {
    INFO(name);
    Faulty known(Knows::shapes);
    build(known);
    const auto expected = known.check();
    CHECK(expected.diagnostics.errors() == 1);
    if (expected.diagnostics.errors() != 1) continue;
    const auto& all = expected.diagnostics.all();
    const auto& fault =
        *std::find_if(all.begin(), all.end(), [](const auto& d) { return d.severity == Severity::error; });
    REQUIRE(fault.layer);
    CHECK(fault.layer->name == "faulty");
    for (const auto knows : {Knows::ranks, Knows::nothing}) {
      Faulty open(knows);
      build(open);
      const auto c = open.check();
      if (c.diagnostics.errors() > 0) {  // so much is known from ranks alone
        CHECK(knows == Knows::ranks);
        continue;
      }
      for (const auto& way : kWays) {
        INFO(way.name << (knows == Knows::ranks ? ", ranks are known" : ", nothing is known"));
        const auto found = found_by_run(c, open.given, way);
        CHECK(found);
        if (!found) continue;
        CHECK(found->message == fault.message);
        CHECK(found->code == fault.code);
        REQUIRE(found->layer);
        CHECK(found->layer->name == "faulty");
        CHECK(found->layer->path == fault.layer->path);
        CHECK(found->port.has_value() == fault.port.has_value());
        if (found->port && fault.port) {
          CHECK(found->port->index == fault.port->index);
          CHECK(found->port->input == fault.port->input);
          CHECK(found->port->id == fault.port->id);
        }
        CHECK(found->attribute == fault.attribute);
        CHECK(static_cast<bool>(found->at));
        CHECK(found->label.empty() == fault.label.empty());
        CHECK(found->notes.size() >= fault.notes.size());
      }
    }
  }
}
