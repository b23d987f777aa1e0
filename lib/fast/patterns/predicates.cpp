// IsFinite, IsInf and IsNaN of f32, and LogicalNot of booleans.
#include <limits>

#include "fast/kernels/chunks.hpp"
#include "fast/kit/functions.hpp"
#include "op/kit/elementwise_attrs.hpp"

namespace ovir::fast::patterns::predicates {
namespace {

/// A range of floats, or what is in none.
struct Test {
  float low = 0, high = 0;  ///< x is one of both, or, `between`, neither and between them
  bool between = false, nan = false;
};

void apply(const Test& test, const float* x, std::uint8_t* y, i64 n) {
  const auto each = [=](auto holds) {
    for (i64 i = 0; i < n; ++i) y[i] = static_cast<std::uint8_t>(holds(x[i]));
  };
  const auto low = test.low, high = test.high;
  if (test.nan) return each([](float v) { return v != v; });
  if (test.between) return each([=](float v) { return static_cast<int>(v > low) & static_cast<int>(v < high); });
  each([=](float v) { return static_cast<int>(v == low) | static_cast<int>(v == high); });
}

constexpr double kNanoseconds = 0.15;  // an element

class Predicate final : public Kernel {
 public:
  Predicate(Test test, std::string name) : test_(test), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }
  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto* x = in[0].as<const float>();
    auto* y = out[0].as<std::uint8_t>();
    parallel_ranges(runtime.pool(), out[0].size(), kNanoseconds,
                    [&](i64 begin, i64 end) { apply(test_, x + begin, y + begin, end - begin); });
  }

 private:
  Test test_;
  std::string name_;
};

void negate(const std::uint8_t* x, std::uint8_t* y, i64 n) {
  for (i64 i = 0; i < n; ++i) y[i] = static_cast<std::uint8_t>(x[i] == 0);
}

class LogicalNot final : public Kernel {
 public:
  std::string name() const override { return "predicates.LogicalNot"; }
  std::unique_ptr<KernelState> prepare(const Sizes&, Runtime&) const override {
    return std::make_unique<KernelState>();
  }
  void run(KernelState&, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto* x = in[0].as<const std::uint8_t>();
    auto* y = out[0].as<std::uint8_t>();
    parallel_ranges(runtime.pool(), out[0].size(), kNanoseconds,
                    [&](i64 begin, i64 end) { negate(x + begin, y + begin, end - begin); });
  }
  bool writes_over(int) const override { return true; }
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto x = graph.input(root, 0);
  if (graph.type(root) == "LogicalNot")
    return graph.stored(x) == ElementType::boolean && graph.stored({root, 0}) == ElementType::boolean
               ? std::optional(Match{{root}, {x}, std::make_unique<LogicalNot>()})
               : std::nullopt;
  if (!is_f32(graph, x) || graph.stored({root, 0}) != ElementType::boolean) return std::nullopt;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto type = graph.type(root);
  Test test{.low = -kInfinity, .high = kInfinity, .between = type == "IsFinite", .nan = type == "IsNaN"};
  if (type == "IsInf") {
    const auto& attrs = graph.attrs<IsInfAttrs>(root);
    if (!attrs.detect_negative && !attrs.detect_positive) return std::nullopt;
    if (!attrs.detect_negative) test.low = kInfinity;
    if (!attrs.detect_positive) test.high = -kInfinity;
  }
  return Match{{root}, {x}, std::make_unique<Predicate>(test, "predicates." + std::string(type))};
}

constexpr std::string_view kRoots[] = {"IsFinite", "IsInf", "IsNaN", "LogicalNot"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "predicates", .roots = kRoots, .match = match, .priority = Priority::elements};

}  // namespace ovir::fast::patterns::predicates
