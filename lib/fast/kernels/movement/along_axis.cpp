#include "fast/kernels/movement/along_axis.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

using enum ScatterReduction;

constexpr i64 kPlaces = 256;  // that are found at a time

struct Columns {
  i64 begin, end;
};

/// Indices as groups of steps along the axis, each of a run of columns that lie together; along the last axis the run
/// is the axis. Lines along the axis, and so columns of a group, have nothing to do with each other.
class AxisIndices {
 public:
  AxisIndices(const View& indices, const View& data, i64 axis)
      : indices_(indices), data_(data), axis_(axis), last_(axis == indices.rank() - 1) {
    i64 from = 1, to = 1;
    for (auto d = indices.rank(); d-- > 0; from *= indices.dim(d), to *= data.dim(d)) {
      index_strides_[d] = from;
      data_strides_[d] = to;
    }
    run_ = indices.dim(indices.rank() - 1);
    steps_ = last_ ? 1 : indices.dim(axis);
    groups_ = indices.size() / (run_ * steps_);
  }

  i64 groups() const { return groups_; }
  i64 steps() const { return steps_; }
  i64 run() const { return run_; }
  /// Into how many parts columns are shared out: some where there are few groups.
  i64 parts() const {
    constexpr i64 kItems = 32, kColumns = 128;  // fewer would leave the rest of the lines that are fetched
    return last_ ? 1 : std::clamp<i64>(ceil_div(kItems, groups_), 1, ceil_div(run_, kColumns));
  }

  /// work(place, n, first index), with place(i) in the data, for steps [begin, end) of a group; false where an index is
  /// outside: its places are left out.
  template <class Index, class Work>
  bool each(i64 group, i64 begin, i64 end, Columns columns, const Work& work) const {
    const auto* index = reinterpret_cast<const Index*>(indices_.data);
    const auto at = begins(group);
    const auto length = data_.dim(axis_), pitch = data_strides_[axis_], across = last_ ? 0 : i64{1};
    std::array<i64, kPlaces> places;
    bool good = true;
    for (auto k = begin; k < end; ++k)
      for (auto c = columns.begin; c < columns.end; c += kPlaces) {
        const auto n = std::min(kPlaces, columns.end - c);
        const auto first = at.index + (last_ ? 0 : k * index_strides_[axis_]) + c;
        const auto place_of = [&](i64 i) {
          const auto given = static_cast<i64>(index[first + i]);
          return given < 0 ? given + length : given;
        };
        bool inside = true;
        if (!last_ && all_equal(index + first, n)) {
          const auto place = place_of(0);
          inside = place >= 0 && place < length;
          if (inside) work([begins_at = at.data + place * pitch + c](i64 i) { return begins_at + i; }, n, first);
        } else {
          for (i64 i = 0; i < n; ++i) {
            const auto place = place_of(i);
            const bool is_inside = place >= 0 && place < length;
            inside &= is_inside;
            places[i] = at.data + (is_inside ? place : 0) * pitch + (c + i) * across;
          }
          if (inside) work([&](i64 i) { return places[i]; }, n, first);
        }
        good = good && inside;
      }
    return good;
  }

  /// work(place, n) for all elements of the data on the lines of these columns.
  template <class Work>
  void each_line(i64 group, Columns columns, const Work& work) const {
    const auto place = begins(group).data;
    if (last_) return work(place, data_.dim(axis_));
    for (i64 k = 0; k < data_.dim(axis_); ++k)
      work(place + k * data_strides_[axis_] + columns.begin, columns.end - columns.begin);
  }

  template <class Index>
  i64 first_outside() const {
    const auto* index = reinterpret_cast<const Index*>(indices_.data);
    const auto length = data_.dim(axis_);
    return std::find_if(index, index + indices_.size(), [&](Index i) { return i < -length || i >= length; }) - index;
  }

