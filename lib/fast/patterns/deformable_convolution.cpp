// DeformableConvolution in f32, and what follows it.
#include "fast/kernels/convolution/deformable.hpp"

#include "fast/kit/functions.hpp"
#include "op/kit/deformable_convolution_attrs.hpp"

namespace ovir::fast::patterns::deformable_convolution {
namespace {

enum Input { data, offsets, filters, mask };

class Deformable final : public Kernel {
 public:
  /// `s`: what the filters say; they are null where they are an operand, behind the offsets and before the mask.
  Deformable(const DeformableConvolutionAttrs& attrs, const DeformableShape& s, const float* filters, bool masked,
             Ending ending, ThreadPool& pool)
      : attrs_(attrs), known_(s), masked_(masked), ending_(std::move(ending)) {
    if (!filters) return;
    const auto work = Buffer::unwritten(deformable_packing_size(s));
    filters_ = Buffer::unwritten(deformable_filters_size(s));
    pack_deformable(s, filters, work.data(), filters_.data(), pool);
  }

  std::string name() const override { return "deformable.convolution" + ending_.name; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime& runtime) const override {
    const auto &x = sizes.in[data], &out = sizes.out[0];
    auto state = std::make_unique<State>();
    state->shape = known_;
    auto& s = state->shape.plane;
    s.batch = x.dim(0);
    s.height = x.dim(2);
    s.width = x.dim(3);
    s.out_height = out.dim(2);
    s.out_width = out.dim(3);
    const auto rows = attrs_.window(0, s.kernel_height).resolved(s.height),
               columns = attrs_.window(1, s.kernel_width).resolved(s.width);
    s.pad_top = rows.pad_begin;
    s.pad_left = columns.pad_begin;
    if (x.dim(1) != s.channels || (ending_.residual >= 0 && sizes.in[ending_.residual].size() != out.size()))
      return nullptr;
    state->work = state->reserve(deformable_scratch_size(state->shape, runtime.threads()));
    if (filters_.size() > 0) return state;
    state->packing = state->reserve(deformable_packing_size(state->shape));
    state->filters = state->reserve(deformable_filters_size(state->shape));
    return state;
  }

  void run(KernelState& prepared, std::span<const View> in, std::span<const View> out,
           Runtime& runtime) const override {
    auto& state = static_cast<State&>(prepared);
    const auto* packed = filters_.data();
    if (!packed) {
      packed = state.floats(state.filters);
      pack_deformable(state.shape, in[filters].as<const float>(), state.floats(state.packing),
                      state.floats(state.filters), runtime.pool());
    }
    const auto mask_operand = filters_.size() > 0 ? filters : mask;
    const DeformableData operands{.x = in[data].as<const float>(),
                                  .blocked_in = in[data].layout == Layout::blocked,
                                  .offsets = in[offsets].as<const float>(),
                                  .mask = masked_ ? in[mask_operand].as<const float>() : nullptr,
                                  .filters = packed,
                                  .y = out[0].as<float>(),
                                  .blocked_out = out[0].layout == Layout::blocked};
    fast::deformable_convolution(
        state.shape, operands,
        ending_.epilogue(ending_.residual < 0 ? nullptr : in[ending_.residual].as<const float>()),
        state.floats(state.work), runtime.pool());
  }

  bool reads(int input, Layout layout) const override {
    return layout == Layout::plain || (input == data && known_.plane.channels % kBlock == 0);
  }
  bool writes(Layout layout) const override { return layout == Layout::plain || ending_.residual < 0; }

 private:
  struct State final : KernelState {
    DeformableShape shape;
    Scratch work, packing, filters;
  };

  DeformableConvolutionAttrs attrs_;
  DeformableShape known_;
  bool masked_;
  Ending ending_;
  Buffer filters_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto& attrs = graph.attrs<DeformableConvolutionAttrs>(root);
  const auto w = graph.input(root, filters), masks = graph.input(root, mask);
  const auto& shape = graph.fact(w).shape;
  if (!is_f32(graph, {root, 0}) || !is_f32(graph, w) || !shape.is_static()) return std::nullopt;
  DeformableShape known{{}, attrs.deformable_group, attrs.bilinear_interpolation_pad};
  auto& s = known.plane;
  s.groups = attrs.group;
  s.outputs = shape[0].length();
  s.channels = shape[1].length() * attrs.group;
  s.kernel_height = shape[2].length();
  s.kernel_width = shape[3].length();
  s.stride_y = attrs.strides[0];
  s.stride_x = attrs.strides[1];
  s.dilation_y = attrs.dilations[0];
  s.dilation_x = attrs.dilations[1];
  if (s.outputs == 0 || s.channels == 0 || s.taps() == 0) return std::nullopt;
  const auto* packed = graph.options().steady() ? graph.constant(w) : nullptr;
  Match match{{root}, {graph.input(root, data), graph.input(root, offsets)}, nullptr};
  if (!packed) match.inputs.push_back(w);
  if (masks.node >= 0) match.inputs.push_back(masks);
  for (const auto v : match.inputs)
    if (!is_f32(graph, v)) return std::nullopt;
  auto ending = take_ending(graph, match, 4, 1, s.outputs);
  if (!graph.takes(match.nodes)) return std::nullopt;
  match.kernel = std::make_unique<Deformable>(attrs, known, packed ? packed->data<float>() : nullptr, masks.node >= 0,
                                              std::move(ending), graph.packers(packed ? packed->size() : 0));
  return match;
}

constexpr std::string_view kRoots[] = {"DeformableConvolution"};

}  // namespace

extern constinit const Pattern pattern{
    .name = "deformable_convolution", .roots = kRoots, .match = match, .priority = Priority::packed};

}  // namespace ovir::fast::patterns::deformable_convolution
