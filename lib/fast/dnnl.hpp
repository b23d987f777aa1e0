// The only file that includes oneDNN, and the only one that asks for its version: 2.6 and 3.x are used alike.
#pragma once
#include <cstddef>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <dnnl.hpp>

#include "base/bytes.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Args = std::unordered_map<int, dnnl::memory>;
inline constexpr auto kF32 = dnnl::memory::data_type::f32;

struct Window {
  Dims strides, dilations, pads_begin, pads_end;  ///< oneDNN counts dilations from 0
};

inline dnnl::convolution_forward::primitive_desc convolution(const dnnl::engine& e, const Desc& src,
                                                             const Desc& weights, const Desc& bias, const Desc& dst,
                                                             const Window& w, const dnnl::primitive_attr& attr) {
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {e, kind, algorithm, src, weights, bias, dst, w.strides, w.dilations, w.pads_begin, w.pads_end, attr};
#else
  return {{kind, algorithm, src, weights, bias, dst, w.strides, w.dilations, w.pads_begin, w.pads_end}, attr, e};
#endif
}

inline dnnl::matmul::primitive_desc matmul(const dnnl::engine& e, const Desc& a, const Desc& b, const Desc& bias,
                                           const Desc& c, const dnnl::primitive_attr& attr) {
#if DNNL_VERSION_MAJOR >= 3
  return {e, a, b, bias, c, attr};
#else
  return {{a, b, bias, c}, attr, e};
#endif
}

#if DNNL_VERSION_MAJOR >= 3
using Pooling = dnnl::pooling_forward;
#else
using Pooling = dnnl::pooling_v2_forward;
#endif
inline Pooling::primitive_desc pooling(const dnnl::engine& e, dnnl::algorithm algorithm, const Desc& src,
                                       const Desc& dst, const Dims& kernel, const Window& w,
                                       const dnnl::primitive_attr& attr) {
#if DNNL_VERSION_MAJOR >= 3
  return {e,
          dnnl::prop_kind::forward_inference,
          algorithm,
          src,
          dst,
          w.strides,
          kernel,
          w.dilations,
          w.pads_begin,
          w.pads_end,
          attr};
#else
  return {{dnnl::prop_kind::forward_inference, algorithm, src, dst, w.strides, kernel, w.dilations, w.pads_begin,
           w.pads_end},
          attr,
          e};
#endif
}

/// An engine belongs to nobody: it has no state that runs change.
inline const dnnl::engine& engine() {
  static const dnnl::engine e{dnnl::engine::kind::cpu, 0};
  return e;
}

/// Scratch memory is the caller's: oneDNN's own belongs to a thread, and a session may change threads. The
/// result is clamped to [low, high].
inline dnnl::primitive_attr attributes(float low, float high) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const bool below = low != -std::numeric_limits<float>::infinity(),
             above = high != std::numeric_limits<float>::infinity();
  if (!below && !above) return attr;
  dnnl::post_ops ops;
#if DNNL_VERSION_MAJOR >= 3
  if (below && low == 0 && !above) ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
  else ops.append_eltwise(dnnl::algorithm::eltwise_clip_v2, low, high);
#else
  if (below && low == 0 && !above) ops.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  else ops.append_eltwise(1, dnnl::algorithm::eltwise_clip_v2, low, high);
#endif
  attr.set_post_ops(ops);
  return attr;
}

/// Row-major f32 of these dims.
inline Desc plain(const Dims& dims) {
  return {dims, kF32,
          dims.size() == 1   ? Tag::a
          : dims.size() == 2 ? Tag::ab
          : dims.size() == 3 ? Tag::abc
          : dims.size() == 4 ? Tag::abcd
          : dims.size() == 5 ? Tag::abcde
                             : Tag::abcdef};
}
inline Desc any(const Dims& dims) { return {dims, kF32, Tag::any}; }
inline dnnl::memory at(const Desc& desc, const void* data) { return {desc, engine(), const_cast<void*>(data)}; }

/// oneDNN's own reference code is slower than ours.
inline bool is_slow(const char* implementation) {
  return std::string_view(implementation).find("ref") != std::string_view::npos;
}

/// What a oneDNN kernel keeps for a session: a stream, a primitive with its arguments, and the memory of both.
struct Prepared : KernelState {
  dnnl::stream stream{engine()};
  dnnl::primitive primitive;
  Args args;
  std::vector<std::shared_ptr<std::byte>> owned;

  /// Memory of its own.
  dnnl::memory make(const Desc& desc) {
    owned.push_back(allocate(desc.get_size()));
    return at(desc, owned.back().get());
  }
  void execute() { primitive.execute(stream, args); }
};

/// oneDNN's threads, for primitives that this thread runs next: as many as the runtime has.
void use_threads(const Runtime& runtime);

}  // namespace ovir::fast