 private:
  struct Begins {
    i64 index = 0, data = 0;
  };
  /// As where a graph's nodes are told for all of their features.
  template <class Index>
  static bool all_equal(const Index* index, i64 n) {
    if (index[0] != index[n - 1]) return false;
    Index differences = 0;
    for (i64 i = 0; i < n; ++i) differences |= index[i] ^ index[0];
    return differences == 0;
  }

  Begins begins(i64 group) const {
    Begins at;
    for (auto d = indices_.rank() - (last_ ? 1 : 2); d >= 0; --d) {
      if (d == axis_) continue;
      const auto i = group % indices_.dim(d);
      at.index += i * index_strides_[d];
      at.data += i * data_strides_[d];
      group /= indices_.dim(d);
    }
    return at;
  }

  const View &indices_, &data_;
  i64 axis_;
  bool last_;
  std::array<i64, kMaxIndexedDims> index_strides_{}, data_strides_{};
  i64 run_, steps_, groups_;
};

template <class Index, class Word>
bool gather_as(const AxisIndices& at, const View& data, const View& out, ThreadPool& pool) {
  constexpr double kNanoseconds = 1.5;
  const auto* from = reinterpret_cast<const Word*>(data.data);
  auto* to = reinterpret_cast<Word*>(out.data);
  const auto steps = at.steps();
  std::atomic<bool> good = true;
  parallel_ranges(pool, at.groups() * steps, kNanoseconds * static_cast<double>(at.run()), [&](i64 begin, i64 end) {
    for (auto i = begin; i < end;) {
      const auto step = i % steps, some = std::min(end - i, steps - step);
      const bool inside =
          at.each<Index>(i / steps, step, step + some, {0, at.run()}, [&](const auto& place, i64 n, i64 first) {
            for (i64 k = 0; k < n; ++k) to[first + k] = from[place(k)];
          });
      if (!inside) good = false;
      i += some;
    }
  });
  return good;
}

/// `value` under `update`; integers wrap.
template <ScatterReduction reduction, class T>
T reduced(T value, T update) {
  using U = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  if constexpr (reduction == sum || reduction == mean)
    return static_cast<T>(static_cast<U>(value) + static_cast<U>(update));
  else if constexpr (reduction == prod) return static_cast<T>(static_cast<U>(value) * static_cast<U>(update));
  else if constexpr (reduction == min) return std::min(value, update);
  else if constexpr (reduction == max) return std::max(value, update);
  else return update;
}

/// With what a reduction begins that leaves the data out.
template <ScatterReduction reduction, class T>
T fresh() {
  using Limits = std::numeric_limits<T>;
  if (reduction == prod) return 1;
  if (reduction == min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  if (reduction == max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  return 0;
}

template <class Index, class T, ScatterReduction reduction>
bool scatter_as(const AxisIndices& at, const View& updates, const View& out, bool with_data, std::int32_t* counts,
                ThreadPool& pool) {
  constexpr double kNanoseconds = 2.5;
  const auto* from = reinterpret_cast<const T*>(updates.data);
  auto* to = reinterpret_cast<T*>(out.data);
  const auto parts = at.parts();
  std::atomic<bool> good = true;
  const auto cost = kNanoseconds * static_cast<double>(at.steps() * ceil_div(at.run(), parts));
  parallel_ranges(pool, at.groups() * parts, cost, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) {
      const auto group = i / parts;
      const Part part(at.run(), parts, i % parts);
      const Columns columns{part.begin, part.end};
      const auto each = [&](const auto& work) {
        if (!at.each<Index>(group, 0, at.steps(), columns, work)) good = false;
      };
      if constexpr (reduction == mean)
        at.each_line(group, columns, [&](i64 place, i64 n) { std::fill_n(counts + place, n, 0); });
      else if (!with_data)
        each([&](const auto& place, i64 n, i64) {
          for (i64 k = 0; k < n; ++k) to[place(k)] = fresh<reduction, T>();
        });
      each([&](const auto& place, i64 n, i64 first) {
        for (i64 k = 0; k < n; ++k) {
          auto& y = to[place(k)];
          if constexpr (reduction == mean) {
            auto& count = counts[place(k)];
            if (count == 0 && with_data) count = 1;
            else if (count == 0) y = 0;
            ++count;
          }
          y = reduced<reduction>(y, from[first + k]);
        }
      });
      if constexpr (reduction == mean)
        at.each_line(group, columns, [&](i64 place, i64 n) {
          for (auto k = place; k < place + n; ++k)
            if (counts[k]) to[k] = to[k] / static_cast<T>(counts[k]);
        });
    }
  });
  return good;
}

