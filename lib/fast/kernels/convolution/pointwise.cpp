#include "fast/kernels/convolution/pointwise.hpp"

#include <utility>

#include "fast/kernels/product/packed.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPixelBytes = 384 << 10;  // of input, while all panels go by
constexpr i64 kOncePixelBytes = 1 << 20;

struct Job {
  const IsaTable& table;
  const ConvolutionShape& s;
  const float* in;
  float* out;
  const Epilogue& epilogue;
  JoinedGroups groups;
  i64 k, panels;       ///< of a joined group
  i64 images, pixels;  ///< images of a single pixel are pixels of one
  i64 in_pixel = kBlock, in_block, out_pixel = kBlock, out_block;

  Job(const ConvolutionShape& shape, const float* from, float* to, const Epilogue& e)
      : table(isa()),
        s(shape),
        in(from),
        out(to),
        epilogue(e),
        groups(s),
        k(groups.blocks() * kBlock),
        panels(ceil_div(groups.outputs, kColumns)),
        images(s.batch),
        pixels(s.plane()),
        in_block(pixels * kBlock),
        out_block(in_block) {
    if (pixels > 1) return;
    pixels *= std::exchange(images, 1);
    in_pixel *= blocks_of(s.channels);
    out_pixel *= blocks_of(s.outputs);
  }

  /// Some pixels of an image, numbered through its groups, by a panel of `outputs` packed filters.
  void run(i64 image, i64 panel, const float* weights, i64 outputs, Part part, Ahead& ahead) const {
    const auto group = image % groups.count, whole = image / groups.count;
    const auto first_block = whole * blocks_of(s.outputs) + group * blocks_of(groups.outputs),
               from_block = whole * blocks_of(s.channels) + group * groups.blocks();
    const auto place = (first_block + panel * (kColumns / kBlock)) * out_block + part.begin * out_pixel;
    pointwise_run({.in = in + from_block * in_block + part.begin * in_pixel,
                   .in_block = in_block,
                   .channels = groups.channels_of(s, group),
                   .pixels = part.size(),
                   .out = out + place,
                   .out_block = out_block,
                   .residual = epilogue.residual ? epilogue.residual + place : nullptr,
                   .in_pixel = in_pixel,
                   .out_pixel = out_pixel},
                  weights, group * groups.outputs + panel * kColumns, outputs, epilogue, &ahead);
  }
};

}  // namespace

void pointwise_run(const PixelRun& run, const float* weights, i64 column, i64 outputs, const Epilogue& epilogue,
                   Ahead* ahead) {
  const auto& table = isa();
  const auto columns = static_cast<int>(columns_of(outputs));
  const auto blocks = blocks_of(run.channels), together = pixels_together(epilogue, run.pixels);
  for (i64 first = 0; first < run.pixels; first += together) {
    const auto pixels = std::min(together, run.pixels - first);
    Tile tile{};
    tile.in = run.in + first * run.in_pixel;
    tile.pixel = run.in_pixel;
    tile.block = run.in_block;
    tile.taps = kOneTap;
    tile.blocks = blocks;
    tile.tap_count = 1;
    tile.steps = kBlock;
    tile.last_steps = run.channels - (blocks - 1) * kBlock;
    tile.weights = weights;
    tile.filled = outputs;
    tile.out = run.out + first * run.out_pixel;
    tile.out_pixel = run.out_pixel;
    tile.out_block = run.out_block;
    tile.ahead = ahead;
    const auto* residual = run.residual ? run.residual + first * run.out_pixel : nullptr;
    begin(tile, epilogue, column, residual, tile.out_pixel, tile.out_block);
    table.packed(tile, pixels, columns);
    finish(table, tile, pixels, columns, epilogue, column, residual, tile.out_pixel, tile.out_block);
  }
}

void pointwise_convolution(const ConvolutionShape& s, const float* filters, const float* in, float* out,
                           const Epilogue& epilogue, ThreadPool& pool) {
  const Job job(s, in, out, epilogue);
  const auto images = job.images * job.groups.count, panels = job.panels;
  if (job.pixels == 0) return;
  const auto weights = panels_size(job.k, job.groups.outputs);
  const auto work = product_time(s.multiplications() * static_cast<double>(job.groups.joined),
                                 static_cast<double>(4 * job.groups.count * weights));
  const auto wanted = static_cast<i64>(std::clamp(work / static_cast<double>(kChunkWork), 1.0, 64.0));
  const auto fits = std::max(ceil_div(job.pixels * job.k * 4, kPixelBytes), ceil_div(wanted, images * panels));
  const auto parts = std::clamp<i64>(fits, 1, ceil_div(job.pixels, job.table.pixels));
  const auto panel_groups = std::clamp<i64>(ceil_div(wanted, images * parts), 1, panels);
  const bool prefetch = weights > (i64{1} << 17) && 2 * job.pixels > job.table.pixels;
  parallel(pool, images * parts * panel_groups, [&](i64 chunk) {
    const auto image = chunk / (parts * panel_groups);
    const Part part(job.pixels, parts, chunk / panel_groups % parts), mine(panels, panel_groups, chunk % panel_groups);
    const auto group = image % job.groups.count;
    const Panels all{filters + group * panels_size(job.k, job.groups.outputs), job.k, job.groups.outputs_of(s, group)};
    for (auto panel = mine.begin; panel < std::min(mine.end, all.count()); ++panel) {
      Ahead ahead;
      const auto next = panel + 1;  // of the thread's next chunk, if not of this one
      if (prefetch && next < all.count()) {
        ahead.next = reinterpret_cast<const char*>(all.panel(next));
        ahead.end = reinterpret_cast<const char*>(all.panel(next) + job.k * all.columns(next));
        ahead.lines = ceil_div(2 * kBlock, ceil_div(part.size(), job.table.pixels));
      }
      job.run(image, panel, all.panel(panel), all.filled(panel), part, ahead);
    }
  });
  clear_padding(s, epilogue.activation, out);
}

bool pointwise_packs_by_panels(const ConvolutionShape& s) {
  return s.packs_as_one_group() && (s.batch == 1 || s.plane() == 1) && s.outputs >= kOncePanels * kColumns &&
         s.batch * s.plane() * s.channels * 4 <= kOncePixelBytes;
}

i64 pointwise_once_scratch_size(const ConvolutionShape& s, int threads) {
  return threads * kColumns * 2 * round_up(s.group_channels(), kBlock);
}

void pointwise_convolution_once(const ConvolutionShape& s, const Weights& filters, const float* in, float* out,
                                const Epilogue& epilogue, float* scratch, ThreadPool& pool) {
  const Job job(s, in, out, epilogue);
  if (job.pixels == 0) return;
  const auto channels = s.group_channels();
  Slots rooms(scratch, kColumns * 2 * job.k, slots_for(pool));
  parallel(pool, job.groups.count * job.panels, [&](i64 all) {
    const Slots::Lease room(rooms);
    float* const packed = room.data() + kColumns * job.k;
    const auto group = all / job.panels, panel = all % job.panels, first = panel * kColumns,
               count = std::min(kColumns, job.groups.outputs - first), columns = columns_of(count);
    if (count < columns) std::fill_n(packed, channels * columns, 0.0f);
    const auto from = (group * job.groups.outputs + first) * channels;
    job.table.transpose(filters.get(from, count * channels, room.data()), channels, packed, columns, count, channels);
    Ahead none;
    for (i64 image = 0; image < job.images; ++image)
      job.run(image * job.groups.count + group, panel, packed, count, Part(job.pixels, 1, 0), none);
  });
  clear_padding(s, epilogue.activation, out);
}

}  // namespace ovir::fast
