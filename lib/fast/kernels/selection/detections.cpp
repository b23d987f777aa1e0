#include "fast/kernels/selection/detections.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/selection/rank.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

/// A box of a class, by its score: the smaller, the better, and of equal ones the first of the first class.
i64 candidate(std::int32_t rank, i64 place) { return (i64{~rank} << 32) | place; }

struct Detected {
  float score;
  i64 image, label, box;
};
/// Within an image.
bool is_better(const Detected& a, const Detected& b) {
  return std::tuple(-a.score, a.label, a.box) < std::tuple(-b.score, b.label, b.box);
}

/// The number of detections of each image, and those.
struct Kept {
  i64* counts;
  Detected* all;  ///< [images][most_of_image]
  Kept(const Detections& d, float* scratch)
      : counts(reinterpret_cast<i64*>(scratch)), all(reinterpret_cast<Detected*>(counts + d.images)) {}
};

/// x1, y1, x2, y2, area.
using BoxNumbers = std::array<float, 5>;

BoxNumbers read_box(const Detections& d, const float* v) {
  const float pixel = d.normalized ? 0 : 1, width = v[2] - v[0] + pixel, height = v[3] - v[1] + pixel;
  const bool is_none = d.matrix && (v[2] < v[0] || v[3] < v[1]);
  return {v[0], v[1], v[2], v[3], is_none ? 0 : width * height};
}

/// Boxes of one class side by side, as the loops want them, and the tile of the same class before it; -1: none.
struct BoxTile {
  std::array<float, 6 * kTile> numbers;
  i64 count, before;

  /// Places without a box have an area of NaN and no effect whatever they are compared with; `unused` is such a last
  /// number.
  void clear(float unused, i64 last) {
    numbers.fill(0);
    std::fill_n(numbers.begin() + 4 * kTile, kTile, std::numeric_limits<float>::quiet_NaN());
    std::fill_n(numbers.begin() + 5 * kTile, kTile, unused);
    count = 0;
    before = last;
  }
  void add(const BoxNumbers& box, float own) {
    for (i64 k = 0; k < 5; ++k) numbers[k * kTile + count] = box[k];
    numbers[5 * kTile + count] = own;
    ++count;
  }
};

struct OfClass {
  i64 first = 0;                 ///< of its candidates
  i64 looked_at = 0, last = -1;  ///< boxes, and the tile of the last ones
  float overlap;                 ///< the threshold as it is now
};

/// Boxes that others are compared with: those that are kept or, of MatrixNms, all that were looked at.
i64 compared(const Detections& d) { return d.matrix ? d.classes * d.of_class : d.most_of_image(); }
/// Each class begins a tile of its own.
i64 tiles(const Detections& d) {
  const auto n = compared(d);
  return std::min(n, n / kTile + d.classes);
}

// A slot: candidates, with one place more that is written to but not counted, classes, tiles.
template <class T>
constexpr auto kFloatsOf = static_cast<i64>(sizeof(T) / sizeof(float));
static_assert(sizeof(Detected) % sizeof(float) == 0 && sizeof(OfClass) % sizeof(float) == 0);
i64 classes_at(const Detections& d) { return round_up((d.classes * d.count + 1) * kFloatsOf<i64>, 16); }
i64 tiles_at(const Detections& d) { return classes_at(d) + round_up(d.classes * kFloatsOf<OfClass>, 16); }

/// What is detected in one image. Boxes behind the last that is kept are never looked at.
class Image {
 public:
  Image(const LineTable& table, const Detections& d, i64 image, const float* boxes, const float* scores, Detected* kept,
        float* memory)
      : table_(table),
        d_(d),
        image_(image),
        boxes_(boxes),
        scores_(scores),
        kept_(kept),
        left_(reinterpret_cast<i64*>(memory)),
        classes_(reinterpret_cast<OfClass*>(memory + classes_at(d))),
        tiles_(reinterpret_cast<BoxTile*>(memory + tiles_at(d))) {
    std::fill_n(classes_, d.classes, OfClass{.overlap = d.overlap});
  }

