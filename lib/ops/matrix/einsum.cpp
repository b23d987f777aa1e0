// Einsum: the Einstein summation convention: labels name axes, and what the output does not name is summed.
// Spec: operation-sets/operation-specs/matrix/einsum-7
#include <map>
#include <memory_resource>
#include <utility>

#include "op/kit/accumulate.hpp"
#include "op/kit/einsum.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::einsum {
namespace {

using Equation = EinsumEquation;
using Subscript = Equation::Subscript;
using Attrs = EinsumAttrs;
constexpr char kEllipsis = Equation::kEllipsis;

void infer(InferContext& c) {
  const auto& e = c.attrs<Attrs>().equation;
  c.require_attr(std::ssize(e.inputs) == c.input_count(), "equation", "has {}, but there {} {}",
                 counted(e.inputs.size(), "input subscript"), c.input_count() == 1 ? "is" : "are",
                 counted(c.input_count(), "input"));

  std::vector<std::pair<char, Dim>> labels;
  const auto find = [&](char ch) {
    return std::find_if(labels.begin(), labels.end(), [&](const auto& l) { return l.first == ch; });
  };
  PartialShape covered;  // by the ellipses, broadcast together
  bool ellipsis_known = true;
  for (int i = 0; i < c.input_count(); ++i) {
    const auto& s = e.inputs[i];
    const bool open = s.find(kEllipsis) != std::string::npos;
    const auto named = std::ssize(s) - open;
    if (open) c.require_rank_at_least(i, named);
    else c.require_rank(i, named);
    const auto& shape = c.shape(i);
    i64 axis = 0;
    std::vector<std::pair<char, Dim>> own;  // a label repeated within a subscript takes the diagonal
    for (const char ch : s) {
      if (ch == kEllipsis) {
        PartialShape part;
        if (!shape.has_rank()) {
          ellipsis_known = false;
          continue;
        }
        for (const auto end = axis + shape.rank() - named; axis < end; ++axis) part.push_back(shape[axis]);
        const auto both = broadcast(covered, part);
        c.require(both.has_value(), i, Code::E0505, "Einsum cannot broadcast the ellipses {} and {}",
                  to_string(covered), to_string(part));
        covered = *both;
        continue;
      }
      const auto d = shape.has_rank() ? shape[axis++] : Dim();
      const auto same = std::find_if(own.begin(), own.end(), [&](const auto& l) { return l.first == ch; });
      if (same == own.end()) own.emplace_back(ch, d);
      else
        same->second = c.require_same_dim(same->second, d, i, fmt::format("the first dim \"{}\" of an input", ch),
                                          "the next of that name");
    }
    for (const auto& [ch, d] : own) {
      if (const auto known = find(ch); known == labels.end()) {
        labels.emplace_back(ch, d);
      } else {
        const auto both = broadcast(known->second, d);
        c.require(both.has_value(), i, Code::E0506, "Einsum cannot broadcast the dims of label \"{}\": {} and {}", ch,
                  to_string(known->second), to_string(d));
        known->second = *both;
      }
    }
  }
  PartialShape out;
  for (const char ch : e.output) {
    if (ch != kEllipsis) out.push_back(find(ch)->second);
    else if (!ellipsis_known) return c.output(0, PartialShape::unknown_rank());
    else
      for (const auto& d : covered) out.push_back(d);
  }
  c.output(0, std::move(out));
}

/// A label, or an axis that an ellipsis covers, counted from the last.
using Label = std::pair<char, i64>;
using Labels = std::pmr::vector<Label>;

/// The labels of a subscript whose ellipsis covers `covered` axes.
Labels labels(const Subscript& s, i64 covered, std::pmr::memory_resource* memory = std::pmr::get_default_resource()) {
  Labels list(memory);
  for (const char ch : s) {
    if (ch != kEllipsis) list.emplace_back(ch, 0);
    else
      for (auto k = covered; k-- > 0;) list.emplace_back(ch, k);
  }
  return list;
}

/// The axes of a shape that the ellipsis of its subscript covers.
i64 covered_by(const Subscript& s, const Shape& shape) {
  return s.find(kEllipsis) == Subscript::npos ? 0 : shape.rank() + 1 - std::ssize(s);
}

/// All labels as axes, the output's first: every operand is read with strides along them, 0 where it lacks one or
/// repeats.
struct Space {
  explicit Space(EvalContext& c);
  Shape shape;  ///< of the output's axes, then of those that are summed
  i64 output_rank = 0;
  std::pmr::vector<Shape> strides;  ///< an operand each
};

Space::Space(EvalContext& c) : strides(c.memory()) {
  const auto& e = c.attrs<Attrs>().equation;
  i64 widest = 0;
  for (int i = 0; i < c.input_count(); ++i) widest = std::max(widest, covered_by(e.inputs[i], c.in(i).shape()));
  auto axes = labels(e.output, widest, c.memory());
  output_rank = std::ssize(axes);
  std::pmr::vector<Labels> operands(c.memory());
  for (int i = 0; i < c.input_count(); ++i) {
    operands.push_back(labels(e.inputs[i], covered_by(e.inputs[i], c.in(i).shape()), c.memory()));
    for (const auto& axis : operands.back())
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  shape = Shape(std::ssize(axes), 1);
  for (int i = 0; i < c.input_count(); ++i) {
    const auto& from = c.in(i).shape();
    const auto own = strides_of(from);
    auto& along = strides.emplace_back(std::ssize(axes), 0);
    for (i64 k = 0; k < from.rank(); ++k) {
      const auto at = std::find(axes.begin(), axes.end(), operands[i][k]) - axes.begin();
      if (from[k] == 1) continue;
      shape[at] = from[k];
      along[at] += own[k];  // a label repeated in a subscript walks the diagonal
    }
  }
}

/// Multiplies two operands into one that keeps their axes, as the specification goes from input to input; axes that no
/// later operand and not the output has are summed at once.
template <class T>
struct Operand {
  Shape strides;
  std::pmr::vector<T> values;
};

void eval(EvalContext& c) {
  const Space space(c);
  const auto rank = space.shape.rank();
  dispatch(c.out_type(0), Numbers{}, [&]<class T>() {
    Operand<T> so_far{Shape(rank, 0), std::pmr::vector<T>({T{1}}, c.memory())};
    Shape had(rank, 0);
    for (int i = 0; i < std::ssize(space.strides); ++i) {
      const auto& next = space.strides[i];
      // The result has the axes of both but those that are finished.
      Shape kept(rank, 1), summed(rank, 1);
      for (i64 k = 0; k < rank; ++k) {
        if (next[k] != 0) had[k] = 1;
        if (had[k] == 0) continue;
        bool later = k < space.output_rank;
        for (auto j = i + 1; j < std::ssize(space.strides); ++j) later = later || space.strides[j][k] != 0;
        const bool here = next[k] != 0 || so_far.strides[k] != 0;
        (later ? kept : summed)[k] = here ? space.shape[k] : 1;
      }
      // Terms of the last axis that is summed lie equally far apart.
      i64 last = rank;
      while (last > 0 && summed[last - 1] == 1) --last;
      const bool sums = last-- > 0;
      const auto terms = sums ? std::exchange(summed[last], 1) : 1, a_step = sums ? so_far.strides[last] : 0,
                 b_step = sums ? next[last] : 0;
      Operand<T> result{strides_of(kept), std::pmr::vector<T>(kept.count(), c.memory())};
      for (i64 k = 0; k < rank; ++k)
        if (kept[k] == 1) result.strides[k] = 0;
      const T* right = c.in(i).template data<T>();
      T* to = result.values.data();
      for (IndexWalker at(kept); !at.done(); at.next(), ++to) {
        const T *x = so_far.values.data() + at.offset(so_far.strides), *y = right + at.offset(next);
        for (IndexWalker sum(summed); !sum.done(); sum.next()) {
          const T *a = x + sum.offset(so_far.strides), *b = y + sum.offset(next);
          for (i64 j = 0; j < terms; ++j) *to = multiply_add(*to, a[j * a_step], b[j * b_step]);
        }
      }
      so_far = std::move(result);
    }
    auto& out = c.out(0);
    auto* to = out.mutable_data<T>();
    Shape strides(so_far.strides.begin(), so_far.strides.begin() + space.output_rank);
    for (IndexWalker at(out.shape()); !at.done(); at.next()) *to++ = so_far.values[at.offset(strides)];
  });
}

std::map<Label, i64> lengths(const Equation& e, std::span<const Shape> in) {
  std::map<Label, i64> lengths;
  for (std::size_t i = 0; i < in.size(); ++i) {
    i64 axis = 0;
    for (const auto& label : labels(e.inputs[i], covered_by(e.inputs[i], in[i]))) {
      auto& length = lengths[label];
      length = std::max(length, in[i][axis++]);
    }
  }
  return lengths;
}

/// Every label once.
i64 macs(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape>) {
  i64 n = 1;
  for (const auto& [label, length] : lengths(version.attrs.as<Attrs>(attrs).equation, in))
    n = saturating_mul(n, length);
  return n;
}

/// Operand by operand, every label of what there is so far and of the next one; where each element lies is found label
/// by label.
i64 steps(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape>) {
  constexpr i64 kLabel = 10;
  const auto& e = version.attrs.as<Attrs>(attrs).equation;
  const auto all = lengths(e, in);
  std::map<Label, i64> open;
  i64 n = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (const auto& label : labels(e.inputs[i], covered_by(e.inputs[i], in[i]))) open[label] = all.at(label);
    i64 products = 1;
    for (const auto& [label, length] : open) products = saturating_mul(products, length);
    n = saturating_add(n, saturating_mul(products, kLabel * std::ssize(all)));
    std::erase_if(open, [&](const auto& entry) {
      const auto named = [&](const Subscript& s) { return s.find(entry.first.first) != Subscript::npos; };
      return !named(e.output) && std::none_of(e.inputs.begin() + i + 1, e.inputs.end(), named);
    });
  }
  return n;
}

constexpr TypeVar T{"T", kNumeric};
constexpr PortDef kInputs[] = {{"inputs", T, Arity::variadic}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr auto kAttrs = attributes<Attrs, Attr<"equation", &Attrs::equation, kRequired>>;
constexpr Version kVersions[] = {{.since = 7,
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .eval = eval,
                                  .macs = macs,
                                  .steps = steps}};

}  // namespace

extern constinit const OpDef def{.type = "Einsum", .spec = "matrix/einsum", .versions = kVersions};

}  // namespace ovir::ops::einsum
