#include "fast/kernels/convolution/pointwise.hpp"

#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {
constexpr i64 kPixelBytes = 384 << 10;  // of input, while all panels go by
}

void pointwise_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                           const Epilogue& epilogue, ThreadPool& pool) {
  static constexpr i64 kNoTaps[1] = {0};
  const auto& table = isa();
  const auto count = s.groups / joined_groups(s), channels = s.channels / count, outputs = s.outputs / count;
  const auto blocks = blocks_of(channels), pixels = s.plane(), images = s.batch * count;
  const auto k = blocks * kBlock, panels = ceil_div(outputs, kColumns);
  if (pixels == 0) return;
  const auto work = s.multiplications() * static_cast<double>(joined_groups(s)) / 40;
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  const auto fits = std::max(ceil_div(pixels * k * 4, kPixelBytes), ceil_div(wanted, images * panels));
  const auto parts = std::clamp<i64>(fits, 1, ceil_div(pixels, table.pixels));
  const auto panel_groups = std::clamp<i64>(ceil_div(wanted, images * parts), 1, panels);
  const bool prefetch = panels_size(k, outputs) > (i64{1} << 17);
  parallel(pool, images * parts * panel_groups, [&](i64 chunk) {
    const auto image = chunk / (parts * panel_groups), group = image % count;
    const Part part(pixels, parts, chunk / panel_groups % parts), mine(panels, panel_groups, chunk % panel_groups);
    const Panels all{filters + group * panels_size(k, outputs), k, outputs};
    const auto tiles = ceil_div(part.size(), table.pixels);
    const auto first_block = image / count * blocks_of(s.outputs) + group * blocks_of(outputs);
    for (auto panel = mine.begin; panel < mine.end; ++panel) {
      const auto columns = all.columns(panel), column = group * outputs + panel * kColumns;
      Ahead ahead;
      const auto next = panel + 1;  // of the thread's next chunk, if not of this one
      if (prefetch && next < panels) {
        ahead.next = reinterpret_cast<const char*>(all.panel(next));
        ahead.end = reinterpret_cast<const char*>(all.panel(next) + k * all.columns(next));
        ahead.lines = ceil_div(2 * kBlock, tiles);
      }
      for (i64 i = 0; i < tiles; ++i) {
        const Part run(part.size(), tiles, i);
        const auto pixel = part.begin + run.begin;
        const auto place = ((first_block + panel * (kColumns / kBlock)) * pixels + pixel) * kBlock;
        Tile tile{};
        tile.in = in + (image * blocks * pixels + pixel) * kBlock;
        tile.pixel = kBlock;
        tile.block = pixels * kBlock;
        tile.taps = kNoTaps;
        tile.blocks = blocks;
        tile.tap_count = 1;
        tile.steps = kBlock;
        tile.last_steps = channels - (blocks - 1) * kBlock;
        tile.weights = all.panel(panel);
        tile.out = out + place;
        tile.out_pixel = kBlock;
        tile.out_block = pixels * kBlock;
        tile.ahead = &ahead;
        const auto* residual = epilogue.residual ? epilogue.residual + place : nullptr;
        begin(tile, epilogue, column, residual, kBlock, tile.out_block);
        table.packed(tile, static_cast<int>(run.size()), static_cast<int>(columns));
        finish(table, tile, static_cast<int>(run.size()), static_cast<int>(columns), epilogue, column, residual, kBlock,
               tile.out_block);
      }
    }
  });
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
