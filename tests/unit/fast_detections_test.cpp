// MulticlassNms, MatrixNms and Unique of many numbers: the fast tier takes shortcuts, and the reference tier none.
#include <limits>
#include <random>

#include "catch.hpp"
#include "small_model.hpp"

namespace ovir {
namespace {

constexpr i64 kImages = 2, kClasses = 5, kCount = 300;
constexpr auto kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr auto kInfinity = std::numeric_limits<float>::infinity();
using Texts = spec::AttributeTexts;

struct Given {
  std::mt19937 random{11};
  std::vector<float> boxes, scores;

  float between(float low, float high) { return std::uniform_real_distribution(low, high)(random); }
  explicit Given(float size = 20) {
    for (i64 i = 0; i < kImages * kCount; ++i) {
      const auto x = between(0, 60), y = between(0, 60);
      for (const auto v : {x, y, x + between(0.2F, 1) * size, y + between(0.2F, 1) * size}) boxes.push_back(v);
    }
    for (i64 i = 0; i < kImages * kClasses * kCount; ++i)
      scores.push_back(std::round(between(-0.2F, 1) * 500) / 500);  // many of them alike
  }
};

/// All outputs by both tiers.
void compare(const SmallModel& m, const std::vector<Tensor>& inputs) {
  const auto c = m.check();
  REQUIRE(c.diagnostics.errors() == 0);
  Options reference;
  reference.tier = Tier::reference;
  const auto expected = compile(c.model, c.facts, reference).run(inputs);
  CHECK(same_bits(compile(c.model, c.facts, {}).run(inputs), expected));
}

void check(std::string_view operation, const Given& given, const Texts& texts) {
  SmallModel m;
  auto& g = m.graph;
  const auto boxes = g.parameter("boxes", ElementType::f32, {kImages, kCount, 4});
  const auto scores = g.parameter("scores", ElementType::f32, {kImages, kClasses, kCount});
  std::string ports;
  for (int port = 2; port < 5; ++port) ports += spec::output_port(port, ElementType::dynamic);
  const auto best = g.layer("nms", std::string(operation), "opset8", spec::data_element(texts), {boxes, scores}, ports);
  for (int port = 0; port < 3; ++port) g.result("r" + std::to_string(port), best, g.first_output(best) + port);
  compare(m, {floats({kImages, kCount, 4}, given.boxes), floats({kImages, kClasses, kCount}, given.scores)});
}

/// With limits and orders of all kinds.
void check_all(std::string_view operation, const Given& given, const Texts& own) {
  for (const auto* keep : {"-1", "1", "60"})
    for (const auto* top : {"-1", "40"})
      for (const auto* least : {"-0.1", "0", "0.3"})
        for (const auto* order : {"none", "classid", "score"}) {
          const auto* across = *keep == '6' ? "true" : "false";
          const auto* normalized = *top == '4' ? "true" : "false";
          INFO(operation << ": keep_top_k " << keep << ", nms_top_k " << top << ", score_threshold " << least << ", "
                         << order);
          Texts texts{{"keep_top_k", keep},        {"nms_top_k", top},         {"score_threshold", least},
                      {"sort_result_type", order}, {"normalized", normalized}, {"sort_result_across_batch", across},
                      {"background_class", "2"}};
          texts.insert(texts.end(), own.begin(), own.end());
          check(operation, given, texts);
        }
}

}  // namespace

TEST_CASE("the fast tier keeps the boxes of MulticlassNms that the reference tier does") {
  for (const float size : {5.0F, 40.0F})
    for (const auto* overlap : {"0", "0.5", "0.8"})
      for (const auto* eta : {"1", "0.9"})
        check_all("MulticlassNms", Given(size), {{"iou_threshold", overlap}, {"nms_eta", eta}});
}

TEST_CASE("the fast tier keeps the boxes of MatrixNms that the reference tier does") {
  for (const float size : {5.0F, 40.0F})
    for (const auto* decay : {"linear", "gaussian"})
      for (const auto* post : {"-1", "0", "0.2"})
        check_all("MatrixNms", Given(size), {{"decay_function", decay}, {"post_threshold", post}});
}

TEST_CASE("detections of odd boxes and scores are the same in both tiers") {
  const auto both = [](const Given& given) {
    check_all("MulticlassNms", given, {{"iou_threshold", "0.4"}});
    check_all("MulticlassNms", given, {{"iou_threshold", "-0.4"}});
    check_all("MatrixNms", given, {{"decay_function", "linear"}});
    check_all("MatrixNms", given, {{"decay_function", "gaussian"}, {"gaussian_sigma", "0.5"}});
  };
  Given given;
  SECTION("of boxes without an area, and of those turned around") {
    for (i64 i = 0; i < kImages * kCount; i += 3) given.boxes[4 * i + 2] = given.boxes[4 * i];
    for (i64 i = 1; i < kImages * kCount; i += 5) std::swap(given.boxes[4 * i + 1], given.boxes[4 * i + 3]);
    both(given);
  }
  SECTION("of boxes that are alike") {
    for (i64 i = 0; i < kImages * kCount; ++i)
      for (i64 k = 0; k < 4; ++k) given.boxes[4 * i + k] = static_cast<float>(i % 7 + (k / 2) * 3);
    both(given);
  }
  SECTION("of numbers that are not finite") {
    for (i64 i = 0; i < kImages * kCount; i += 7) given.boxes[4 * i + i % 4] = i % 2 ? kInfinity : kNaN;
    for (i64 i = 0; i < kImages * kCount; i += 11) given.boxes[4 * i + i % 4] = -kInfinity;
    both(given);
  }
  SECTION("of scores that are not finite, and of both zeros") {
    for (std::size_t i = 0; i < given.scores.size(); i += 7) given.scores[i] = i % 2 ? kInfinity : kNaN;
    for (std::size_t i = 1; i < given.scores.size(); i += 7) given.scores[i] = i % 2 ? 0.0F : -0.0F;
    both(given);
  }
}

TEST_CASE("the fast tier finds the elements of Unique that the reference tier does") {
  std::mt19937 random{5};
  const auto check_unique = [](const Tensor& data) {
    for (const auto* sorted : {"true", "false"}) {
      INFO(name(data.type()) << ", sorted " << sorted);
      SmallModel m;
      auto& g = m.graph;
      std::string ports;
      for (int port = 1; port < 5; ++port) ports += spec::output_port(port, ElementType::dynamic);
      const auto x = g.parameter("data", data.type(), data.shape());
      const auto found = g.layer("unique", "Unique", "opset10", spec::data_element({{"sorted", sorted}}), {x}, ports);
      for (int port = 0; port < 4; ++port) g.result("r" + std::to_string(port), found, g.first_output(found) + port);
      compare(m, {data});
    }
  };
  for (const std::uint64_t most : {1ull, 500ull, 100'000ull, ~0ull}) {
    std::vector<i64> values;
    for (int i = 0; i < 3000; ++i) values.push_back(static_cast<i64>(random() * std::uint64_t{random()} % most));
    const auto all = Tensor::vector(values);
    for (const auto type : {ElementType::i64, ElementType::u64, ElementType::i32, ElementType::u32, ElementType::i16,
                            ElementType::u8, ElementType::f64, ElementType::f32})
      check_unique(convert(all, type));
  }
  std::vector<float> values;
  for (int i = 0; i < 3000; ++i) values.push_back(static_cast<float>(random() % 100) / 7 - 5);
  for (std::size_t i = 0; i < 3000; i += 9) values[i] = i % 2 ? 0.0F : -0.0F;
  for (std::size_t i = 1; i < 3000; i += 9) values[i] = i % 2 ? kNaN : -kNaN;
  for (std::size_t i = 2; i < 3000; i += 9) values[i] = i % 2 ? kInfinity : -kInfinity;
  for (std::size_t i = 3; i < 3000; i += 9) values[i] = 1e-40F;
  check_unique(floats({3000}, values));
}

}  // namespace ovir
