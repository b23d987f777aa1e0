// Boxes against kTile others, half a tile at a time. Comparisons are the operations' own, so that NaN has the same
// effect.

using Row = float __attribute__((vector_size(32), aligned(4), may_alias));
static constexpr i64 kInRow = sizeof(Row) / sizeof(float);

static bool covered(const float* box, const float* tile, float pixel) {
  const Row none{}, x1 = none + box[0], y1 = none + box[1], x2 = none + box[2], y2 = none + box[3],
                    area = none + box[4];
  decltype(none < none) any{};
  for (i64 i = 0; i < kTile; i += kInRow) {
    const auto* at = reinterpret_cast<const Row*>(tile + i);
    constexpr i64 kNext = kTile / kInRow;
    const Row &a = at[0], &b = at[kNext], &c = at[2 * kNext], &d = at[3 * kNext], &other = at[4 * kNext];
    const Row width = (x2 < c ? x2 : c) - (a < x1 ? x1 : a) + pixel;
    const Row height = (y2 < d ? y2 : d) - (b < y1 ? y1 : b) + pixel;
    const Row common = (none < width ? width : none) * (none < height ? height : none);
    const Row part = common / (other + area - common);
    any |= ((area <= none) | (other <= none) ? none : part) > at[5 * kNext];
  }
  int found = 0;
  for (i64 i = 0; i < kInRow; ++i) found |= any[i];
  return found;
}

template <bool kGaussian>
static void decay_by(const float* box, const float* tile, float pixel, float* most, float* least) {
  const Row none{}, x1 = none + box[0], y1 = none + box[1], x2 = none + box[2], y2 = none + box[3],
                    area = none + box[4];
  for (i64 i = 0; i < kTile; i += kInRow) {
    const auto* at = reinterpret_cast<const Row*>(tile + i);
    constexpr i64 kNext = kTile / kInRow;
    const Row &a = at[0], &b = at[kNext], &c = at[2 * kNext], &d = at[3 * kNext], &own = at[5 * kNext];
    const Row width = (c < x2 ? c : x2) - (x1 < a ? a : x1) + pixel;
    const Row height = (d < y2 ? d : y2) - (y1 < b ? b : y1) + pixel;
    const Row common = width * height, quotient = common / (area + at[4 * kNext] - common);
    const Row part = (a > x2) | (c < x1) | (b > y2) | (d < y1) ? none : quotient;
    auto& largest = *reinterpret_cast<Row*>(most + i);
    largest = largest < part ? part : largest;
    const Row factor = kGaussian ? own - part * part : (1 - part) / own;
    auto& smallest = *reinterpret_cast<Row*>(least + i);
    smallest = factor < smallest ? factor : smallest;
  }
}
static void decay(const float* box, const float* tile, float pixel, bool gaussian, float* most, float* least) {
  if (gaussian) decay_by<true>(box, tile, pixel, most, least);
  else decay_by<false>(box, tile, pixel, most, least);
}
