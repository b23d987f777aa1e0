#include "fast/kit/convolution_sum.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "fast/kernels/chunks.hpp"
#include "fast/kit/broadcasting.hpp"
#include "fast/kit/convolution_in_batches.hpp"
#include "fast/kit/convolution_method.hpp"

namespace ovir::fast {
namespace {

constexpr int kMaxDepth = 64;  // additions and scalings between a term and the sum

bool same(ValueRef a, ValueRef b) { return a.node == b.node && a.port == b.port; }

/// The largest magnitude; not a number where one is none.
template <class T, class Bits>
T largest(const T* values, i64 count) {
  Bits most = 0;  // as the bits are ordered, so are magnitudes
  for (i64 i = 0; i < count; ++i)
    most = std::max(most, std::bit_cast<Bits>(values[i]) & std::numeric_limits<Bits>::max());
  return std::bit_cast<T>(most);
}
double largest(const std::vector<double>& v) { return largest<double, std::int64_t>(v.data(), std::ssize(v)); }
double largest(const Tensor& filters) { return largest<float, std::int32_t>(filters.data<float>(), filters.size()); }

/// Taps along one axis; tap i reads `i · dilation - pad` behind the output's place.
struct Taps {
  i64 count, dilation, pad;

  /// The tap that reads where tap i of `other` does; -1: none.
  i64 same_as(const Taps& other, i64 i) const {
    const auto at = i * other.dilation - other.pad + pad;
    return at < 0 || at % dilation != 0 || at / dilation >= count ? -1 : at / dilation;
  }
  bool cover(const Taps& other) const {
    for (i64 i = 0; i < other.count; ++i)
      if (same_as(other, i) < 0) return false;
    return true;
  }
};
Taps rows(const ConvolutionShape& s) { return {s.kernel_height, s.dilation_y, s.pad_top}; }
Taps columns(const ConvolutionShape& s) { return {s.kernel_width, s.dilation_x, s.pad_left}; }

/// Whether filters of shape `s` have a place for each of `t`, of the same data.
bool covers(const ConvolutionShape& s, const ConvolutionShape& t) {
  return s.channels == t.channels && s.outputs == t.outputs && t.groups % s.groups == 0 && s.stride_y == t.stride_y &&
         s.stride_x == t.stride_x && s.out_height == t.out_height && s.out_width == t.out_width &&
         rows(s).cover(rows(t)) && columns(s).cover(columns(t));
}

/// The data of a convolution, as a term of a sum with it.
SumTerm data_themselves(const StaticConvolution& beside) {
  const auto& s = beside.shape;
  ConvolutionShape own;
  own.groups = own.channels = own.outputs = s.channels;
  own.height = own.out_height = s.height;
  own.width = own.out_width = s.width;
  auto convolution = beside;
  convolution.windows = {};
  convolution.shape = own;
  return {std::move(convolution), nullptr, nullptr, std::vector<double>(static_cast<std::size_t>(s.channels), 1)};
}

/// What a value is of given data: a sum, if it is one.
class Finder {
 public:
  Finder(const Graphlet& graph, bool branches, bool spelled_out, i64 max_taps)
      : graph_(graph), branches_(branches), spelled_out_(spelled_out), max_taps_(max_taps) {}

  std::optional<ConvolutionSum> around(int root) {
    auto sum = convolution(root);
    if (!sum) return std::nullopt;
    beside_ = &sum->convolution();
    auto found = *sum;
    for (auto last = sum->nodes.back(); (last = graph_.only_user({last, 0})) >= 0;) {
      auto larger = combination(last, 0);
      if (!larger) break;
      found = *std::move(larger);
    }
    std::sort(found.nodes.begin(), found.nodes.end());
    return found;
  }

