// The only file that includes oneDNN, and the only one that asks for its version: 2.6 and 3.x are used alike.
#pragma once
#include <cstddef>
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

struct Spatial {
  Dims strides, dilations, pads_begin, pads_end;  ///< oneDNN counts dilations from 0
};

/// An engine belongs to nobody: it has no state that runs change.
inline const dnnl::engine& engine() {
  static const dnnl::engine e{dnnl::engine::kind::cpu, 0};
  return e;
}

/// Scratch memory is the caller's: oneDNN's own belongs to a thread, and a session may change threads.
inline dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

inline dnnl::convolution_forward::primitive_desc convolution(const Desc& src, const Desc& weights, const Desc& dst,
                                                             const Spatial& w) {
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), kind,      algorithm,   src,          weights,    Desc(),
          dst,      w.strides, w.dilations, w.pads_begin, w.pads_end, attributes()};
#else
  return {{kind, algorithm, src, weights, Desc(), dst, w.strides, w.dilations, w.pads_begin, w.pads_end},
          attributes(),
          engine()};
#endif
}

#if DNNL_VERSION_MAJOR >= 3
using Pooling = dnnl::pooling_forward;
#else
using Pooling = dnnl::pooling_v2_forward;
#endif
inline Pooling::primitive_desc pooling(dnnl::algorithm algorithm, const Desc& src, const Desc& dst, const Dims& kernel,
                                       const Spatial& w) {
  constexpr auto kind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), kind, algorithm, src, dst, w.strides, kernel, w.dilations, w.pads_begin, w.pads_end, attributes()};
#else
  return {
      {kind, algorithm, src, dst, w.strides, kernel, w.dilations, w.pads_begin, w.pads_end}, attributes(), engine()};
#endif
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

/// Not oneDNN's own reference code, which is slower than ours, nor its matrix products, whose threads share a long sum:
/// then the result depends on their number.
inline bool is_wanted(const char* implementation) {
  const std::string_view name(implementation);
  return name.find("ref") == std::string_view::npos && name.find("gemm") == std::string_view::npos;
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
