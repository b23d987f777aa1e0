#include "fast/kernels/selection/non_max_suppression.hpp"

#include <functional>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/selection/rank.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kBox = 5;  // numbers: y1, x1, y2, x2, area

/// A box of a class, by its score: the smaller, the better, and of equal ones the first.
i64 candidate(float score, i64 box) { return (i64{~rank_of(score)} << 32) | box; }
i64 box_of(i64 candidate) { return candidate & 0xffffffff; }

void read_box(const Suppression& s, const float* v, float* to) {
  if (s.center) {
    to[0] = v[1] - v[3] / 2;
    to[1] = v[0] - v[2] / 2;
    to[2] = v[1] + v[3] / 2;
    to[3] = v[0] + v[2] / 2;
  } else {
    to[0] = std::min(v[0], v[2]);
    to[1] = std::min(v[1], v[3]);
    to[2] = std::max(v[0], v[2]);
    to[3] = std::max(v[1], v[3]);
  }
  to[4] = (to[2] - to[0]) * (to[3] - to[1]);
}

/// What is kept where: of each list (a class of a batch) the number of boxes, then the boxes with their scores, then
/// all of them in the order of scores.
struct Kept {
  i64* counts;
  i64* boxes;  ///< candidates, [lists][most]
  i64* order;
  Kept(const Suppression& s, float* scratch)
      : counts(reinterpret_cast<i64*>(scratch)), boxes(counts + s.lists()), order(boxes + s.lists() * s.most) {}
};

/// The boxes of a list that are kept; gives how many. `left` has room for all candidates, `numbers` for the boxes.
i64 select(const LineTable& table, const Suppression& s, const float* boxes, const float* scores, i64* left,
           float* numbers, i64* kept) {
  i64 count = 0, found = 0;
  for (i64 i = 0; i < s.count; ++i)
    if (scores[i] >= s.score) left[count++] = candidate(scores[i], i);
  // Mostly few of them are asked for.
  std::make_heap(left, left + count, std::greater<>());
  for (; count > 0 && found < s.most; --count) {
    std::pop_heap(left, left + count, std::greater<>());
    const auto best = left[count - 1];
    float box[kBox];
    read_box(s, boxes + box_of(best) * 4, box);
    if (table.overlaps(box, numbers, s.most, found, s.overlap)) continue;
    for (i64 k = 0; k < kBox; ++k) numbers[k * s.most + found] = box[k];
    kept[found++] = best;
  }
  return found;
}

}  // namespace

i64 suppression_scratch(const Suppression& s) { return 2 * s.lists() * (1 + 2 * s.most); }
i64 suppression_slot(const Suppression& s) { return round_up(2 * s.count + kBox * s.most, 16); }

i64 suppress(const Suppression& s, const float* boxes, const float* scores, float* scratch, float* memory,
             ThreadPool& pool) {
  const auto& table = line_isa();
  const Kept kept(s, scratch);
  Slots slots(memory, suppression_slot(s), slots_for(pool));
  const auto cost = static_cast<double>(4 * s.count + 100 * s.most);
  parallel_ranges(pool, s.lists(), cost, [&](i64 begin, i64 end) {
    const Slots::Lease lease(slots);
    auto* left = reinterpret_cast<i64*>(lease.data());
    for (auto i = begin; i < end; ++i)
      kept.counts[i] = select(table, s, boxes + i / s.classes * s.count * 4, scores + i * s.count, left,
                              lease.data() + 2 * s.count, kept.boxes + i * s.most);
  });
  i64 found = 0;
  for (i64 i = 0; i < s.lists(); ++i) found += kept.counts[i];
  return found;
}

void put_suppressed(const Suppression& s, i64 found, float* scratch, const View& indices, const float* scores,
                    float* selected) {
  const Kept kept(s, scratch);
  // A score, and where it is among the kept ones, which stand in the order of batches and classes, those of a class in
  // that of scores.
  i64 n = 0;
  for (i64 i = 0; i < s.lists(); ++i)
    for (i64 k = 0; k < kept.counts[i]; ++k) {
      const auto at = i * s.most + k;
      kept.order[n++] = s.by_score ? (kept.boxes[at] & ~i64{0xffffffff}) | at : at;
    }
  if (s.by_score) std::sort(kept.order, kept.order + n);
  const auto rows = indices.dim(0);
  const auto each = [&](const auto& work) {
    for (i64 r = 0; r < std::min(rows, found); ++r) {
      const auto at = kept.order[r] & 0xffffffff, list = at / s.most;
      work(r, list / s.classes, list % s.classes, kept.boxes[at]);
    }
  };
  dispatch(indices.type, Indices{}, [&]<class Index>() {
    auto* to = indices.as<Index>();
    std::fill_n(to, indices.size(), Index{-1});
    each([&](i64 r, i64 batch, i64 label, i64 best) {
      to[3 * r] = static_cast<Index>(batch);
      to[3 * r + 1] = static_cast<Index>(label);
      to[3 * r + 2] = static_cast<Index>(box_of(best));
    });
  });
  if (!selected) return;
  each([&](i64 r, i64 batch, i64 label, i64 best) {
    selected[3 * r] = static_cast<float>(batch);
    selected[3 * r + 1] = static_cast<float>(label);
    selected[3 * r + 2] = scores[(batch * s.classes + label) * s.count + box_of(best)];
  });
}

}  // namespace ovir::fast