 private:
  std::optional<ConvolutionSum> convolution(int node) const {
    const auto type = graph_.type(node);
    if (type != "Convolution" && type != "GroupConvolution") return std::nullopt;
    auto convolution = static_convolution(graph_, node, 4, spelled_out_, max_taps_);
    const auto* filters = graph_.constant(graph_.input(node, 1));
    if (!convolution || !filters || filters->type() != ElementType::f32) return std::nullopt;
    if (beside_ && (!same(convolution->data, beside_->data) || convolution->open)) return std::nullopt;
    const auto outputs = static_cast<std::size_t>(convolution->shape.outputs);
    auto nodes = convolution->nodes;
    const auto shared = convolution->shared;
    const auto* given = graph_.origin(graph_.input(node, 1));
    return ConvolutionSum{.terms = {{*std::move(convolution), filters, given, std::vector<double>(outputs, 1)}},
                          .bias = std::vector<double>(outputs, 0),
                          .nodes = std::move(nodes),
                          .shared = shared};
  }

  /// Of a value that `user` alone reads, or of the data.
  std::optional<ConvolutionSum> of(ValueRef v, int user, int depth) {
    if (same(v, beside_->data)) {
      if (!branches_ || beside_->open) return std::nullopt;
      auto term = data_themselves(*beside_);
      const auto channels = term.scale.size();
      return ConvolutionSum{.terms = {std::move(term)}, .bias = std::vector<double>(channels, 0)};
    }
    if (v.node < 0 || v.port != 0 || graph_.only_user(v) != user || depth > kMaxDepth) return std::nullopt;
    if (auto sum = convolution(within_batches(graph_, v.node)); sum && sum->nodes.back() == v.node) return sum;
    return combination(v.node, depth + 1);
  }

  /// Of an Add, Subtract or Multiply.
  std::optional<ConvolutionSum> combination(int node, int depth) {
    const auto type = graph_.type(node);
    if ((type != "Add" && type != "Subtract" && type != "Multiply") || !is_f32(graph_, {node, 0}) ||
        !aligns_by_numpy(graph_, node))
      return std::nullopt;
    const auto& out = graph_.fact({node, 0}).shape;
    if (!out.has_rank() || out.rank() != beside_->rank) return std::nullopt;
    auto a = graph_.input(node, 0), b = graph_.input(node, 1);
    if (type != "Subtract" && graph_.constant(a)) std::swap(a, b);
    auto sum = of(a, node, depth);
    if (!sum) return std::nullopt;
    if (graph_.constant(b)) {
      if (!apply(type, b, *sum)) return std::nullopt;
    } else {
      const auto other = branches_ && type != "Multiply" ? of(b, node, depth) : std::nullopt;
      if (!other || !add(*other, type == "Add" ? 1 : -1, *sum)) return std::nullopt;
    }
    sum->nodes.push_back(node);
    if (!fits(*sum)) return std::nullopt;
    return sum;
  }

  bool apply(std::string_view type, ValueRef constant, ConvolutionSum& sum) const {
    const auto c = by_channel(graph_, constant, beside_->rank, 1, std::ssize(sum.bias));
    if (c.empty()) return false;
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (type == "Multiply") {
        for (auto& term : sum.terms) term.scale[i] *= c[i];
        sum.bias[i] *= c[i];
      } else {
        sum.bias[i] += type == "Add" ? c[i] : -c[i];
      }
    }
    (type == "Multiply" ? sum.scaled : sum.shifted) = true;
    return true;
  }

  static bool add(const ConvolutionSum& other, double sign, ConvolutionSum& sum) {
    if (sum.shared > 0 || other.shared > 0) return false;
    const auto &own = sum.shape(), &its = other.shape();
    const bool leads = covers(own, its);
    if (!leads && !covers(its, own)) return false;
    if (!leads) sum.leader = sum.terms.size() + other.leader;
    for (auto term : other.terms) {
      for (auto& s : term.scale) s *= sign;
      sum.terms.push_back(std::move(term));
    }
    for (std::size_t i = 0; i < sum.bias.size(); ++i) sum.bias[i] += sign * other.bias[i];
    sum.shifted = sum.shifted || other.shifted;
    sum.nodes.insert(sum.nodes.end(), other.nodes.begin(), other.nodes.end());
    return true;
  }

