// Convolution-1 and GroupConvolution-1 of one and two spatial axes, in f32, on the file's own weights: nothing is
// compiled or repacked first, which is what a single run wants.
#include "fast/kit/functions.hpp"
#include "fast/kit/product.hpp"
#include "op/kit/window.hpp"

namespace ovir::fast::patterns::convolution {
namespace {

/// A plane's window; one spatial axis is a plane of height 1.
struct Plane {
  i64 height, width, out_height, out_width, kernel_height, kernel_width;
  Window rows, columns;
  bool is_pointwise() const {
    return kernel_height == 1 && kernel_width == 1 && rows.stride == 1 && columns.stride == 1 && rows.pad_begin == 0 &&
           columns.pad_begin == 0 && height == out_height && width == out_width;
  }
};

Plane plane_of(const ConvolutionAttrs& attrs, std::span<const i64> data, std::span<const i64> filters,
               std::span<const i64> out) {
  const auto spatial = data.size() - 2;
  const auto window = [&](std::size_t axis) {
    return attrs.window(axis, filters[filters.size() - spatial + axis]).resolved(data[axis + 2]);
  };
  const auto columns = window(spatial - 1);
  const auto rows = spatial == 2 ? window(0) : Window{};
  return {spatial == 2 ? data[2] : 1,
          data.back(),
          spatial == 2 ? out[2] : 1,
          out.back(),
          rows.kernel,
          columns.kernel,
          rows,
          columns};
}

/// y[i] = x[first + i·step] for i < n, zero outside of [0, width).
void take(const float* x, i64 width, i64 first, i64 step, i64 n, float* y) {
  const auto begin = std::clamp<i64>(first >= 0 ? 0 : (-first + step - 1) / step, 0, n);
  const auto end = std::clamp<i64>(first >= width ? 0 : (width - 1 - first) / step + 1, begin, n);
  std::fill(y, y + begin, 0.0f);
  if (step == 1) std::copy(x + first + begin, x + first + end, y + begin);
  else
    for (auto i = begin; i < end; ++i) y[i] = x[first + i * step];
  std::fill(y + end, y + n, 0.0f);
}

/// One group of one batch element as a product: filters [m][channels·kernel] by the columns under each window.
void by_product(const Plane& p, const float* x, const float* w, float* y, i64 channels, i64 m, i64 first_channel,
                const Epilogue& epilogue, Runtime& runtime) {
  const auto taps = p.kernel_height * p.kernel_width, pixels = p.out_height * p.out_width, plane = p.height * p.width;
  const auto fill = [&](i64 k0, i64 count, i64 column, float* panel) {
    const auto n = std::min(kPanel, pixels - column);
    for (i64 i = 0; i < count; ++i, panel += kPanel) {
      const auto channel = (k0 + i) / taps, tap = (k0 + i) % taps;
      const auto* source = x + channel * plane;
      if (p.is_pointwise()) {
        std::copy(source + column, source + column + n, panel);
      } else {
        const auto down = tap / p.kernel_width * p.rows.dilation - p.rows.pad_begin,
                   right = tap % p.kernel_width * p.columns.dilation - p.columns.pad_begin;
        for (i64 done = 0; done < n;) {  // the panel's part of one output row after another
          const auto out_row = (column + done) / p.out_width, out_column = (column + done) % p.out_width;
          const auto run = std::min(n - done, p.out_width - out_column);
          const auto row = out_row * p.rows.stride + down;
          if (row < 0 || row >= p.height) std::fill(panel + done, panel + done + run, 0.0f);
          else
            take(source + row * p.width, p.width, out_column * p.columns.stride + right, p.columns.stride, run,
                 panel + done);
          done += run;
        }
      }
      std::fill(panel + n, panel + kPanel, 0.0f);
    }
  };
  const auto store = [&](i64 row, i64 rows, i64 column, i64 columns, const float* tile) {
    for (i64 i = 0; i < rows; ++i) {
      const auto at = (row + i) * pixels + column;
      finish_row(isa(), epilogue, first_channel + row + i, 0, tile + i * kPanel,
                 epilogue.residual ? epilogue.residual + at : nullptr, y + at, columns);
    }
  };
  product(w, channels * taps, m, pixels, channels * taps, fill, store, runtime);
}

/// One channel by one filter.
void depthwise(const Plane& p, const float* x, const float* w, float* y) {
  const auto& table = isa();
  std::fill(y, y + p.out_height * p.out_width, 0.0f);
  for (i64 i = 0; i < p.out_height; ++i)
    for (i64 r = 0; r < p.kernel_height; ++r) {
      const auto row = i * p.rows.stride + r * p.rows.dilation - p.rows.pad_begin;
      if (row < 0 || row >= p.height) continue;
      for (i64 c = 0; c < p.kernel_width; ++c) {
        const auto first = c * p.columns.dilation - p.columns.pad_begin, step = p.columns.stride;
        const auto begin = std::min(p.out_width, first >= 0 ? 0 : (-first + step - 1) / step);
        const auto end = std::clamp<i64>(first >= p.width ? 0 : (p.width - 1 - first) / step + 1, begin, p.out_width);
        table.axpy(w[r * p.kernel_width + c], x + row * p.width + first + begin * step, step,
                   y + i * p.out_width + begin, end - begin);
      }
    }
}

class OneShotConvolution final : public Kernel {
 public:
  OneShotConvolution(const ConvolutionAttrs& attrs, bool grouped, Ending ending)
      : attrs_(attrs), grouped_(grouped), ending_(std::move(ending)) {}

