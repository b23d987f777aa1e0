// NMSRotated: non-maximum suppression of boxes that are rotated by an angle.
// Spec: operation-sets/operation-specs/sort/nms-rotated-13
#include <array>
#include "op/work.hpp"
#include "ops/sort/common.hpp"

namespace ovir::ops::nms_rotated {
namespace {

using namespace sort;

struct Attrs {
  bool sort_result_descending = true, clockwise = true;
  ElementType output_type = ElementType::i64;
};

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto counts = infer_boxes(c, a.output_type, 5, "5 numbers for each box, center, size and angle");
  auto of_class = counts.boxes.max;
  if (const auto max_boxes = c.scalar_int(max_output_boxes_per_class))
    of_class = std::clamp<i64>(*max_boxes, 0, of_class);
  output_selected(c, a.output_type, Dim(0, (Dim(0, of_class) * counts.batches * counts.classes).max));
}

struct Point {
  double x, y;
};

/// The corners in the order in which an angle grows.
template <class T>
std::array<Point, 4> corners(const T* box, bool clockwise) {
  const double angle = clockwise ? static_cast<double>(box[4]) : -static_cast<double>(box[4]), cos = std::cos(angle),
               sin = std::sin(angle);
  std::array<Point, 4> points;
  constexpr double kSides[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
  for (std::size_t i = 0; i < 4; ++i) {
    const double dx = kSides[i][0] * static_cast<double>(box[2]), dy = kSides[i][1] * static_cast<double>(box[3]);
    points[i] = {static_cast<double>(box[0]) + cos * dx - sin * dy, static_cast<double>(box[1]) + sin * dx + cos * dy};
  }
  return points;
}

/// The area that two boxes have in common: the one cut along the sides of the other.
double common_area(const std::array<Point, 4>& a, const std::array<Point, 4>& b) {
  std::vector<Point> shape(a.begin(), a.end()), cut;
  for (std::size_t side = 0; side < 4 && !shape.empty(); ++side) {
    const auto p = b[side], q = b[(side + 1) % 4];
    const auto inside = [&](const Point& r) {
      return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
    };  // not below 0
    cut.clear();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto &from = shape[i], &to = shape[(i + 1) % shape.size()];
      const double u = inside(from), v = inside(to);
      if (u >= 0) cut.push_back(from);
      if ((u > 0 && v < 0) || (u < 0 && v > 0))
        cut.push_back({from.x + (to.x - from.x) * u / (u - v), from.y + (to.y - from.y) * u / (u - v)});
    }
    shape.swap(cut);
  }
  double twice = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto &p = shape[i], &q = shape[(i + 1) % shape.size()];
    twice += p.x * q.y - q.x * p.y;
  }
  return std::fabs(twice) / 2;
}

template <class T>
double overlap(const T* a, const T* b, bool clockwise) {
  const auto of_a = [a](int i) { return static_cast<double>(a[i]); };
  const auto of_b = [b](int i) { return static_cast<double>(b[i]); };
  const double area_a = of_a(2) * of_a(3), area_b = of_b(2) * of_b(3);
  if (!(area_a > 0) || !(area_b > 0)) return 0;
  // Most boxes are so far apart that the circles around them are, too.
  const auto length = [](double x, double y) { return std::sqrt(x * x + y * y); };
  if (2 * length(of_a(0) - of_b(0), of_a(1) - of_b(1)) > length(of_a(2), of_a(3)) + length(of_b(2), of_b(3))) return 0;
  const double common = common_area(corners(a, clockwise), corners(b, clockwise));
  return common / (area_a + area_b - common);
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& coordinates = c.in(boxes);
  const auto& all_scores = c.in(scores);
  const auto batches = all_scores.dim(0), classes = all_scores.dim(1), count = all_scores.dim(2);
  const auto max_boxes = std::max<i64>(0, c.scalar_int(max_output_boxes_per_class));
  const auto limit = c.floats(iou_threshold).at(0), min_score = c.floats(score_threshold).at(0);
  std::pmr::vector<SelectedBox> selected(c.memory());
  std::pmr::vector<i64> order(c.memory()), kept(c.memory());
  dispatch(coordinates.type(), Floats{}, [&]<class T>() {
    for (i64 n = 0; n < batches; ++n)
      for (i64 k = 0; k < classes; ++k) {
        const T* box = coordinates.data<T>() + n * count * 5;
        const T* score = all_scores.data<T>() + (n * classes + k) * count;
        order.clear();
        kept.clear();
        for (i64 i = 0; i < count; ++i)
          if (static_cast<double>(score[i]) >= min_score) order.push_back(i);
        std::stable_sort(order.begin(), order.end(), [&](i64 i, i64 j) { return score[i] > score[j]; });
        for (const auto i : order) {
          if (std::ssize(kept) >= max_boxes) break;
          constexpr i64 kOverlap = 500;
          spend(kOverlap * std::ssize(kept));
          if (std::all_of(kept.begin(), kept.end(),
                          [&](i64 j) { return overlap(box + i * 5, box + j * 5, a.clockwise) <= limit; })) {
            kept.push_back(i);
            selected.push_back({n, k, i, static_cast<double>(score[i])});
          }
        }
      }
  });
  if (a.sort_result_descending) sort_selected(selected);
  put_selected(c, selected, std::ssize(selected));
}

constexpr PortDef kInputs[] = {{"boxes", T},
                               {"scores", T},
                               {"max_output_boxes_per_class", TMaxBoxes},
                               {"iou_threshold", TThreshold},
                               {"score_threshold", TThreshold}};
constexpr Version kVersions[] = {
    {.since = 13,
     .inputs = kInputs,
     .outputs = kSelected,
     .attrs = attributes<Attrs, Attr<"sort_result_descending", &Attrs::sort_result_descending>,
                         Attr<"output_type", &Attrs::output_type>, Attr<"clockwise", &Attrs::clockwise>>,
     .infer = infer,
     .reads = ports(max_output_boxes_per_class),
     .sized_by_data = true,
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "NMSRotated", .spec = "sort/nms-rotated", .versions = kVersions};

}  // namespace ovir::ops::nms_rotated
