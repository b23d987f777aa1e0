#include "fast/kit/int8_filters.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fast/kernels/convolution/winograd_u8.hpp"
#include "fast/kit/convolution_method.hpp"

namespace ovir::fast {
namespace {

/// Of weights that are not looked at; `fits`: by levels that PairExcesses::pairs_fit().
PairExcesses none(const ConvolutionShape& s, bool fits) {
  return fits ? PairExcesses::none(NarrowGeometry(s, 4).panels()) : PairExcesses();
}

}  // namespace

U8Filters::U8Filters(const U8Layer& layer, bool late)
    : late_(late),
      way_(layer.winograd               ? U8Way::winograd
           : layer.shape.is_depthwise() ? U8Way::depthwise
                                        : U8Way::direct),
      lines_(6 * round_up(layer.shape.outputs, 4 * kBlock)) {
  const auto& s = layer.shape;
  set_epilogue(layer);
  const bool fits = way_ == U8Way::direct && PairExcesses::pairs_fit(layer.in.max_level);
  if (late) {
    source_ = I8Source(layer.weights.values);
    packed_ = std::make_shared<const PackedU8>(PackedU8{{}, none(s, fits)});
  } else {
    const bool by_column = way_ == U8Way::direct && PairExcesses::by_column(s.out_plane());
    const auto name =
        packing_name(fmt::format("u8 {} {} {} {}", static_cast<int>(way_), fits, layer.often, by_column), s);
    packed_ = layer.graph->shared<PackedU8>(layer.weights.given, name,
                                            [&] { return std::make_shared<const PackedU8>(packed(layer, fits)); });
  }
  epilogue_.excess = packed_->excesses.data();
}

PackedU8 U8Filters::packed(const U8Layer& layer, bool fits) const {
  const auto& s = layer.shape;
  const auto* values = layer.weights.values.data<std::int8_t>();
  auto& pool = layer.graph->packers(s.weights());
  PackedU8 to;
  const auto room = [&](i64 floats) {
    // Who packs on all threads writes zeros, too, each its own.
    to.packed = way_ == U8Way::depthwise ? Buffer(floats) : Buffer::unwritten(floats);
    return reinterpret_cast<Word*>(to.packed.data());
  };
  switch (way_) {
    case U8Way::direct: {
      const NarrowGeometry geometry(s, 4);
      auto* words = room(geometry.filters_size());
      u8_pack(geometry, values, words, pool);
      const bool pairs = layer.often && !fits;
      to.excesses =
          pairs ? PairExcesses(words, geometry.panels(), geometry.panel_steps(), s.out_plane(), pool) : none(s, fits);
      break;
    }
    case U8Way::winograd: u8_winograd_pack(s, values, room(u8_winograd_weights_size(s)), pool); break;
    case U8Way::depthwise:
      u8_depthwise_pack(s, values, reinterpret_cast<std::int8_t*>(room(u8_depthwise_weights_size(s) / 4)));
  }
  return to;
}

OncePanels U8Filters::once(const NarrowGeometry& g) const {
  return g.once(source_.is_read() ? ceil_div(g.panel_weights(), i64{4}) : 0);
}

i64 U8Filters::scratch_size(const NarrowGeometry& g, int threads) const {
  return late_ ? line_size() + once(g).scratch_size(threads) : 0;
}

void U8Filters::make_panel(const NarrowGeometry& g, i64 panel, Word* read, Word* to, float* shifts) const {
  const auto each = g.s.group_channels() * g.s.taps();
  const auto first = panel * kColumns, count = std::min(kColumns, g.s.outputs - first);
  const auto* values = source_.get(first * each, count * each, reinterpret_cast<std::int8_t*>(read));
  u8_pack_panel(g, panel, values, to);
  std::fill_n(shifts + first, kColumns, 0.0f);
  for (i64 o = 0; o < count; ++o) {
    const auto& shift = shifts_[first + o];
    const auto total = shift.by_total == 0 ? 0 : integer_sums(values + o * each, each).total;
    shifts[first + o] = static_cast<float>(shift.with(total));
  }
}

bool U8Filters::set_bounds(const U8Ending& e, i64 outputs) {
  const auto first = e.level_bounds(0);
  bool differ = false;
  const bool single = e.levels->is_single() && e.factors.empty();
  for (i64 o = 1; !single && o < outputs; ++o) differ = differ || e.level_bounds(o) != first;
  if (!differ) return false;
  lows_.assign(line_size(), 0);
  highs_.assign(line_size(), 255);
  for (i64 o = 0; o < outputs; ++o) {
    const auto bounds = e.level_bounds(o);
    const auto level = [](float v) { return static_cast<std::uint8_t>(std::nearbyint(std::clamp(v, 0.0f, 255.0f))); };
    lows_[o] = level(bounds.low);
    highs_[o] = level(bounds.high);
  }
  return true;
}

void U8Filters::set_epilogue(const U8Layer& layer) {
  const auto& s = layer.shape;
  const auto& filters = layer.weights;
  const auto& in = layer.in;
  const auto& e = layer.ending;
  const auto size = line_size();
  auto *scale = lines_.data(), *shift = scale + size, *level_by = shift + size, *level_plus = level_by + size,
       *slopes = level_plus + size, *sum_slopes = slopes + size;
  const bool activated = e.is_activated();
  const auto each = layer.each();
  const auto known = late_ ? nullptr : filters.sums(*layer.graph, s.outputs);
  bool small = true;
  for (i64 o = 0; o < s.outputs; ++o) {
    const auto channel = s.is_depthwise() ? o : 0;
    const auto step = static_cast<double>(filters.scale[o]);
    const auto zero_level = in.zero(channel);
    const auto zero = zero_level ? -static_cast<double>(*zero_level) * in.scale(channel) : double{in.low(channel)};
    auto by = step * in.scale(channel);
    SumShift line{.by_total = step * zero, .rest = e.bias ? double{e.bias->data<float>()[o]} : 0};
    const auto factor = e.factors.empty() ? 1 : e.factors[o], offset = e.factors.empty() ? 0 : e.offsets[o];
    if (e.levels && activated) {
      level_by[o] = factor / e.levels->scale(o);
      level_plus[o] = (offset - e.levels->low(o)) / e.levels->scale(o);
    } else if (e.levels) {
      const auto levels = factor / double{e.levels->scale(o)};
      by *= levels;
      line.by_total *= levels;
      line.rest = line.rest * levels + (offset - double{e.levels->low(o)}) / e.levels->scale(o);
    }
    // Filters that were not looked at yet may be as large as i8 can.
    const auto most = IntegerSums{.total = 128 * each, .sizes = 128 * each};
    const auto sums = known ? (*known)[o] : most;
    const auto total = static_cast<double>(std::abs(sums.total)), sizes = static_cast<double>(sums.sizes);
    small = small && sizes * 255 * std::abs(by) + std::abs(line.by_total) * total + std::abs(line.rest) < 1 << 30;
    if (e.activation.f == Function::prelu) {
      const auto slope = e.slopes ? e.slopes->data<float>()[o] : e.activation.a;
      slopes[o] = slope * (e.activates_in_loops() ? level_by[o] : 1);
    }
    if (e.sum_slopes) sum_slopes[o] = e.sum_slopes->data<float>()[o];
    scale[o] = static_cast<float>(by);
    if (late_) shifts_.push_back(line);
    else shift[o] = static_cast<float>(line.with(sums.total));
  }
  const bool by_channel = e.levels && !activated && set_bounds(e, s.outputs);
  auto first = e.bounds;
  if (by_channel) first = {0, 255};
  else if (e.levels && !activated) first = e.level_bounds(0);
  epilogue_ = {.scale = scale,
               .shift = shift,
               .low = first.low,
               .high = first.high,
               .rounds = e.levels.has_value(),
               .own = 1,
               .other = 0,
               .offset = 0,
               .min = 0,
               .max = 0,
               .small = small,
               .lows = by_channel ? lows_.data() : nullptr,
               .highs = by_channel ? highs_.data() : nullptr,
               .activated = activated,
               .activation = e.levels ? e.activation.shortened() : e.activation,
               .sum_activation = e.sum_levels ? e.sum_activation.shortened() : e.sum_activation,
               .in_loops = e.activates_in_loops(),
               .slopes = e.activation.f == Function::prelu ? slopes : nullptr,
               .sum_slopes = e.sum_slopes ? sum_slopes : nullptr,
               .by = e.levels && activated ? level_by : nullptr,
               .plus = level_plus,
               .max_level = e.levels ? e.levels->max_level : 255};
  if (!e.adds) return;
  const bool onto_levels = e.sum_levels && !activated;
  const auto step = onto_levels ? e.sum_levels->scale(0) : 1, low = onto_levels ? e.sum_levels->low(0) : 0;
  const auto last = onto_levels ? e.sum_level_bounds() : e.sum_bounds;
  if (e.sum_levels) {
    epilogue_.sum_by = 1 / e.sum_levels->scale(0);
    epilogue_.sum_plus = -e.sum_levels->low(0) / e.sum_levels->scale(0);
    epilogue_.sum_max_level = e.sum_levels->max_level;
  }
  epilogue_.own = (e.levels ? e.levels->scale(0) : 1) / step;
  epilogue_.other = (e.other ? e.other->scale(0) : 1) / step;
  epilogue_.offset = ((e.levels ? e.levels->low(0) : 0) + (e.other ? e.other->low(0) : 0) - low) / step;
  epilogue_.min = last.low;
  epilogue_.max = last.high;
}

}  // namespace ovir::fast
