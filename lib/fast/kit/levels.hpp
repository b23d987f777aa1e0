// Values that FakeQuantize has brought onto levels, and weights that are multiples of a step: what int8 kernels take.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fast/kernels/convolution/u8.hpp"
#include "fast/kernels/integer_sums.hpp"
#include "fast/kernels/pair_excess.hpp"
#include "fast/kernels/product/level_panels.hpp"
#include "fast/kernels/product/u8.hpp"
#include "fast/kernels/weights.hpp"
#include "plan/pattern.hpp"
#include "tensor/view.hpp"

namespace ovir::fast {

/// Levels 0 … max_level of a value: low + scale · level, by channel (axis 1) or, with one number each, for all.
struct Levels {
  std::shared_ptr<const ovir::Quantization> quantization;
  float max_level = 255;

  bool is_single() const { return quantization->low.size() == 1; }
  float low(i64 channel) const { return quantization->low[is_single() ? 0 : channel]; }
  float scale(i64 channel) const { return quantization->scale[is_single() ? 0 : channel]; }
  /// How many levels of `all` are below the first of these, both the same for all channels; nothing where the others
  /// are not the same, or beyond the last.
  std::optional<std::uint8_t> above(const Levels& all) const;
  /// The level of 0 of a channel, where it is one.
  std::optional<std::uint8_t> zero(i64 channel) const { return near_zero(channel, kSame); }
  /// What is filled in around planes, by channel or for all: limits that were rounded to f16 leave 0 beside a level.
  /// Empty where a channel has no such level.
  std::vector<std::uint8_t> padding() const;

 private:
  static constexpr float kSame = 0.01f;  // of a level
  std::optional<std::uint8_t> near_zero(i64 channel, float tolerance) const;
};

/// Of what a FakeQuantize gives whose limits are constants, equal on both sides, with at most 256 levels. Of what a
/// MaxPool makes of it, too, and where all channels have the same levels of what only moves them: Split, Reshape,
/// Interpolate to the nearest and the like, Concat of levels that are as far apart, of which it has all. Nothing for
/// other values.
std::optional<Levels> levels_of(const Graphlet& graph, ValueRef v);

/// Those that are the same for all of a value.
std::optional<Levels> single_levels(const Graphlet& graph, ValueRef v);
LevelLine level_line(const Levels& levels);

/// Whether a FakeQuantize changes nothing, because what it gets is on its levels already, the same for all data: from
/// others like it, by operations that move or choose elements, as TensorFlow Lite has one behind each.
bool is_quantized_again(const Graphlet& graph, int quantize);

struct ChannelLines;

/// Elements of a channel of an image.
i64 plane_of(const View& v);

/// Levels as kernels on blocks of 64 channels want them.
class U8Table {
 public:
  /// Where there are `lines`, of what they make of a value.
  U8Table(const Levels& levels, i64 channels, const ChannelLines* lines = nullptr);
  U8Scale scale() const;

 private:
  i64 padded_;
  float max_level_;
  Buffer values_;
};

/// Levels of channels, of values that are stored as blocks of them or in f32.
class ChannelLevels {
 public:
  /// Of at most so many channels.
  ChannelLevels(const Levels& levels, i64 channels) : quantization_(levels.quantization), table_(levels, channels) {}
  const std::shared_ptr<const ovir::Quantization>& quantization() const { return quantization_; }
  U8Scale scale() const { return table_.scale(); }
  /// Words of scratch memory that a value takes as blocks of levels.
  static i64 words(const View& v);
  /// A value as such blocks: those of its own, or made in `scratch`.
  const std::byte* take(const View& v, float* scratch, ThreadPool& pool) const;
  /// Brings blocks of levels to a value in f32.
  void give(const std::byte* levels, const View& to, ThreadPool& pool) const;

