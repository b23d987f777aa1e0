#include "fast/kernels/selection/one_hot.hpp"

#include "fast/kernels/chunks.hpp"
#include "tensor/dispatch.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kRun = 4096;  // elements that are filled before one of each is set

template <class Word, class Index>
void set(const OneHot& o, const Index* at, Word on, Word off, Word* y, ThreadPool& pool) {
  const auto place = [&](i64 i) {  // of the length; that itself: nowhere
    auto k = static_cast<i64>(at[i]);
    if (k < 0 && o.normalizes) k += o.length;
    return 0 <= k && k < o.length ? k : o.length;
  };
  // Vectors side by side, or, where they are not, planes.
  const auto vectors = o.inner == 1, many = vectors && o.length < kRun;
  const auto together = many ? kRun / o.length : 1, size = o.length * o.inner * together;
  const auto count = ceil_div(o.outer, together);
  parallel_ranges(pool, count, static_cast<double>(size) / 8 + static_cast<double>(o.inner * together),
                  [&](i64 begin, i64 end) {
                    for (auto i = begin; i < end; ++i) {
                      const auto first = i * together, last = std::min(first + together, o.outer);
                      Word* to = y + first * o.length * o.inner;
                      std::fill_n(to, (last - first) * o.length * o.inner, off);
                      for (auto v = first; v < last; ++v, to += o.length * o.inner)
                        for (i64 c = 0; c < o.inner; ++c)
                          if (const auto k = place(v * o.inner + c); k < o.length) to[k * o.inner + c] = on;
                    }
                  });
}

}  // namespace

void one_hot(const OneHot& o, const View& indices, const View& on, const View& off, const View& y, ThreadPool& pool) {
  const auto go = [&]<class Word>() {
    const auto value = [](const View& v) { return *reinterpret_cast<const Word*>(v.data); };
    dispatch(indices.type, Indices{}, [&]<class Index>() {
      set(o, indices.as<const Index>(), value(on), value(off), reinterpret_cast<Word*>(y.data), pool);
    });
  };
  switch (byte_width(y.type)) {
    case 1: return go.template operator()<std::uint8_t>();
    case 2: return go.template operator()<std::uint16_t>();
    case 4: return go.template operator()<std::uint32_t>();
    default: return go.template operator()<std::uint64_t>();
  }
}

}  // namespace ovir::fast
