// The only file that includes oneDNN, and the only one that asks for its version: 2.6 and 3.x are used alike.
#pragma once
#include <cstring>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <dnnl.hpp>

#include "tensor/tensor.hpp"

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
                                                             const Desc& weights, const Desc& dst, const Window& w) {
  constexpr auto kind = dnnl::prop_kind::forward_inference;
  constexpr auto algorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return {e, kind, algorithm, src, weights, dst, w.strides, w.dilations, w.pads_begin, w.pads_end};
#else
  return {{kind, algorithm, src, weights, dst, w.strides, w.dilations, w.pads_begin, w.pads_end}, e};
#endif
}

inline dnnl::matmul::primitive_desc matmul(const dnnl::engine& e, const Desc& a, const Desc& b, const Desc& c) {
#if DNNL_VERSION_MAJOR >= 3
  return {e, a, b, c};
#else
  return {{a, b, c}, e};
#endif
}

#if DNNL_VERSION_MAJOR >= 3
using Pooling = dnnl::pooling_forward;
#else
using Pooling = dnnl::pooling_v2_forward;
#endif
inline Pooling::primitive_desc pooling(const dnnl::engine& e, dnnl::algorithm algorithm, const Desc& src,
                                       const Desc& dst, const Dims& kernel, const Window& w) {
#if DNNL_VERSION_MAJOR >= 3
  return {
      e,         dnnl::prop_kind::forward_inference, algorithm, src, dst, w.strides, kernel, w.dilations, w.pads_begin,
      w.pads_end};
#else
  return {{dnnl::prop_kind::forward_inference, algorithm, src, dst, w.strides, kernel, w.dilations, w.pads_begin,
           w.pads_end},
          e};
#endif
}

/// One engine and stream for all kernels of the module.
struct Device {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};
Device& device();

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
inline dnnl::memory view(const Desc& desc, const Tensor& t) {
  return {desc, device().engine, const_cast<std::byte*>(t.bytes())};
}

/// oneDNN's own reference code is slower than ours.
inline bool is_slow(const char* implementation) {
  return std::string_view(implementation).find("ref") != std::string_view::npos;
}

/// The few most recently used values by key: primitives by the shapes they were made for.
template <class Value>
class Recent {
 public:
  template <class Make>
  Value& get(const std::vector<std::int64_t>& key, Make make) {
    for (auto at = entries_.begin(); at != entries_.end(); ++at)
      if (at->first == key) {
        entries_.splice(entries_.begin(), entries_, at);
        return at->second;
      }
    if (entries_.size() >= 8) entries_.pop_back();
    entries_.emplace_front(key, make());
    return entries_.front().second;
  }

 private:
  std::list<std::pair<std::vector<std::int64_t>, Value>> entries_;
};

/// A constant operand in the layout that a primitive wants, made again only when the tensor is another one.
class Packed {
 public:
  dnnl::memory get(const Tensor& t, const Desc& from, const Desc& to) {
    if (from == to) return view(from, t);
    const bool same = !source_.expired() && !source_.owner_before(t.owner()) && !t.owner().owner_before(source_) &&
                      data_ == t.bytes() && desc_ == to;
    if (!same) {
      packed_ = dnnl::memory(to, device().engine);
      auto plain_view = view(from, t);
      dnnl::reorder(plain_view, packed_).execute(device().stream, plain_view, packed_);
      source_ = t.owner();
      data_ = t.bytes();
      desc_ = to;
    }
    return packed_;
  }

 private:
  std::weak_ptr<const void> source_;
  const std::byte* data_ = nullptr;
  Desc desc_;
  dnnl::memory packed_;
};

}  // namespace ovir::fast
