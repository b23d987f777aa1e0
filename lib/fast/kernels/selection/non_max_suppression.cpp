#include "fast/kernels/selection/non_max_suppression.hpp"

#include <functional>
#include <optional>
#include <utility>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/selection/near_boxes.hpp"
#include "fast/kernels/selection/rank.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kMany = 256;  // kept boxes of a list, which others are compared with one by one

/// A box of a class, by its score: the smaller, the better, and of equal ones the first.
i64 candidate(float score, i64 box) { return (i64{~rank_of(score)} << 32) | box; }
i64 box_of(i64 candidate) { return candidate & 0xffffffff; }

BoxNumbers read_box(const Suppression& s, const float* v) {
  BoxNumbers to;
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
  return to;
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

/// Where cells begin in the memory of a slot, behind candidates and boxes.
i64 cells_at(const Suppression& s) { return round_up(2 * s.count + kBox * s.most, 16); }

/// The boxes of a list that are kept.
class Selection {
 public:
  /// `memory`: as suppression_slot() has it.
  Selection(const LineTable& table, const Suppression& s, const float* boxes, float* memory)
      : table_(table),
        s_(s),
        boxes_(boxes),
        left_(reinterpret_cast<i64*>(memory)),
        far_(memory + 2 * s.count),
        cells_(memory + cells_at(s)) {}

  i64 select(const float* scores, i64* kept) {
    for (i64 i = 0; i < s_.count; ++i)
      if (scores[i] >= s_.score) left_[count_++] = candidate(scores[i], i);
    // Boxes that have nothing in common, or no area, overlap by 0, which may be more than allowed.
    const auto most = s_.overlap >= 0 ? s_.most : std::min<i64>(s_.most, 1);
    // Mostly few of them are asked for.
    std::make_heap(left_, left_ + count_, std::greater<>());
    for (; count_ > 0 && found_ < most; --count_) {
      if (!sorted_) std::pop_heap(left_, left_ + count_, std::greater<>());
      const auto best = left_[count_ - 1];
      const auto box = read(best);
      if (table_.overlaps(box.data(), far_, s_.most, fars_, s_.overlap)) continue;
      if (near_ && near_->overlaps(table_, box, s_.overlap)) continue;
      kept[found_++] = best;
      if (!near_ || !near_->add(box)) keep_far(box);
      if (found_ == kMany && s_.most - found_ > count_ / 8) expect_more();
    }
    return found_;
  }

 private:
  BoxNumbers read(i64 candidate) const { return read_box(s_, boxes_ + box_of(candidate) * 4); }
  BoxNumbers far(i64 i) const {
    BoxNumbers box;
    for (i64 k = 0; k < kBox; ++k) box[k] = far_[k * s_.most + i];
    return box;
  }
  void keep_far(const BoxNumbers& box) {
    for (i64 k = 0; k < kBox; ++k) far_[k * s_.most + fars_] = box[k];
    ++fars_;
  }

  /// Nearly all candidates will be looked at, each beside many boxes.
  void expect_more() {
    std::sort(left_, left_ + count_, std::greater<>());
    sorted_ = true;
    NearBoxes near(cells_);
    for (i64 i = 0; i < count_; ++i) near.measure(read(left_[i]));
    for (i64 i = 0; i < fars_; ++i) near.measure(far(i));
    if (!near.divide()) return;
    const auto before = std::exchange(fars_, 0);
    for (i64 i = 0; i < before; ++i)
      if (const auto box = far(i); !near.add(box)) keep_far(box);
    near_ = near;
  }

  const LineTable& table_;
  const Suppression& s_;
  const float* boxes_;
  i64* left_;   ///< candidates: the first count_
  float* far_;  ///< kept boxes that all others are compared with: [numbers][most]
  float* cells_;
  i64 count_ = 0, found_ = 0, fars_ = 0;
  bool sorted_ = false;  ///< the best last; otherwise a heap
  std::optional<NearBoxes> near_;
};

}  // namespace

i64 suppression_scratch(const Suppression& s) { return 2 * s.lists() * (1 + 2 * s.most); }
i64 suppression_slot(const Suppression& s) {
  return cells_at(s) + (s.most > kMany ? round_up(NearBoxes::size(s.most), 16) : 0);
}

i64 suppress(const Suppression& s, const float* boxes, const float* scores, float* scratch, float* memory,
             ThreadPool& pool) {
  const auto& table = line_isa();
  const Kept kept(s, scratch);
  Slots slots(memory, suppression_slot(s), slots_for(pool));
  const auto cost = static_cast<double>(4 * s.count + 100 * s.most);
  parallel_ranges(pool, s.lists(), cost, [&](i64 begin, i64 end) {
    const Slots::Lease lease(slots);
    for (auto i = begin; i < end; ++i)
      kept.counts[i] = Selection(table, s, boxes + i / s.classes * s.count * 4, lease.data())
                           .select(scores + i * s.count, kept.boxes + i * s.most);
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