  std::string name() const override { return "convolution" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    auto state = std::make_unique<State>();
    state->plane = plane_of(attrs_, sizes.in[0].dims, sizes.in[1].dims, sizes.out[0].dims);
    return state;
  }

  void run(KernelState& state, std::span<const View> in, std::span<const View> out, Runtime& runtime) const override {
    const auto& p = static_cast<State&>(state).plane;
    const auto &data = in[0], &filters = in[1], &to = out[0];
    const auto batch = data.dim(0), groups = grouped_ ? filters.dim(0) : 1, channels = data.dim(1) / groups,
               outputs = to.dim(1) / groups;
    const auto in_plane = p.height * p.width, out_plane = p.out_height * p.out_width,
               taps = p.kernel_height * p.kernel_width;
    const auto *x = data.as<const float>(), *w = filters.as<const float>();
    auto* y = to.as<float>();
    const auto* residual = ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>();
    const auto epilogue = [&](i64 first) { return ending_.epilogue(residual ? residual + first : nullptr); };
    if (channels == 1 && outputs == 1) {
      runtime.parallel(batch * groups, [&](i64 i) {
        depthwise(p, x + i * in_plane, w + i % groups * taps, y + i * out_plane);
        const auto at = i * out_plane;
        finish_row(isa(), epilogue(0), i % groups, 0, y + at, residual ? residual + at : nullptr, y + at, out_plane);
      });
      return;
    }
    for (i64 i = 0; i < batch * groups; ++i)
      by_product(p, x + i * channels * in_plane, w + i % groups * outputs * channels * taps,
                 y + i * outputs * out_plane, channels, outputs, i % groups * outputs,
                 epilogue(i * outputs * out_plane), runtime);
  }

 private:
  struct State final : KernelState {
    Plane plane;
  };
  ConvolutionAttrs attrs_;
  bool grouped_;
  Ending ending_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto data = graph.input(root, 0), filters = graph.input(root, 1);
  const auto& shape = graph.fact(data).shape;
  const auto& out = graph.fact({root, 0}).shape;
  if (!is_f32(graph, data) || !is_f32(graph, filters) || !shape.has_rank() || shape.rank() < 3 || shape.rank() > 4)
    return std::nullopt;
  Match match{{root}, {data, filters}, nullptr};
  Ending ending;
  if (out.has_rank() && out[1].is_static()) ending = take_ending(graph, match, out.rank(), 1, out[1].length());
  match.kernel = std::make_unique<OneShotConvolution>(graph.attrs<ConvolutionAttrs>(root),
                                                      graph.type(root) == "GroupConvolution", std::move(ending));
  return match;
}

constexpr std::string_view kRoots[] = {"Convolution", "GroupConvolution"};

}  // namespace

extern constinit const Pattern pattern{.name = "convolution", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::convolution
