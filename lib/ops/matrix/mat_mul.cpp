// MatMul: products of the matrices in the last two axes; the axes before them broadcast.
// Spec: operation-sets/operation-specs/matrix/matmul-1
#include "op/kit/accumulate.hpp"
#include "op/op.hpp"
#include "op/shared_attrs.hpp"
#include "op/work.hpp"

namespace ovir::ops::mat_mul {
namespace {

enum Input { A, B };

/// "1D tensors are unsqueezed": a becomes a row, b a column; transposing a vector changes nothing.
template <class Dims>
void as_matrix(Dims& dims, bool transpose, bool row) {
  if (dims.size() == 1) dims.insert(row ? dims.begin() : dims.end(), 1);
  else if (transpose) std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
}

void infer(InferContext& c) {
  const auto& a = c.attrs<MatMulAttrs>();
  c.require_rank_at_least(A, 1);
  c.require_rank_at_least(B, 1);
  if (!c.shape(A).has_rank() || !c.shape(B).has_rank()) return c.output(0, PartialShape::unknown_rank());
  auto left = c.shape(A).dims(), right = c.shape(B).dims();
  const bool a_vector = left.size() == 1, b_vector = right.size() == 1;
  as_matrix(left, a.transpose_a, true);
  as_matrix(right, a.transpose_b, false);
  if (!left.back().compatible(right[right.size() - 2]))
    c.fail_at(
        B, Code::E0506,
        fmt::format(
            "MatMul needs the columns of \"A\" {}{} and the rows of \"B\" {}{} to be equal, but they are {} and {}",
            to_string(c.shape(A)), a.transpose_a ? " transposed" : "", to_string(c.shape(B)),
            a.transpose_b ? " transposed" : "", to_string(left.back()), to_string(right[right.size() - 2])),
        {{{Change::What::attribute, "transpose_b", a.transpose_b ? "false" : "true"}},
         {{Change::What::attribute, "transpose_a", a.transpose_a ? "false" : "true"}}});

  const PartialShape a_batch(std::vector<Dim>(left.begin(), left.end() - 2)),
      b_batch(std::vector<Dim>(right.begin(), right.end() - 2));
  auto out = broadcast(a_batch, b_batch);
  c.require(out.has_value(), B, Code::E0505, "MatMul cannot broadcast the batch dims of {} and {}",
            to_string(c.shape(A)), to_string(c.shape(B)));
  if (!a_vector) out->push_back(left[left.size() - 2]);
  if (!b_vector) out->push_back(right.back());
  c.output(0, std::move(*out));
}

/// The matrix at `from` of `rows` x `columns` in the other order.
template <class T>
void transpose(const T* from, i64 rows, i64 columns, std::pmr::vector<T>& to) {
  to.resize(rows * columns);
  constexpr i64 kBlock = 16;  // both sides stay in the cache
  for (i64 i = 0; i < rows; i += kBlock)
    for (i64 j = 0; j < columns; ++j)
      for (i64 k = i; k < std::min(rows, i + kBlock); ++k) to[j * rows + k] = from[k * columns + j];
}

void eval(EvalContext& c) {
  const auto& attrs = c.attrs<MatMulAttrs>();
  const auto &a = c.in(A), &b = c.in(B);
  auto& out = c.out(0);
  if (out.size() == 0) return;
  auto left = a.shape(), right = b.shape();
  const bool a_transposed = attrs.transpose_a && left.size() > 1, b_transposed = attrs.transpose_b && right.size() > 1;
  as_matrix(left, attrs.transpose_a, true);
  as_matrix(right, attrs.transpose_b, false);
  const auto rows = left[left.size() - 2], depth = left.back(), columns = right.back();
  const Shape a_batch(left.begin(), left.end() - 2), b_batch(right.begin(), right.end() - 2);
  auto batch = a_batch.rank() < b_batch.rank() ? b_batch : a_batch;
  const auto& other = a_batch.rank() < b_batch.rank() ? a_batch : b_batch;
  for (i64 i = 0; i < other.rank(); ++i)
    if (auto& n = batch[batch.rank() - other.rank() + i]; n == 1) n = other[i];
  const auto a_strides = broadcast_strides(a_batch, batch), b_strides = broadcast_strides(b_batch, batch);
  std::pmr::vector<i64> row_of_b(depth, c.memory());
  for (i64 k = 0; k < std::ssize(row_of_b); ++k) row_of_b[k] = k * columns;
  constexpr i64 kPart = 256;  // columns at a time: this much of b stays in the cache for all rows

  dispatch(out.type(), Numbers{}, [&]<class T>() {
    std::pmr::vector<T> a_buffer(c.memory()), b_buffer(c.memory());
    auto* to = out.mutable_data<T>();
    std::fill_n(to, out.size(), T{});
    i64 transposed = -1;  // which matrix of b is in b_buffer
    for (IndexWalker at(batch); !at.done(); at.next(), to += rows * columns) {
      const T* x = a.data<T>() + at.offset(a_strides) * rows * depth;
      const auto b_index = at.offset(b_strides);
      const T* y = b.data<T>() + b_index * depth * columns;
      if (a_transposed) {
        transpose(x, depth, rows, a_buffer);
        x = a_buffer.data();
      }
      if (b_transposed && std::exchange(transposed, b_index) != b_index) transpose(y, columns, depth, b_buffer);
      if (b_transposed) y = b_buffer.data();
      for (i64 j = 0; j < columns; j += kPart)
        for (i64 i = 0; i < rows; ++i)
          accumulate(to + i * columns + j, std::min(kPart, columns - j), y + j, row_of_b.data(), 1, x + i * depth,
                     depth);
    }
  });
}

i64 terms(const Version& version, const void* attrs, std::span<const Shape> in) {
  auto left = in[A];
  as_matrix(left, version.attrs.as<MatMulAttrs>(attrs).transpose_a, true);
  return left.back();
}

i64 macs(const Version& version, const void* attrs, std::span<const Shape> in, std::span<const Shape> out) {
  const auto& a = in[A];
  const bool transposed = version.attrs.as<MatMulAttrs>(attrs).transpose_a && a.rank() > 1;
  return saturating_mul(saturating_count(out[0]), a[a.rank() - (transposed ? 2 : 1)]);
}

constexpr TypeVar T{"T", kNumeric};
constexpr PortDef kInputs[] = {{"A", T}, {"B", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr auto kAttrs = attributes<MatMulAttrs, Attr<"transpose_a", &MatMulAttrs::transpose_a>,
                                   Attr<"transpose_b", &MatMulAttrs::transpose_b>>;
constexpr Version kVersions[] = {{.since = 1,
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .eval = eval,
                                  .error = ErrorBound::sums,
                                  .terms = terms,
                                  .macs = macs}};

}  // namespace

extern constinit const OpDef def{.type = "MatMul", .spec = "matrix/matmul", .versions = kVersions};

}  // namespace ovir::ops::mat_mul
