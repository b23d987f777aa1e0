// Metrics of a tensor against its reference, worked out by hand.
#include <cmath>
#include <limits>

#include "catch.hpp"
#include "small_model.hpp"
#include "tools/metrics.hpp"

using namespace ovir;
using tools::measure;
using tools::Tolerance;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor integers(const std::vector<i64>& values) { return Tensor::vector(values); }

}  // namespace

TEST_CASE("metrics: the differences of finite elements") {
  const auto d = measure(floats({4}, {1, 2, 3, 5}), floats({4}, {1, 2, 4, 4}), {});
  CHECK(d.max_abs == 1);
  CHECK(d.max_rel == 0.25);
  CHECK(d.rmse == std::sqrt(2.0 / 4));
  CHECK(*d.cosine == Approx(37 / std::sqrt(39.0 * 37)));
  CHECK(*d.psnr == Approx(20 * std::log10(3 / std::sqrt(0.5))));  // the reference's range is 3
  CHECK(d.beyond == 2);
  CHECK(!d.within);
}

TEST_CASE("metrics: units of the last place of the narrower type") {
  const float next = std::nextafter(std::nextafter(1.0F, 2.0F), 2.0F);
  CHECK(*measure(floats({1}, {next}), floats({1}, {1}), {}).ulp == 2);
  CHECK(*measure(floats({2}, {-0.0F, 1}), floats({2}, {0.0F, 1}), {}).ulp == 0);
  const auto half = convert(floats({1}, {1}), ElementType::f16);
  CHECK(*measure(floats({1}, {1 + 1.0F / 1024}), half, {}).ulp == 1);
  CHECK(!measure(integers({3}), integers({4}), {}).ulp);
}

TEST_CASE("metrics: NaN and infinities on one side are told by place") {
  const auto d = measure(floats({2, 2}, {kNan, kInf, -kInf, 1}), floats({2, 2}, {kNan, kInf, kInf, kNan}), {});
  CHECK(d.nan.value == 0);
  CHECK(d.nan.reference == 1);
  CHECK(*d.nan.first == 3);
  CHECK(*d.inf.first == 2);
  CHECK(d.beyond == 2);
  CHECK(d.worst == 2);
  CHECK(tools::index_of(3, {2, 2}) == std::vector<i64>{1, 1});
  CHECK(measure(floats({2}, {kNan, kInf}), floats({2}, {kNan, kInf}), {}).equal());
}

TEST_CASE("metrics: the tolerance") {
  const auto within = [](float value, const Tolerance& t) {
    return measure(floats({2}, {100, value}), floats({2}, {100, 1}), t).within;
  };
  CHECK(within(1.0009F, {}));
  CHECK(within(1.0019F, {}));  // 1e-3 · 1, and 1e-5 of the largest, 100
  CHECK(!within(1.003F, {}));
  CHECK(!within(1.0009F, {0, 1e-4}));
  CHECK(within(1.0009F, {0, 1e-2}));
  CHECK(!measure(integers({1000}), integers({1001}), {}).within);
  CHECK(measure(integers({1000}), integers({1001}), {0, 1.0}).within);
}

TEST_CASE("metrics: what cannot be compared element by element says why") {
  CHECK(measure(floats({2}, {1, 2}), floats({1, 2}, {1, 2}), {}).unlike == "shape [2], but [1,2] in the reference");
  CHECK(!measure(floats({1}, {1}), Tensor::strings({1}, {"1"}), {}).within);
  CHECK(measure(Tensor::strings({2}, {"a", "b"}), Tensor::strings({2}, {"a", "c"}), {}).worst == 1);
}

TEST_CASE("metrics: top-k agreement counts rows") {
  const auto a = floats({2, 3}, {3, 2, 1, 1, 2, 3}), b = floats({2, 3}, {3, 1, 2, 1, 2, 3});
  CHECK(*tools::top_agreement(a, b, 1) == 1);
  CHECK(*tools::top_agreement(a, b, 2) == 0.5);
  CHECK(*tools::top_agreement(a, b, 9) == 1);
  CHECK(!tools::top_agreement(floats({1}, {1}), floats({1}, {1}), 1));
}
TEST_CASE("metrics: elements beyond the part that is converted at a time") {
  const auto values = Tensor::of<float>(ElementType::f32, {200'000}, std::vector<float>(200'000, 0.5F));
  std::vector<double> other(200'000, 0.5);
  other[65'536] = 0.75;
  other[199'999] = 2.5;
  const auto d = measure(values, Tensor::of<double>(ElementType::f64, {200'000}, other), {});
  CHECK(d.max_abs == 2);
  CHECK(d.beyond == 2);
  CHECK(d.worst == 199'999);
}
