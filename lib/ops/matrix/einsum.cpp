// Einsum: the Einstein summation convention: labels name axes, and what the output does not name is summed.
// Spec: operation-sets/operation-specs/matrix/einsum-7
#include <map>

#include "op/kit/accumulate.hpp"
#include "op/op.hpp"
#include "op/work.hpp"

namespace ovir::ops::einsum {
namespace {

struct Attrs {
  std::string equation;
};

/// A subscript: a letter an axis, and kEllipsis for what "..." covers.
using Subscript = std::string;
constexpr char kEllipsis = '.';

struct Equation {
  std::vector<Subscript> inputs;
  Subscript output;
};

/// Reads the equation; `fault` receives why it cannot be read.
Equation parse(const std::string& text, std::string& fault) {
  Equation e;
  std::string plain;
  for (const char ch : text)
    if (ch != ' ') plain += ch;
  const auto dots = std::count(plain.begin(), plain.end(), '.');
  for (auto at = plain.find("..."); at != std::string::npos; at = plain.find("...", at + 1))
    plain.replace(at, 3, 1, kEllipsis);
  if (dots != 3 * std::count(plain.begin(), plain.end(), kEllipsis))
    fault = "must use letters as labels, but has \".\"";
  const auto arrow = plain.find("->");
  const auto left = plain.substr(0, arrow);
  for (std::size_t from = 0; from != std::string::npos;) {
    const auto comma = left.find(',', from);
    e.inputs.push_back(left.substr(from, comma == std::string::npos ? comma : comma - from));
    from = comma == std::string::npos ? comma : comma + 1;
  }
  const auto is_letter = [](char ch) { return ('a' <= ch && ch <= 'z') || ('A' <= ch && ch <= 'Z'); };
  const auto check = [&](const Subscript& s) {
    if (std::count(s.begin(), s.end(), kEllipsis) > 1) fault = "must have one ellipsis in a subscript at most";
    for (const char ch : s)
      if (!is_letter(ch) && ch != kEllipsis)
        fault = fmt::format("must use letters as labels, but has \"{}\"", printable({&ch, 1}));
  };
  for (const auto& s : e.inputs) check(s);
  std::string all;
  for (const auto& s : e.inputs) all += s;
  if (arrow != std::string::npos) {
    e.output = plain.substr(arrow + 2);
    check(e.output);
    for (const char ch : e.output) {
      if (std::count(e.output.begin(), e.output.end(), ch) > 1)
        fault = fmt::format("must not name \"{}\" twice in the output", ch);
      if (ch != kEllipsis && all.find(ch) == std::string::npos)
        fault = fmt::format("must use labels of the inputs in the output, but has \"{}\"", ch);
    }
  } else {
    // Implicit: the ellipsis first, then the labels that occur once, "capital letters precede lowercase letters".
    for (const char ch : all)
      if (is_letter(ch) && std::count(all.begin(), all.end(), ch) == 1) e.output += ch;
    std::sort(e.output.begin(), e.output.end());
    if (all.find(kEllipsis) != std::string::npos) e.output.insert(e.output.begin(), kEllipsis);
  }
  return e;
}

void infer(InferContext& c) {
  std::string fault;
  const auto e = parse(c.attrs<Attrs>().equation, fault);
  c.require_attr(fault.empty(), "equation", "{}", fault);
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
        c.require(both.has_value(), i, Code::E0506, "Einsum cannot broadcast the dims that \"{}\" names: {} and {}", ch,
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

/// All labels as axes, the output's first: every operand is read with strides along them, 0 where it lacks one or
/// repeats.
struct Space {
  Shape shape;  ///< of the output's axes, then of those that are summed
  std::size_t output_rank = 0;
  std::vector<Shape> strides;  ///< an operand each
};

Space make_space(const Equation& e, EvalContext& c) {
  // An ellipsis' axes count from its end: ".0" is the last one. A label is its letter.
  struct Axis {
    char letter;
    std::size_t from_end;
    bool operator==(const Axis&) const = default;
  };
  std::size_t widest = 0;
  for (int i = 0; i < c.input_count(); ++i)
    if (const auto& s = e.inputs[i]; s.find(kEllipsis) != std::string::npos)
      widest = std::max(widest, static_cast<std::size_t>(c.in(i).rank()) + 1 - s.size());
  const auto expand = [](const Subscript& s, std::size_t width) {
    std::vector<Axis> list;
    for (const char ch : s) {
      if (ch != kEllipsis) list.push_back({ch, 0});
      else
        for (auto k = width; k-- > 0;) list.push_back({kEllipsis, k});
    }
    return list;
  };
  auto axes = expand(e.output, widest);
  Space space;
  space.output_rank = axes.size();
  std::vector<std::vector<Axis>> operands;
  for (int i = 0; i < c.input_count(); ++i) {
    const auto& s = e.inputs[i];
    operands.push_back(expand(
        s, s.find(kEllipsis) == std::string::npos ? 0 : static_cast<std::size_t>(c.in(i).rank()) + 1 - s.size()));
    for (const auto& axis : operands.back())
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  space.shape = Shape(std::ssize(axes), 1);
  for (int i = 0; i < c.input_count(); ++i) {
    const auto& shape = c.in(i).shape();
    const auto own = strides_of(shape);
    Shape strides(axes.size(), 0);
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const auto at = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), operands[i][k]) - axes.begin());
      if (shape[k] == 1) continue;
      space.shape[at] = shape[k];
      strides[at] += own[k];  // a label repeated in a subscript walks the diagonal
    }
    space.strides.push_back(std::move(strides));
  }
  return space;
}

/// Multiplies two operands into one that keeps their axes, as the specification goes from input to input; axes that no
/// later operand and not the output has are summed at once.
template <class T>
struct Operand {
  Shape strides;
  std::vector<T> values;
};

void eval(EvalContext& c) {
  std::string fault;
  const auto e = parse(c.attrs<Attrs>().equation, fault);
  const auto space = make_space(e, c);
  const auto rank = space.shape.size();
  dispatch(c.out_type(0), Numbers{}, [&]<class T>() {
    Operand<T> so_far{Shape(rank, 0), {T{1}}};
    std::vector<bool> had(rank, false);
    for (int i = 0; i < std::ssize(space.strides); ++i) {
      const auto& next = space.strides[i];
      // The result has the axes of both but those that are finished.
      Shape kept(rank, 1), summed(rank, 1);
      for (std::size_t k = 0; k < rank; ++k) {
        if (next[k] != 0) had[k] = true;
        if (!had[k]) continue;
        bool later = k < space.output_rank;
        for (auto j = i + 1; j < std::ssize(space.strides); ++j) later = later || space.strides[j][k] != 0;
        const bool here = next[k] != 0 || so_far.strides[k] != 0;
        (later ? kept : summed)[k] = here ? space.shape[k] : 1;
      }
      Operand<T> result{strides_of(kept), std::vector<T>(kept.count())};
      for (std::size_t k = 0; k < rank; ++k)
        if (kept[k] == 1) result.strides[k] = 0;
      const T* right = c.in(i).template data<T>();
      T* to = result.values.data();
      for (IndexWalker at(kept); !at.done(); at.next(), ++to) {
        const T *x = so_far.values.data() + at.offset(so_far.strides), *y = right + at.offset(next);
        for (IndexWalker sum(summed); !sum.done(); sum.next())
          *to = multiply_add(*to, x[sum.offset(so_far.strides)], y[sum.offset(next)]);
      }
      so_far = std::move(result);
    }
    auto& out = c.out(0);
    auto* to = out.mutable_data<T>();
    Shape strides(so_far.strides.begin(), so_far.strides.begin() + space.output_rank);
    for (IndexWalker at(out.shape()); !at.done(); at.next()) *to++ = so_far.values[at.offset(strides)];
  });
}

/// A label, or an axis that an ellipsis covers, counted from the last.
using Label = std::pair<char, i64>;
std::vector<Label> labels(const Subscript& s, const Shape& shape) {
  std::vector<Label> list;
  for (const char ch : s) {
    if (ch != kEllipsis) list.emplace_back(ch, 0);
    else
      for (auto k = shape.rank() + 1 - std::ssize(s); k-- > 0;) list.emplace_back(ch, k);
  }
  return list;
}

std::map<Label, i64> lengths(const Equation& e, std::span<const Shape> in) {
  std::map<Label, i64> lengths;
  for (std::size_t i = 0; i < in.size(); ++i) {
    i64 axis = 0;
    for (const auto& label : labels(e.inputs[i], in[i])) {
      auto& length = lengths[label];
      length = std::max(length, in[i][axis++]);
    }
  }
  return lengths;
}

Equation equation(const Version& version, const void* attrs) {
  std::string ignored;
  return parse(version.attrs.as<Attrs>(attrs).equation, ignored);
}

/// Every label once.
i64 macs(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape>) {
  i64 n = 1;
  for (const auto& [label, length] : lengths(equation(version, attrs), in)) n = saturating_mul(n, length);
  return n;
}

/// Operand by operand, every label of what there is so far and of the next one; where each element lies is found label
/// by label.
i64 steps(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape>) {
  constexpr i64 kLabel = 10;
  const auto e = equation(version, attrs);
  const auto all = lengths(e, in);
  std::map<Label, i64> open;
  i64 n = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (const auto& label : labels(e.inputs[i], in[i])) open[label] = all.at(label);
    i64 products = 1;
    for (const auto& [label, length] : open) products = saturating_mul(products, length);
    n = saturating_add(n, saturating_mul(products, kLabel * std::ssize(all)));
    std::erase_if(open, [&](const auto& entry) {
      const auto named = [&](const Subscript& s) { return s.find(entry.first.first) != Subscript::npos; };
      return !named(e.output) &&
             std::none_of(e.inputs.begin() + static_cast<std::ptrdiff_t>(i) + 1, e.inputs.end(), named);
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
