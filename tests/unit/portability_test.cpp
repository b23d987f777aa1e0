// What OpenVINO's CPU plugin computes otherwise, and a .bin that may be another model's.
#include "tools/portability.hpp"

#include "catch.hpp"
#include "small_model.hpp"

using namespace ovir;

namespace {

std::vector<std::string> differences(const Checked& c) {
  Diagnostics diagnostics;
  tools::check_portability(*c.model, c.facts, diagnostics);
  std::vector<std::string> messages;
  for (const auto& d : diagnostics.all()) messages.push_back(d.message);
  return messages;
}

Checked sum_of(ElementType type) {
  SmallModel m;
  const auto x = m.graph.parameter("x", type, {2, 3});
  m.graph.result("y", m.graph.add("sum", "Add-1", {x, x}, {{"auto_broadcast", "numpy"}}));
  return m.check();
}

}  // namespace

TEST_CASE("a layer that the CPU plugin computes otherwise is one note") {
  CHECK(differences(sum_of(ElementType::f32)).empty());
  const auto wide = differences(sum_of(ElementType::i64));
  REQUIRE(wide.size() == 1);
  CHECK(wide[0] == "Add: the plugin computes 64-bit numbers in 32 bits");
  CHECK(differences(sum_of(ElementType::u8)).size() == 1);

  const auto unique_along = [](i64 axis) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
    const auto a = m.graph.constant("axis", Tensor::of<i64>(ElementType::i64, Shape{1}, std::vector{axis}));
    m.graph.result("y", m.graph.add("unique", "Unique-10", {x, a}));
    return differences(m.check()).size();
  };
  CHECK(unique_along(0) == 0);
  CHECK(unique_along(1) == 1);
  CHECK(unique_along(-1) == 1);
}

TEST_CASE("unused bytes raise the suspicion that a .bin is another model's") {
  const auto notes = [](std::size_t unused) {
    SmallModel m;
    const auto x = m.graph.parameter("x", ElementType::f32, {2, 3});
    const auto shape = m.graph.constant("shape", Tensor::of<i64>(ElementType::i64, Shape{2}, std::vector<i64>{4, 4}));
    m.bin += std::string(unused, '\0');
    m.graph.result("y", m.graph.add("reshaped", "Reshape-1", {x, shape}, {{"special_zero", "false"}}));
    const auto c = m.check();
    std::string text;
    for (const auto& d : c.diagnostics.all())
      for (const auto& note : d.notes)
        if (note.message.find("may belong to another model") != std::string::npos) text = note.message;
    return text;
  };
  CHECK(notes(0).empty());
  CHECK(notes(100'000).find("100064 of its 100080 bytes belong to no constant") != std::string::npos);
}
