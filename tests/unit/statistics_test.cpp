// Statistics and slices of tensors, against values worked out by hand (or by NumPy, where said).
#include <limits>
#include <numeric>

#include "catch.hpp"
#include "small_model.hpp"
#include "tools/slice.hpp"
#include "tools/statistics.hpp"

using namespace ovir;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

/// 0, 1, 2, ... in the shape.
Tensor counted(const Shape& shape) {
  Tensor t(ElementType::i64, shape);
  std::iota(t.mutable_data<i64>(), t.mutable_data<i64>() + t.size(), 0);
  return t;
}

}  // namespace

TEST_CASE("statistics leave out what is not finite, and count it") {
  const auto s = tools::statistics_of(floats({8}, {1, kNan, 3, kInf, 0, -kInf, 4, kInf}));
  CHECK(s.count == 8);
  CHECK(s.finite() == 4);
  CHECK(s.nan == 1);
  CHECK(s.positive_infinite == 2);
  CHECK(s.negative_infinite == 1);
  CHECK(s.zero == 1);
  CHECK(s.min == 0);
  CHECK(s.max == 4);
  CHECK(s.mean == 2);
  CHECK(s.deviation == Approx(1.5811388300841898));  // numpy.std([1, 3, 0, 4])
  CHECK(s.histogram[0] == 1);
  CHECK(s.histogram[4] == 1);
  CHECK(s.histogram[12] == 1);
  CHECK(s.histogram[15] == 1);
}

TEST_CASE("statistics of extremes: nothing, one value, the whole range of f64") {
  CHECK(tools::statistics_of(floats({0}, {})).finite() == 0);
  const auto one = tools::statistics_of(floats({3}, {7, 7, 7}));
  CHECK(one.deviation == 0);
  CHECK(one.histogram[0] == 3);
  const std::vector<double> ends{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  const auto wide = tools::statistics_of(Tensor::of<double>(ElementType::f64, {2}, ends));
  CHECK(wide.histogram[0] == 1);
  CHECK(wide.histogram[15] == 1);
}

TEST_CASE("statistics are the same whatever the size of what is looked at together") {
  std::vector<float> values(200'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
  const auto s = tools::statistics_of(floats({200'000}, values));
  CHECK(s.mean == Approx(499.5));
  CHECK(s.max == 999);
  CHECK(std::accumulate(s.histogram.begin(), s.histogram.end(), i64{0}) == 200'000);
}

TEST_CASE("the digest is the CRC-32 of the elements as .npy has them") {
  // zlib.crc32 of numpy.array([1, 2, 3], 'float32').tobytes(), and of float32([1.5]) for bf16
  CHECK(tools::digest_of(floats({3}, {1, 2, 3})) == 0xb20e96b1U);
  CHECK(tools::digest_of(convert(floats({1}, {1.5}), ElementType::bf16)) == 0x5cd8256fU);
}

TEST_CASE("slices are those of NumPy") {
  const auto t = counted({2, 3, 4});
  const auto check = [&](std::string_view text, const Shape& shape, const std::vector<i64>& values) {
    INFO(text);
    const auto s = tools::slice(t, text);
    CHECK(s.shape() == shape);
    CHECK(to_i64(s) == values);
  };
  check("1,2,3", {}, {23});
  check("0,:,1:3", {3, 2}, {1, 2, 5, 6, 9, 10});
  check("...,-1", {2, 3}, {3, 7, 11, 15, 19, 23});
  check("1,...,0", {3}, {12, 16, 20});
  check("0,0,::-1", {4}, {3, 2, 1, 0});
  check("0,0,3:0:-2", {2}, {3, 1});
  check("0,0,-100:100:3", {2}, {0, 3});
  check("0,2:1", {0, 4}, {});
  check("0,0,::9223372036854775807", {1}, {0});
  check("0,0,::-9223372036854775808", {1}, {3});
  for (const auto* const wrong : {"2", "0,0,0,0", "a", "0:1:0", "...,...", "0,-4", "1:2:3:4"})
    CHECK_THROWS_AS(tools::slice(t, wrong), std::invalid_argument);
}
