// GroupedMatMul: products of groups of rows, each with a matrix of its own (the experts of a mixture).
// Spec: operation-sets/operation-specs/matrix/grouped-matmul-17; mat_b is [G, N, K]: see NOTES.md
#include "op/kit/accumulate.hpp"
#include "op/op.hpp"
#include "op/ports.hpp"
#include "op/work.hpp"

namespace ovir::ops::grouped_mat_mul {
namespace {

enum Input { mat_a, mat_b, offsets };

void infer(InferContext& c) {
  c.require_rank(mat_a, 2, 3);
  c.require_rank(mat_b, 2, 3);
  if (c.has(offsets)) c.require_rank(offsets, 1);
  const auto &a = c.shape(mat_a), &b = c.shape(mat_b);
  if (!a.has_rank() || !b.has_rank()) return c.output(0, PartialShape::unknown_rank());
  const auto groups = c.has(offsets) ? axis_count(c.shape(offsets)) : Dim();
  if (a.rank() == 3) {
    c.require(b.rank() == 3, mat_b, Code::E0504,
              "input \"mat_b\" of GroupedMatMul must have rank 3 where \"mat_a\" has, but its shape is {}",
              to_string(b));
    c.require(!c.has(offsets), offsets, Code::E0501,
              "input \"offsets\" of GroupedMatMul must be left out where \"mat_a\" has rank 3");
    const auto count = c.require_same_dim(a[0], b[0], mat_b, "the number of groups of \"mat_a\"", "that of \"mat_b\"");
    c.require_same_dim(a[2], b[2], mat_b, "the inner dims of \"mat_a\"", "those of \"mat_b\"");
    return c.output(0, {count, a[1], b[1]});
  }
  c.require(c.has(offsets), mat_a, Code::E0501, "GroupedMatMul needs input \"offsets\" where \"mat_a\" has rank 2");
  if (b.rank() == 3) {
    c.require_same_dim(b[0], groups, offsets, "the number of groups of \"mat_b\"", "that of \"offsets\"");
    c.require_same_dim(a[1], b[2], mat_b, "the inner dims of \"mat_a\"", "those of \"mat_b\"");
    return c.output(0, {a[0], b[1]});
  }
  c.require_same_dim(a[1], b[0], mat_b, "the number of tokens of \"mat_a\"", "that of \"mat_b\"");
  c.output(0, {groups, a[0], b[1]});
}

/// Where each group's tokens end; none may begin before the last one ended.
std::span<const i64> ends(EvalContext& c, i64 tokens) {
  const auto list = c.ints(offsets);
  i64 before = 0;
  for (const auto end : list) {
    if (end < before || end > tokens)
      fail_at(c.version(), offsets, Code::E0508,
              fmt::format("input \"offsets\" of GroupedMatMul must rise from 0 to {}, but {} follows {}", tokens, end,
                          before));
    before = end;
  }
  return list;
}

/// to[rows, columns] = a[rows, depth] · b[depth, columns], each with its strides.
template <class T>
void multiply(const T* a, i64 a_row, i64 a_step, const T* b, i64 b_row, i64 b_step, i64 rows, i64 depth, i64 columns,
              T* to) {
  for (i64 i = 0; i < rows; ++i)
    for (i64 j = 0; j < columns; ++j) {
      T sum{};
      for (i64 k = 0; k < depth; ++k) sum = multiply_add(sum, a[i * a_row + k * a_step], b[k * b_row + j * b_step]);
      *to++ = sum;
    }
}

void eval(EvalContext& c) {
  const auto &a = c.in(mat_a), &b = c.in(mat_b);
  auto& out = c.out(0);
  dispatch(out.type(), Numbers{}, [&]<class T>() {
    const T *x = a.data<T>(), *y = b.data<T>();
    T* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T{});  // tokens past the last group have no product
    if (a.rank() == 3) {
      const auto rows = a.dim(1), depth = a.dim(2), columns = b.dim(1);
      for (i64 g = 0; g < a.dim(0); ++g)
        multiply(x + g * rows * depth, depth, 1, y + g * columns * depth, 1, depth, rows, depth, columns,
                 to + g * rows * columns);
      return;
    }
    const bool by_rows = b.rank() == 3;
    const auto groups = ends(c, by_rows ? a.dim(0) : a.dim(1));
    i64 begin = 0;
    for (i64 g = 0; g < std::ssize(groups); begin = groups[g++]) {
      const auto count = groups[g] - begin;
      if (by_rows) {
        const auto depth = a.dim(1), columns = b.dim(1);
        multiply(x + begin * depth, depth, 1, y + g * columns * depth, 1, depth, count, depth, columns,
                 to + begin * columns);
      } else {
        const auto rows = a.dim(0), tokens = a.dim(1), columns = b.dim(1);
        multiply(x + begin, tokens, 1, y + begin * columns, columns, 1, rows, count, columns, to + g * rows * columns);
      }
    }
  });
}

i64 macs(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out) {
  return saturating_mul(saturating_count(out[0]), in[mat_a].back());
}

constexpr TypeVar T{"T", kNumeric}, TIndex{"T_IDX", kIndex};
constexpr PortDef kInputs[] = {{"mat_a", T}, {"mat_b", T}, {"offsets", TIndex, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 17, .inputs = kInputs, .outputs = kOutputs, .infer = infer, .eval = eval, .macs = macs}};

}  // namespace

extern constinit const OpDef def{.type = "GroupedMatMul", .spec = "matrix/grouped-matmul", .versions = kVersions};

}  // namespace ovir::ops::grouped_mat_mul
