// Selection of the best, in vectors of eight: Ranks, of which `lesser` and `larger` give
// the extremes.

constexpr i64 kLanes = 8;
using AnyPlace = std::int32_t __attribute__((vector_size(32), aligned(4), may_alias));
using Words = std::int64_t __attribute__((vector_size(32)));

static void rank(const float* x, bool largest, std::int32_t* to, i64 n) {
  constexpr std::int32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  const std::int32_t flip = largest ? -1 : 0;
  for (i64 i = 0; i < n; ++i) {
    std::int32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    const std::int32_t ordered = bits ^ ((bits >> 31) & kMagnitude), zero = ordered == -1 ? 0 : ordered;
    to[i] = ((bits & kMagnitude) > kInfinity ? kMagnitude : zero) ^ flip;
  }
}

static i64 below(const std::int32_t* ranks, i64 i, i64 n, std::int32_t bound) {
  const Ranks limit = Ranks{} + bound;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const auto* v = reinterpret_cast<const AnyPlace*>(ranks + i);
    const Words any = (Words)((v[0] < limit) | (v[1] < limit) | (v[2] < limit) | (v[3] < limit));
    if ((any[0] | any[1] | any[2] | any[3]) != 0) break;
  }
  while (i < n && ranks[i] >= bound) ++i;
  return i;
}

template <int K>
static void keep_some(const std::int32_t* ranks, i64 rows, std::int32_t first, std::int32_t* best, std::int32_t* at,
                      i64 columns) {
  constexpr i64 kStep = kRankColumns / kLanes;
  for (i64 c = 0; c < columns; c += kLanes) {
    const auto* from = reinterpret_cast<const AnyPlace*>(ranks + c);
    auto *kept = reinterpret_cast<AnyPlace*>(best + c), *places = reinterpret_cast<AnyPlace*>(at + c);
    i64 r = 0;
    for (; r < rows && first + r < K; ++r) {  // as yet there is room for all
      const auto have = first + r;
      const Ranks x = from[r * kStep], row = Ranks{} + static_cast<std::int32_t>(have);
      Ranks better = ~Ranks{};  // than nothing
      for (i64 m = have; m > 0; --m) {
        const Ranks b = kept[(m - 1) * kStep], a = places[(m - 1) * kStep], above = x < b;
        kept[m * kStep] = above ? b : (better ? x : kept[m * kStep]);
        places[m * kStep] = above ? a : (better ? row : places[m * kStep]);
        better = above;
      }
      kept[0] = better ? x : kept[0];
      places[0] = better ? row : places[0];
    }
    if (r == rows) continue;
    Ranks b[K], a[K];
#pragma GCC unroll 8
    for (int m = 0; m < K; ++m) {
      b[m] = kept[m * kStep];
      a[m] = places[m * kStep];
    }
    Ranks next = Ranks{} + static_cast<std::int32_t>(first + r);
    for (; r < rows; ++r) {
      const Ranks x = from[r * kStep];
      Ranks better = x < b[K - 1];
#pragma GCC unroll 8
      for (int m = K - 1; m > 0; --m) {  // what is worse than x moves on by one
        const Ranks above = x < b[m - 1];
        a[m] = better ? (above ? a[m - 1] : next) : a[m];
        lesser(x, b[m], b[m]);
        larger(b[m - 1], b[m], b[m]);
        better = above;
      }
      a[0] = better ? next : a[0];
      lesser(x, b[0], b[0]);
      next += 1;
    }
#pragma GCC unroll 8
    for (int m = 0; m < K; ++m) {
      kept[m * kStep] = b[m];
      places[m * kStep] = a[m];
    }
  }
}

static void keep(const std::int32_t* ranks, i64 rows, std::int32_t first, int k, std::int32_t* best, std::int32_t* at,
                 i64 columns) {
  constexpr decltype(&keep_some<1>) kSome[kMostKept] = {keep_some<1>, keep_some<2>, keep_some<3>, keep_some<4>,
                                                        keep_some<5>, keep_some<6>, keep_some<7>, keep_some<8>};
  kSome[k - 1](ranks, rows, first, best, at, columns);
}
