// Col2Im: sliding blocks added up into the image they were cut from.
// Spec: operation-sets/operation-specs/movement/col2im-15
#include "ops/movement/common.hpp"

namespace ovir::ops::col2im {
namespace {

enum Input { data, output_size, kernel_size };

struct Attrs {
  std::vector<i64> strides{1, 1}, dilations{1, 1}, pads_begin{0, 0}, pads_end{0, 0};
};

void require_pair(const InferContext& c, std::string_view attribute, const std::vector<i64>& pair, i64 min) {
  c.require_attr(pair.size() == 2, attribute, "must hold 2 numbers, one for each axis of the image, but holds {}",
                 counted(pair.size(), "number"));
  c.require_each(
      pair, [&](i64 v) { return v >= min && v < (i64{1} << 28); }, attribute,
      "must hold numbers in {1}..{2}, but holds {0}", min, (1 << 28) - 1);
}

/// The number of positions of a block along one axis.
i64 block_count(const Attrs& a, std::size_t axis, i64 size, i64 kernel) {
  const auto room = size + a.pads_begin[axis] + a.pads_end[axis] - a.dilations[axis] * (kernel - 1) - 1;
  return room < 0 ? 0 : room / a.strides[axis] + 1;
}

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  require_pair(c, "strides", a.strides, 1);
  require_pair(c, "dilations", a.dilations, 1);
  require_pair(c, "pads_begin", a.pads_begin, 0);
  require_pair(c, "pads_end", a.pads_end, 0);
  c.require_rank(data, 2, 3);
  for (int port : {output_size, kernel_size}) {
    c.require_rank(port, 1);
    c.require(axis_count(c.shape(port)).contains(2), port, Code::E0506,
              "input \"{}\" of Col2Im must hold 2 elements, but its shape is {}", c.port_name(port),
              to_string(c.shape(port)));
    if (const auto values = c.ints(port))
      for (const auto v : *values)
        c.require(v > 0 && v < (i64{1} << 28), port, Code::E0508,
                  "input \"{0}\" of Col2Im must hold lengths in 1..{2}, but holds {1}", c.port_name(port), v,
                  (1 << 28) - 1);
  }
  const auto& from = c.shape(data);
  if (!from.has_rank()) return c.output(0, PartialShape::unknown_rank());
  const auto sizes = c.dims(output_size);
  const auto exact = c.ints(output_size), kernel = c.ints(kernel_size);
  const auto channels_in = from[from.rank() - 2], blocks = from[from.rank() - 1];
  PartialShape out;
  if (from.rank() == 3) out.push_back(from[0]);
  out.push_back(Dim());
  if (kernel) {
    const auto volume = kernel->at(0) * kernel->at(1);
    const auto channels = movement::divided(channels_in, volume);
    c.require(
        channels.has_value(), data, Code::E0506,
        "the rows of input \"data\" {1} of Col2Im must be a multiple of the {2} elements of a kernel, but are {0}",
        to_string(channels_in), to_string(from), volume);
    out[out.rank() - 1] = *channels;
    if (exact) {
      const auto wanted =
          block_count(a, 0, exact->at(0), kernel->at(0)) * block_count(a, 1, exact->at(1), kernel->at(1));
      c.require(blocks.contains(wanted), data, Code::E0506,
                "input \"data\" of Col2Im must hold {1} blocks for an image of {2}, but its shape is {0}",
                to_string(from), wanted, to_string(*exact));
    }
  }
  for (std::size_t i = 0; i < 2; ++i) out.push_back(sizes && sizes->size() == 2 ? (*sizes)[i] : Dim());
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  const auto size = c.ints(output_size), kernel = c.ints(kernel_size);
  auto& to = c.out(0);
  const auto rows = block_count(a, 0, size[0], kernel[0]), columns = block_count(a, 1, size[1], kernel[1]);
  const auto volume = kernel[0] * kernel[1];
  const auto planes = to.size() == 0 ? 0 : to.size() / (size[0] * size[1]);
  std::fill_n(to.mutable_bytes(), to.byte_size(), std::byte{});
  dispatch(to.type(), Numbers{}, [&]<class T>() {
    // Integers wrap.
    using U = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    const auto* source = from.data<T>();
    for (i64 i = 0; i < planes * volume; ++i) {
      auto* plane = to.mutable_data<T>() + i / volume * size[0] * size[1];
      const auto y0 = i % volume / kernel[1] * a.dilations[0] - a.pads_begin[0],
                 x0 = i % kernel[1] * a.dilations[1] - a.pads_begin[1];
      for (i64 r = 0; r < rows; ++r)
        for (i64 q = 0; q < columns; ++q, ++source) {
          const auto y = y0 + r * a.strides[0], x = x0 + q * a.strides[1];
          if (0 <= y && y < size[0] && 0 <= x && x < size[1])
            plane[y * size[1] + x] = static_cast<T>(static_cast<U>(plane[y * size[1] + x]) + static_cast<U>(*source));
        }
    }
  });
}

constexpr TypeVar T{"T", kFloat | kInteger}, TIndex{"T_IND", kIndex};
constexpr PortDef kInputs[] = {{"data", T}, {"output_size", TIndex}, {"kernel_size", TIndex}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 15,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"strides", &Attrs::strides>, Attr<"dilations", &Attrs::dilations>,
                         Attr<"pads_begin", &Attrs::pads_begin>, Attr<"pads_end", &Attrs::pads_end>>,
     .infer = infer,
     .reads = ports(output_size, kernel_size),
     .eval = eval},
};

}  // namespace

extern constinit const OpDef def{.type = "Col2Im", .spec = "movement/col2im", .versions = kVersions};

}  // namespace ovir::ops::col2im