  i64 detect() {
    find_candidates();
    if (count_ <= d_.of_image) look_at_all();
    else look_at_best();
    if (d_.matrix || count_ <= d_.of_image) std::sort(kept_, kept_ + found_, is_better);
    return found_;
  }

 private:
  void find_candidates() {
    const auto least = rank_of(d_.score);
    for (i64 label = 0; label < d_.classes; ++label) {
      classes_[label].first = count_;
      if (label == d_.background) continue;
      for (i64 i = 0, place = label * d_.count; i < d_.count; ++i, ++place) {
        // Without a jump, which could not be foreseen; as integers, also where denormal floats are zero.
        const float score = scores_[place];
        const auto rank = rank_of(score);
        left_[count_] = candidate(rank, place);
        count_ += int{score == score} & (d_.matrix ? int{rank > least} : int{rank >= least});
      }
    }
  }

  /// Class by class: their boxes then stay in the cache.
  void look_at_all() {
    for (i64 label = 0; label < d_.classes; ++label) {
      const auto first = classes_[label].first, end = label + 1 < d_.classes ? classes_[label + 1].first : count_;
      std::sort(left_ + first, left_ + end);
      for (auto i = first; i < end; ++i) look_at(detected(left_[i]));
    }
  }

  /// Those of all classes in the order of scores, until no other one can be kept.
  void look_at_best() {
    std::make_heap(left_, left_ + count_, std::greater<>());
    const bool may_end = !d_.matrix || d_.score >= 0;  // scores that are negative rise as they decay
    for (; count_ > 0; --count_) {
      std::pop_heap(left_, left_ + count_, std::greater<>());
      const auto next = detected(left_[count_ - 1]);
      if (may_end && found_ == d_.of_image && (!d_.matrix || next.score < kept_[0].score)) break;
      look_at(next);
    }
  }

  Detected detected(i64 candidate) const {
    const auto place = candidate & 0xffffffff;
    return {scores_[place], image_, place / d_.count, place % d_.count};
  }
  void look_at(const Detected& next) {
    auto& label = classes_[next.label];
    if (label.looked_at++ >= d_.of_class) return;
    if (d_.matrix) decay(next, label);
    else suppress(next, label);
  }

  /// The box stays where no better one covers it.
  void suppress(const Detected& next, OfClass& label) {
    const auto box = read_box(d_, boxes_ + next.box * 4);
    for (auto t = label.last; t >= 0; t = tiles_[t].before)
      if (table_.covered(box.data(), tiles_[t].numbers.data(), pixel())) return;
    kept_[found_++] = next;
    if (d_.eta < 1 && label.overlap > 0.5F) label.overlap *= d_.eta;
    add(label, box, label.overlap);
  }

  void decay(Detected next, OfClass& label) {
    const auto box = read_box(d_, boxes_ + next.box * 4);
    alignas(64) std::array<float, kTile> most, least;
    most.fill(0);
    least.fill(d_.gaussian ? 0 : 1);
    for (auto t = label.last; t >= 0; t = tiles_[t].before)
      table_.decay(box.data(), tiles_[t].numbers.data(), pixel(), d_.gaussian, most.data(), least.data());
    const auto overlap = *std::max_element(most.begin(), most.end());
    auto factor = *std::min_element(least.begin(), least.end());
    if (d_.gaussian) factor = std::min(1.0F, std::exp(factor * d_.sigma));  // the least of all exponentials
    add(label, box, d_.gaussian ? overlap * overlap : 1 - overlap + 1e-10F);
    next.score = factor * next.score;
    if (next.score > d_.decayed) keep(next);
  }

  /// The worst one is kept_[0].
  void keep(const Detected& next) {
    if (found_ == d_.of_image) {
      if (!is_better(next, kept_[0])) return;
      std::pop_heap(kept_, kept_ + found_--, is_better);
    }
    kept_[found_++] = next;
    std::push_heap(kept_, kept_ + found_, is_better);
  }

