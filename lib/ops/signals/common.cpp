#include "ops/signals/common.hpp"
#include "op/work.hpp"

#include <numbers>

namespace ovir::ops::signals {
namespace {

/// to[0..n) = the transform of x[0], x[step], …: halves while n is even, sums directly otherwise. `scratch` has room
/// for n, too. roots[k] = exp(∓2πi·k/N) for the whole line's length N = n * step.
void transform(const Complex* x, std::size_t n, std::size_t step, const Line& roots, Complex* to, Complex* scratch) {
  if (n % 2 == 0) {
    const auto *even = scratch, *odd = scratch + n / 2;
    transform(x, n / 2, 2 * step, roots, scratch, to);
    transform(x + step, n / 2, 2 * step, roots, scratch + n / 2, to + n / 2);
    for (std::size_t k = 0; k < n / 2; ++k) {
      const auto rotated = roots[k * step] * odd[k];
      to[k] = even[k] + rotated;
      to[k + n / 2] = even[k] - rotated;
    }
    return;
  }
  for (std::size_t k = 0; k < n; ++k) {
    to[k] = {};
    for (std::size_t j = 0; j < n; ++j) to[k] += x[j * step] * roots[j * k % n * step];
  }
}

/// Every halving takes each element once; what is odd is summed directly.
i64 steps_of_line(i64 n) {
  constexpr i64 kProduct = 4;
  i64 halvings = 1, odd = n;
  for (; odd % 2 == 0; odd /= 2) ++halvings;
  return saturating_mul(n, kProduct * (halvings * 8 + odd));
}

}  // namespace

Fourier::Fourier(i64 n, Direction direction, std::pmr::memory_resource* memory)
    : roots_(n, memory), result_(n, memory), scratch_(n, memory) {
  const auto turn = (direction == Direction::inverse ? 2 : -2) * std::numbers::pi;
  for (i64 k = 0; k < n; ++k) roots_[k] = std::polar(1.0, turn * static_cast<double>(k) / static_cast<double>(n));
}

std::span<const Complex> Fourier::operator()(std::span<const Complex> line) {
  if (line.empty()) return {};
  spend(steps_of_line(std::ssize(line)));
  transform(line.data(), line.size(), 1, roots_, result_.data(), scratch_.data());
  return result_;
}

std::span<const Complex> Fourier::restored(std::span<const Complex> line) {
  (*this)(line);
  for (auto& v : result_) v /= static_cast<double>(line.size());
  return result_;
}

Field read(const Tensor& t, bool is_complex, std::pmr::memory_resource* memory) {
  Field f{t.shape(), Line(memory)};
  if (is_complex) f.shape.pop_back();
  f.values.resize(f.shape.count());
  dispatch(t.type(), Floats{}, [&]<class E>() {
    const auto* from = t.data<E>();
    for (std::size_t i = 0; i < f.values.size(); ++i) {
      if (is_complex) f.values[i] = {static_cast<double>(from[2 * i]), static_cast<double>(from[2 * i + 1])};
      else f.values[i] = static_cast<double>(from[i]);
    }
  });
  return f;
}

void write(const Field& f, Tensor& t, bool as_complex) {
  dispatch(t.type(), Floats{}, [&]<class E>() {
    auto* to = t.mutable_data<E>();
    if (f.values.empty()) std::fill_n(to, t.size(), E(0));
    for (const auto& v : f.values) {
      *to++ = static_cast<E>(v.real());
      if (as_complex) *to++ = static_cast<E>(v.imag());
    }
  });
}

Transform transform(EvalContext& c, i64 rank) {
  Transform p{Shape(c.ints(1)), {}};
  for (auto& axis : p.axes)
    if (axis < 0) axis += rank;
  p.sizes = c.has(2) ? Shape(c.ints(2)) : Shape(p.axes.rank(), -1);
  return p;
}

PartialShape infer(InferContext& c, bool complex_input, std::optional<i64>& last, Dim& last_size) {
  constexpr int data = 0, axes = 1, signal_size = 2;
  c.require_rank_at_least(data, complex_input ? 2 : 1);
  c.require_rank(axes, 1);
  auto shape = c.shape(data);
  if (shape.has_rank() && complex_input) {
    c.require(shape[shape.rank() - 1].contains(2), data, Code::E0506,
              "the last dim of input \"data\" of {} must be 2 (real and imaginary part), but its shape is {}",
              c.op().type, to_string(shape));
    shape.dims().pop_back();
  }
  if (c.has(signal_size)) {
    c.require_rank(signal_size, 1);
    c.require_same_dim(axis_count(c.shape(axes)), axis_count(c.shape(signal_size)), signal_size,
                       "the number of elements of \"axes\"", "that of \"signal_size\"");
  }
  const auto along = c.ints(axes);
  if (!shape.has_rank()) return shape;
  c.require(axis_count(c.shape(axes)).min <= shape.rank(), axes, Code::E0506,
            "input \"axes\" of {0} must not name more than the {3} axes of \"data\" {2} that can be transformed, but "
            "names {1}",
            c.op().type, axis_count(c.shape(axes)).min, to_string(c.shape(data)), shape.rank());
  if (!along) {
    // Without sizes only the real transforms change a dim, of an axis that is not known.
    if (c.has(signal_size))
      for (auto& d : shape.dims()) d = Dim();
    return shape;
  }
  const auto sizes = c.intervals(signal_size);
  std::vector<bool> seen(shape.rank());
  for (std::size_t i = 0; i < along->size(); ++i) {
    const auto axis = c.require_axis((*along)[i], axes, shape.rank());
    c.require(!seen[axis], axes, Code::E0508, "input \"axes\" of {} must name each axis once, but names axis {} twice",
              c.op().type, axis);
    seen[axis] = true;
    last = axis;
    if (!c.has(signal_size)) continue;
    last_size = Dim();
    if (!sizes || i >= sizes->size()) {
      shape[axis] = Dim();
      continue;
    }
    const auto& size = (*sizes)[i];
    c.require(!size.is_known() || size.lo == -1 || size.lo > 0, signal_size, Code::E0508,
              "input \"signal_size\" of {} must hold -1 or positive lengths, but holds {}", c.op().type, size.lo);
    // -1: the length is not changed
    if (size.lo > 0) shape[axis] = last_size = size.to_dim();
    else if (!size.is_known()) shape[axis] = Dim();
    else last_size = Dim(0);
  }
  if (!c.has(signal_size)) last_size = Dim(0);
  return shape;
}

void infer_complex(InferContext& c) {
  std::optional<i64> last;
  Dim last_size;
  auto shape = infer(c, true, last, last_size);
  if (shape.has_rank()) shape.push_back(Dim(2));
  c.output(0, std::move(shape));
}

void eval_complex(EvalContext& c, Direction direction) {
  auto& out = c.out(0);  // before any work: a size asked for may be too large
  auto field = read(c.in(0), true, c.memory());
  const auto p = transform(c, std::ssize(field.shape));
  for (std::size_t i = 0; i < p.axes.size(); ++i) {
    const auto length = p.sizes[i] == -1 ? field.shape[p.axes[i]] : p.sizes[i];
    Fourier fourier(length, direction, c.memory());
    field.along(p.axes[i], length, [&](const Line& line) {
      return direction == Direction::inverse ? fourier.restored(line) : fourier(line);
    });
  }
  write(field, out, true);
}

}  // namespace ovir::ops::signals
