// Eye: ones on a diagonal, zeros elsewhere.
// Spec: operation-sets/operation-specs/generation/eye-9
#include "op/kit/ranks.hpp"
#include "op/op.hpp"

namespace ovir::ops::eye {
namespace {

enum Input { num_rows, num_columns, diagonal_index, batch_shape };

struct Attrs {
  ElementType output_type = ElementType::dynamic;
};

/// The values of a shape input, none of them negative; nothing where they are unknown.
std::optional<std::vector<Dim>> lengths(const InferContext& c, int port) {
  const auto values = c.require_at_least(port, 0);
  if (!values) return std::nullopt;
  std::vector<Dim> dims;
  for (const auto& v : *values) dims.push_back(v.to_dim());
  return dims;
}

void infer(InferContext& c) {
  const auto type = c.attrs<Attrs>().output_type;
  c.require_attr(contains(kFloat | kInteger, type), "output_type", "must be a numeric type, but is {}", name(type));
  for (int port : {num_rows, num_columns, diagonal_index}) c.require_single(port);
  c.require_rank(batch_shape, 1);
  PartialShape out;
  if (c.has(batch_shape)) {
    const auto batch = lengths(c, batch_shape);
    out = batch ? PartialShape(*batch) : shape_of_rank(axis_count(c.shape(batch_shape)));
    if (!out.has_rank()) return c.output(0, type, std::move(out));
  }
  for (int port : {num_rows, num_columns}) {
    const auto length = lengths(c, port);
    out.push_back(length && length->size() == 1 ? length->front() : Dim());
  }
  c.output(0, type, std::move(out));
}

void eval(EvalContext& c) {
  auto shape = c.has(batch_shape) ? Shape(c.ints(batch_shape)) : Shape();
  const auto rows = c.scalar_int(num_rows), columns = c.scalar_int(num_columns),
             diagonal = c.scalar_int(diagonal_index);
  shape.insert(shape.end(), {rows, columns});
  auto& to = c.out(0, std::move(shape));
  std::fill_n(to.mutable_bytes(), to.byte_size(), std::byte{});
  if (to.size() == 0 || diagonal >= columns || diagonal <= -rows) return;
  // A positive diagonal lies above the main one.
  const auto row = std::max<i64>(0, -diagonal), column = std::max<i64>(0, diagonal);
  dispatch(to.type(), Numbers{}, [&]<class T>() {
    for (i64 matrix = 0; matrix < to.size(); matrix += rows * columns)
      for (i64 i = 0; row + i < rows && column + i < columns; ++i)
        to.mutable_data<T>()[matrix + (row + i) * columns + column + i] = T{1};
  });
}

constexpr TypeVar TRows{"T_ROWS", kIndex}, TColumns{"T_COLUMNS", kIndex}, TDiagonal{"T_DIAGONAL", kIndex},
    TBatch{"T_BATCH", kIndex};
constexpr PortDef kInputs[] = {{"num_rows", TRows},
                               {"num_columns", TColumns},
                               {"diagonal_index", TDiagonal},
                               {"batch_shape", TBatch, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", {"T_OUT", kFloat | kInteger}}};
constexpr Version kVersions[] = {
    {.since = 9,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"output_type", &Attrs::output_type, kRequired>>,
     .infer = infer,
     .reads = ports(num_rows, num_columns, batch_shape),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "Eye", .spec = "generation/eye", .versions = kVersions};

}  // namespace ovir::ops::eye