  void add(OfClass& label, const BoxNumbers& box, float own) {
    if (label.last < 0 || tiles_[label.last].count == kTile) {
      const float unused = !d_.matrix ? std::numeric_limits<float>::infinity() : d_.gaussian ? 0 : 1;
      tiles_[tile_count_].clear(unused, label.last);
      label.last = tile_count_++;
    }
    tiles_[label.last].add(box, own);
  }

  float pixel() const { return d_.normalized ? 0 : 1; }

  const LineTable& table_;
  const Detections& d_;
  i64 image_;
  const float *boxes_, *scores_;
  Detected* kept_;
  i64* left_;  ///< candidates: the first count_
  OfClass* classes_;
  BoxTile* tiles_;
  i64 count_ = 0, found_ = 0, tile_count_ = 0;
};

void sort(Detected* all, i64 n, DetectionOrder order) {
  const auto by = [&](const auto& key) {
    std::sort(all, all + n, [&](const Detected& x, const Detected& y) { return key(x) < key(y); });
  };
  switch (order) {
    case DetectionOrder::as_kept: return;
    case DetectionOrder::classes_of_image:
      return by([](const Detected& x) { return std::tuple(x.image, x.label, -x.score, x.box); });
    case DetectionOrder::classes:
      return by([](const Detected& x) { return std::tuple(x.label, x.image, -x.score, x.box); });
    case DetectionOrder::scores:
      return by([](const Detected& x) { return std::tuple(-x.score, x.image, x.label, x.box); });
  }
}

}  // namespace

i64 Detections::most_of_image() const { return std::min(of_image, classes * of_class); }

i64 detections_scratch(const Detections& d) {
  return d.images * (kFloatsOf<i64> + d.most_of_image() * kFloatsOf<Detected>);
}
i64 detections_slot(const Detections& d) { return tiles_at(d) + round_up(tiles(d) * kFloatsOf<BoxTile>, 16); }
int detections_slots(const Detections& d, const ThreadPool& pool) {
  return static_cast<int>(std::min<i64>(slots_for(pool), d.images));
}

i64 detect(const Detections& d, const float* boxes, const float* scores, float* scratch, float* memory,
           ThreadPool& pool) {
  const auto& table = line_isa();
  const Kept kept(d, scratch);
  Slots slots(memory, detections_slot(d), detections_slots(d, pool));
  const auto cost = static_cast<double>(d.classes) * static_cast<double>(d.count);
  parallel_ranges(pool, d.images, cost, [&](i64 begin, i64 end) {
    const Slots::Lease lease(slots);
    for (auto i = begin; i < end; ++i)
      kept.counts[i] = Image(table, d, i, boxes + i * d.count * 4, scores + i * d.classes * d.count,
                             kept.all + i * d.most_of_image(), lease.data())
                           .detect();
  });
  i64 found = 0;
  for (i64 i = 0; i < d.images; ++i) found += kept.counts[i];
  return found;
}

void put_detections(const Detections& d, i64 found, float* scratch, const float* boxes, const View& outputs,
                    const View& indices, const View& numbers) {
  const Kept kept(d, scratch);
  auto* end = kept.all;
  for (i64 i = 0; i < d.images; ++i) {
    const auto* from = kept.all + i * d.most_of_image();
    end = std::copy(from, from + kept.counts[i], end);
  }
  sort(kept.all, found, d.order);
  if (outputs.type == ElementType::f32) {
    auto* to = outputs.as<float>();
    for (const auto* x = kept.all; x < end; ++x, to += 6) {
      to[0] = static_cast<float>(x->label);
      to[1] = x->score;
      std::copy_n(boxes + (x->image * d.count + x->box) * 4, 4, to + 2);
    }
  }
  dispatch(indices.type, Indices{}, [&]<class Index>() {
    std::transform(kept.all, end, indices.as<Index>(),
                   [&](const Detected& x) { return static_cast<Index>(x.image * d.count + x.box); });
  });
  dispatch(numbers.type, Indices{}, [&]<class Index>() {
    std::transform(kept.counts, kept.counts + d.images, numbers.as<Index>(),
                   [](i64 n) { return static_cast<Index>(n); });
  });
}

}  // namespace ovir::fast