 private:
  std::shared_ptr<const ovir::Quantization> quantization_;
  U8Table table_;
};
/// For a node that joins or splits channels of images; `root` reads or gives `whole`.
std::optional<ChannelLevels> channel_levels(const Graphlet& graph, ValueRef whole, i64 axis);

/// Multiply and Add by constants of one number a channel (axis 1), or by one, from node `first`, which reads `from`, on
/// to a FakeQuantize, perhaps with a Relu before levels from 0 on; each of the others is the only user of the one
/// before.
struct ChannelLines {
  std::vector<int> nodes;
  std::vector<float> factors, offsets;
};
std::optional<ChannelLines> channel_lines(const Graphlet& graph, int first, ValueRef from, i64 rank, i64 channels);

/// Levels of rows, the same for all columns. What is brought onto them may be multiplied before, by column.
class RowLevels {
 public:
  explicit RowLevels(const Levels& levels, Buffer factors = {});
  bool is_scaled() const { return factors_.size() > 0; }
  bool pairs_fit() const { return PairExcesses::pairs_fit(max_level_); }
  U8RowScale scale() const;
  const std::shared_ptr<const ovir::Quantization>& quantization() const { return quantization_; }

 private:
  std::shared_ptr<const ovir::Quantization> quantization_;
  float max_level_;
  Buffer factors_;
};

/// The factors of a Multiply by a constant that has one for each element of the last axis; empty where it is none.
Buffer column_factors(const Graphlet& graph, int multiply, ValueRef x);
/// Takes the FakeQuantize that follows the last of the nodes, also behind such a Multiply.
std::optional<RowLevels> take_row_levels(const Graphlet& graph, std::vector<int>& nodes);

/// Weights as scale by output · integer.
struct I8Weights {
  Tensor values;  ///< i8, in the weights' order
  std::vector<float> scale;
  std::vector<int> nodes{};     ///< which compute the weights from the integers, in order; nobody else reads them
  const void* given = nullptr;  ///< what stands for the integers, see Graphlet::origin()

  /// Of the integers of each of so many outputs, which are the outermost axes; found once for all plans of the model.
  std::shared_ptr<const std::vector<IntegerSums>> sums(const Graphlet& graph, i64 outputs) const;
};

/// Integers of such weights where they lie or, in a file, where they are read from.
class I8Source {
 public:
  I8Source() = default;
  explicit I8Source(Tensor values) : values_(std::move(values)), file_{values_.file_part(), ElementType::i8} {}

  bool is_read() const { return static_cast<bool>(file_); }
  const std::int8_t* data() const { return values_.data<std::int8_t>(); }
  /// Integers [first, first + count): in `to` where they are read. Throws Failure (E0302).
  const std::int8_t* get(i64 first, i64 count, std::int8_t* to) const {
    if (!is_read()) return data() + first;
    file_.read_bytes(first, std::as_writable_bytes(std::span(to, count)));
    return to;
  }

 private:
  Tensor values_;
  WeightsFile file_;
};

/// What is added to a sum that has been scaled: so much for each 1 in the sum of an output's weights, and the rest.
struct SumShift {
  double by_total, rest;
  double with(i64 total) const { return by_total * static_cast<double>(total) + rest; }
};

/// Which of so many outputs weights belong to: the first axes count them, the last one does, or the `second` one.
struct Outputs {
  i64 count;
  bool last = false, second = false;
};

/// Weights that Convert, Subtract and Multiply compute from a constant of i8 or u8: the integers, as they lie in the
/// file where nothing is subtracted. The weights of an output have a scale and a zero point, or all have one.
std::optional<I8Weights> stored_i8_weights(const Graphlet& graph, int node, int port, const Outputs& outputs);

/// Those, or ones of a constant in f32 whose step comes from the FakeQuantize or Multiply that made it; nothing where
/// the weights are not multiples of it by -128 … 127.
std::optional<I8Weights> i8_weights(const Graphlet& graph, int node, int port, const Outputs& outputs);

}  // namespace ovir::fast
