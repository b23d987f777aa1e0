// Matrices that one row at a time is multiplied by, and many now and then: read from the file at first, packed later.
#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

Tensor whole_numbers(const Shape& shape, int seed) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i + seed) * 7 % 23) - 11;
  return floats(shape, values);
}

}  // namespace

TEST_CASE("matrices are read for the first prompts and packed for those that follow, with the same results") {
  const auto type = GENERATE(ElementType::f32, ElementType::f16, ElementType::bf16);
  const bool misaligned = GENERATE(false, true), transposed = GENERATE(true, false);
  constexpr i64 k = 290, n = 333;
  SmallModel m;
  if (misaligned) {
    const auto one =
        m.graph.constant("one byte", Tensor::of<std::uint8_t>(ElementType::u8, {1}, std::vector<std::uint8_t>{7}));
    m.graph.result("seven", one);
  }
  const auto x = m.graph.parameter("x", ElementType::f32, PartialShape{Dim(), k});
  auto w = m.graph.constant("w", convert(whole_numbers(transposed ? Shape{n, k} : Shape{k, n}, 1), type));
  if (type != ElementType::f32) w = m.graph.add("wide", "Convert-1", {w}, {{"destination_type", "f32"}});
  const auto y = m.graph.add("y", "MatMul-1", {x, w}, {{"transpose_b", transposed ? "true" : "false"}});
  m.graph.result("r", y);
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  auto reference = compile(c.model, c.facts, {.tier = Tier::reference});
  for (const i64 runs : {4, 100}) {
    auto session = compile(c.model, c.facts, {.expected_runs = runs});
    for (int run = 0; run < 30; ++run) {
      const i64 rows = run % 3 == 1 ? 1 : run % 3 == 2 ? 6 : 20 + run;
      const std::vector inputs{whole_numbers({rows, k}, run)};
      INFO("run " << run << " of " << rows << " rows, planned for " << runs);
      CHECK(same_bits(session.run(inputs), reference.run(inputs)));
    }
  }
  // What has no exact sum: rounded alike by the first run and by the last.
  for (const i64 rows : {1, 6, 9, 40}) {
    auto session = compile(c.model, c.facts, {.expected_runs = 100});
    std::vector<float> values(static_cast<std::size_t>(rows * k));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 97) / 97.0F - 0.4F;
    const std::vector inputs{floats({rows, k}, values)};
    const auto first = session.run(inputs);
    for (int run = 1; run < 12; ++run) {
      INFO("run " << run << " of " << rows << " rows");
      CHECK(same_bits(session.run(inputs), first));
    }
  }
}