  /// A result that overflows only once it is scaled must not do so before.
  bool fits(const ConvolutionSum& sum) {
    auto most = largest(sum.bias);
    const bool as_given = sum.terms.size() == 1 && !sum.scaled;
    for (const auto& term : sum.terms)
      if (!as_given) most += largest(term.scale) * (term.filters ? largest_of(*term.filters) : 1);
    return most <= std::numeric_limits<float>::max();
  }
  /// Found once, for sums are looked at again as part of larger ones.
  double largest_of(const Tensor& filters) {
    const auto [found, is_new] = largest_.try_emplace(&filters, 0);
    if (is_new) found->second = largest(filters);
    return found->second;
  }

  const Graphlet& graph_;
  bool branches_, spelled_out_;
  i64 max_taps_;
  const StaticConvolution* beside_ = nullptr;
  std::map<const Tensor*, double> largest_;  // magnitude, by filters
};

}  // namespace

Tensor ConvolutionSum::filters(const Graphlet& graph) const {
  const auto& s = shape();
  if (terms.size() == 1 && !scaled) return terms[0].filters->apart();
  const auto channels = s.group_channels(), each = channels * s.taps();
  Tensor own(ElementType::f32, {s.outputs, each});
  auto* to = own.mutable_data<float>();
  const auto cost = static_cast<double>(each * std::ssize(terms)) / 2;
  parallel_ranges(graph.packers(s.weights()), s.outputs, cost, [&](i64 begin, i64 end) {
    std::vector<double> total(static_cast<std::size_t>(each));
    for (auto o = begin; o < end; ++o) {
      std::ranges::fill(total, 0.0);
      for (const auto& term : terms) {
        const auto& t = term.convolution.shape;
        const auto first = o / t.group_outputs() * t.group_channels() - o / s.group_outputs() * channels;
        add(term, o, total.data() + first * s.taps());
      }
      std::ranges::copy(total, to + o * each);
    }
  });
  return own;
}

ConvolutionSum::Origin ConvolutionSum::origin() const {
  Origin of{terms[leader].given};
  if (terms.size() == 1 && !scaled) return of;
  const auto first = [](const ConvolutionShape& s) { return fmt::format("{} {}", s.pad_top, s.pad_left); };
  of.name = " + " + first(shape());
  for (const auto& term : terms) {
    if (term.filters && !term.given) return {};
    of.name += fmt::format(" + {} {} {}", term.given, packing_name("taps", term.convolution.shape),
                           first(term.convolution.shape));
    of.name.append(reinterpret_cast<const char*>(term.scale.data()), term.scale.size() * sizeof(double));
  }
  return of;
}

/// Adds the filters of an output, scaled, to those from the first channel on that it reads.
void ConvolutionSum::add(const SumTerm& term, i64 output, double* to) const {
  const auto &s = shape(), &t = term.convolution.shape;
  const auto count = t.group_channels(), taps = t.taps();
  const auto* w = term.filters ? term.filters->data<float>() + output * count * taps : nullptr;
  const auto scale = term.scale[output];
  if (w && taps == s.taps()) {  // the same ones: each has its place
    for (i64 i = 0; i < count * taps; ++i) to[i] += scale * w[i];
    return;
  }
  for (i64 y = 0; y < t.kernel_height; ++y)
    for (i64 x = 0; x < t.kernel_width; ++x) {
      const auto tap = y * t.kernel_width + x;
      auto* place = to + rows(s).same_as(rows(t), y) * s.kernel_width + columns(s).same_as(columns(t), x);
      for (i64 c = 0; c < count; ++c) place[c * s.taps()] += scale * (w ? w[c * taps + tap] : 1.0);
    }
}

Ending ConvolutionSum::ending() const {
  Ending ending;
  if (terms.size() > 1) ending.name = "+sum";
  else if (scaled) ending.name = "+scale";
  if (shifted) {
    ending.bias = padded(std::vector<float>(bias.begin(), bias.end()));
    ending.name += "+bias";
  }
  return ending;
}

std::optional<ConvolutionSum> convolution_sum(const Graphlet& graph, int root, bool branches, bool spelled_out,
                                              i64 max_taps) {
  return Finder(graph, branches, spelled_out, max_taps).around(root);
}

}  // namespace ovir::fast