template <class Index, class T>
bool reduce_as(const AxisIndices& at, const View& updates, const ScatterElementsAttrs& attrs, const View& out,
               std::int32_t* counts, ThreadPool& pool) {
  const bool with_data = attrs.use_init_val;
  switch (attrs.reduction) {
    case sum: return scatter_as<Index, T, sum>(at, updates, out, with_data, counts, pool);
    case prod: return scatter_as<Index, T, prod>(at, updates, out, with_data, counts, pool);
    case min: return scatter_as<Index, T, min>(at, updates, out, with_data, counts, pool);
    case max: return scatter_as<Index, T, max>(at, updates, out, with_data, counts, pool);
    default:
      if constexpr (std::is_floating_point_v<T>)
        return scatter_as<Index, T, mean>(at, updates, out, with_data, counts, pool);
      else return false;
  }
}

/// By the width of what is only moved.
template <class F>
bool by_width(ElementType type, const F& f) {
  switch (byte_width(type)) {
    case 1: return f(std::uint8_t());
    case 2: return f(std::uint16_t());
    case 4: return f(std::uint32_t());
    default: return f(std::uint64_t());
  }
}

template <class Index>
bool scatter_by(const AxisIndices& at, const View& updates, const ScatterElementsAttrs& attrs, const View& out,
                std::int32_t* counts, ThreadPool& pool) {
  if (attrs.reduction == none)
    return by_width(out.type, [&](auto word) {
      return scatter_as<Index, decltype(word), none>(at, updates, out, true, nullptr, pool);
    });
  switch (out.type) {
    case ElementType::f32: return reduce_as<Index, float>(at, updates, attrs, out, counts, pool);
    case ElementType::f64: return reduce_as<Index, double>(at, updates, attrs, out, counts, pool);
    case ElementType::i32: return reduce_as<Index, std::int32_t>(at, updates, attrs, out, counts, pool);
    default: return reduce_as<Index, i64>(at, updates, attrs, out, counts, pool);
  }
}

}  // namespace

i64 gather_along(const View& data, const View& indices, i64 axis, const View& out, ThreadPool& pool) {
  const AxisIndices at(indices, data, axis);
  const auto go = [&](auto index) {
    using Index = decltype(index);
    const bool good =
        by_width(out.type, [&](auto word) { return gather_as<Index, decltype(word)>(at, data, out, pool); });
    return good ? -1 : at.first_outside<Index>();
  };
  return indices.type == ElementType::i64 ? go(i64()) : go(std::int32_t());
}

bool reduces(ElementType type, ScatterReduction reduction) {
  if (reduction == none) return byte_width(type) <= 8;
  if (type == ElementType::f32 || type == ElementType::f64) return true;
  return (type == ElementType::i32 || type == ElementType::i64) && reduction != mean;
}

i64 scatter_scratch_size(const View& out, ScatterReduction reduction) { return reduction == mean ? out.size() : 0; }

i64 scatter_along(const View& indices, const View& updates, i64 axis, const ScatterElementsAttrs& attrs,
                  const View& out, float* scratch, ThreadPool& pool) {
  const AxisIndices at(indices, out, axis);
  auto* counts = reinterpret_cast<std::int32_t*>(scratch);
  const auto go = [&](auto index) {
    using Index = decltype(index);
    return scatter_by<Index>(at, updates, attrs, out, counts, pool) ? -1 : at.first_outside<Index>();
  };
  return indices.type == ElementType::i64 ? go(i64()) : go(std::int32_t());
}

}  // namespace ovir::fast
