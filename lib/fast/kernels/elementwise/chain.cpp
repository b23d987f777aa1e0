#include "fast/kernels/elementwise/chain.hpp"

#include <algorithm>
#include <array>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/elementwise/convert.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPiece = 512;       // values: the registers of a program stay in the first-level cache
constexpr i64 kLongRow = 256;     // rows from here on are pieces by themselves
constexpr i64 kLongPiece = 4096;  // of one step, which needs no registers
constexpr i64 kDirectRow = 64;    // rows from here on such a step reads where they lie
constexpr int kRegisters = ChainProgram::kRegisters;

/// By step: the register of its result, -1 for the last one. Empty where the registers do not do.
std::vector<int> assign_registers(const ChainProgram& program) {
  const auto count = static_cast<int>(program.steps.size());
  std::vector<int> last_use(program.steps.size(), -1), result;
  for (int i = 0; i < count; ++i) {
    const auto& step = program.steps[i];
    for (const auto operand : {step.left, step.kind == ChainStep::binary ? step.right : step.left}) {
      if (operand < 0 || operand >= program.inputs + i) return {};
      if (operand >= program.inputs) last_use[operand - program.inputs] = i;
    }
  }
  std::array<int, kRegisters> busy_until{};
  busy_until.fill(-1);
  for (int i = 0; i < count; ++i) {
    if (i + 1 == count) {
      result.push_back(-1);
      break;
    }
    // A step may write over an operand that it is the last to read: every loop works in place.
    const auto free = std::find_if(busy_until.begin(), busy_until.end(), [&](int until) { return until <= i; });
    if (free == busy_until.end()) return {};
    *free = std::max(last_use[i], i + 1);
    result.push_back(static_cast<int>(free - busy_until.begin()));
  }
  return result;
}

/// Nanoseconds that a step takes a value, roughly: what is computed in double precision takes long.
double time_of(const ChainStep& step) {
  constexpr double kShort = 0.125, kLong = 3;
  if (step.kind == ChainStep::binary) return step.operation == Binary::power ? kLong : kShort;
  return step.function.f >= Function::sin && step.function.f <= Function::atanh ? kLong : kShort;
}

}  // namespace

bool ChainProgram::fits() const { return !steps.empty() && inputs <= kInputs && !assign_registers(*this).empty(); }

struct Chain::Piece {
  std::array<i64, ChainProgram::kInputs> offsets;  ///< where each input begins
  i64 out, rows, columns;
};

struct Chain::Registers {
  alignas(64) float values[kRegisters][kPiece];
  alignas(64) float last[kPiece];  ///< where the output is converted
  /// Inputs that do not lie as the piece wants them, and where each was last taken from: patterns that come again are
  /// kept.
  alignas(64) float laid_out[ChainProgram::kInputs][kPiece];
  std::array<const float*, ChainProgram::kInputs> from{};
  std::array<i64, ChainProgram::kInputs> size{};
};

Chain::Chain(const ChainProgram& program, std::span<const std::span<const i64>> inputs, std::span<const i64> out,
             std::span<const ElementType> types, ElementType to)
    : inputs_(program.inputs), types_(types.begin(), types.end()), to_(to), strides_(inputs.size()) {
  types_.resize(inputs.size(), ElementType::f32);
  const auto registers = assign_registers(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i) steps_.push_back({program.steps[i], registers[i]});
  // Strides of each input in the output's dims.
  std::vector<std::vector<i64>> strides;
  for (const auto& shape : inputs) {
    std::vector<i64> s(out.size(), 0);
    i64 stride = 1;
    for (std::size_t back = 1; back <= shape.size(); ++back) {
      const auto d = shape[shape.size() - back];
      if (d != 1) s[out.size() - back] = stride;
      stride *= d;
    }
    strides.push_back(std::move(s));
  }
  // Merged from the last dim on.
  for (auto d = out.size(); d-- > 0;) {
    if (out[d] == 1) continue;
    const auto merges = [&](std::size_t i) { return strides[i][d] == strides_[i].back() * dims_.back(); };
    bool all = !dims_.empty();
    for (std::size_t i = 0; all && i < inputs.size(); ++i) all = merges(i);
    if (all) {
      dims_.back() *= out[d];
      continue;
    }
    dims_.push_back(out[d]);
    for (std::size_t i = 0; i < inputs.size(); ++i) strides_[i].push_back(strides[i][d]);
  }
  while (dims_.size() < 2) {
    dims_.push_back(1);
    for (auto& s : strides_) s.push_back(0);
  }
  std::reverse(dims_.begin(), dims_.end());
  for (auto& s : strides_) std::reverse(s.begin(), s.end());

  join_short_dims();
  const auto columns = dims_.back(), rows = dims_[dims_.size() - 2];
  pieces_ = 1;
  for (const auto d : dims_) pieces_ *= d;
  if (pieces_ == 0) return;
  const auto is_side_by_side = [](const auto& places) { return places.empty(); };
  const auto is_f32 = [](ElementType type) { return type == ElementType::f32; };
  direct_ = steps_.size() == 1 && columns >= kDirectRow && std::ranges::all_of(places_, is_side_by_side) &&
            std::ranges::all_of(types_, is_f32) && is_f32(to_);
  const auto piece = direct_ ? kLongPiece : kPiece;
  columns_ = std::min(columns, piece);
  if (direct_ || columns < kLongRow) rows_ = std::clamp<i64>(piece / columns, 1, rows);
  for (const auto& step : steps_) value_time_ += time_of(step.what);
  row_pieces_ = ceil_div(rows, rows_);
  column_pieces_ = ceil_div(columns, columns_);
  pieces_ = pieces_ / (rows * columns) * row_pieces_ * column_pieces_;
}

/// The last dims become one where a piece of only two of them would be short.
void Chain::join_short_dims() {
  places_.resize(strides_.size());
  while (dims_.size() > 2 && dims_.back() * dims_[dims_.size() - 2] <= kLongRow) {
    const auto columns = dims_.back(), rows = dims_[dims_.size() - 2];
    for (std::size_t i = 0; i < strides_.size(); ++i) {
      auto& strides = strides_[i];
      std::vector<i64> places;
      for (i64 r = 0; r < rows; ++r)
        for (i64 c = 0; c < columns; ++c)
          places.push_back(r * strides[strides.size() - 2] + (places_[i].empty() ? c * strides.back() : places_[i][c]));
      strides.pop_back();
      strides.back() = 1;
      places_[i] = std::move(places);
    }
    dims_.pop_back();
    dims_.back() = rows * columns;
  }
  for (std::size_t i = 0; i < strides_.size(); ++i) {
    auto& places = places_[i];
    if (places.empty()) continue;
    const bool same = std::ranges::all_of(places, [](i64 place) { return place == 0; });
    if (same) strides_[i].back() = 0;
    i64 next = 0;
    if (same || std::ranges::all_of(places, [&](i64 place) { return place == next++; })) places.clear();
  }
}

void Chain::compute_direct(const Piece& piece, std::span<const void* const> inputs, float* out) const {
  const auto& step = steps_[0].what;
  const auto rank = std::ssize(dims_);
  const auto &left = strides_[step.left], &right = strides_[step.right];
  const auto operand = [&](int i) { return static_cast<const float*>(inputs[i]) + piece.offsets[i]; };
  const auto *a = operand(step.left), *b = operand(step.right);
  auto* y = out + piece.out;
  for (i64 r = 0; r < piece.rows; ++r, a += left[rank - 2], b += right[rank - 2], y += piece.columns) {
    if (step.kind == ChainStep::binary) {
      isa().binary(step.operation, a, left[rank - 1], b, right[rank - 1], y, piece.columns);
    } else if (left[rank - 1]) {
      isa().unary(step.function, a, y, piece.columns);
    } else {
      std::fill_n(y, piece.columns, *a);
      isa().unary(step.function, y, y, piece.columns);
    }
  }
}

void Chain::compute(const Piece& piece, std::span<const void* const> inputs, void* out, Registers& registers) const {
  const auto& table = isa();
  const auto n = piece.rows * piece.columns, rank = std::ssize(dims_);
  std::array<const float*, ChainProgram::kInputs> data;
  std::array<i64, ChainProgram::kInputs> steps;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto across = strides_[i][rank - 1], down = strides_[i][rank - 2];
    if (types_[i] != ElementType::f32) {
      const auto* elements = static_cast<const std::byte*>(inputs[i]) + piece.offsets[i] * byte_width(types_[i]);
      if (types_[i] == ElementType::bf16)
        narrow_isa().from_bf16(reinterpret_cast<const std::uint16_t*>(elements), registers.laid_out[i], n);
      else
        convert_elements(types_[i], elements, ElementType::f32, reinterpret_cast<std::byte*>(registers.laid_out[i]), n);
      data[i] = registers.laid_out[i];
      steps[i] = 1;
      continue;
    }
    const auto* from = static_cast<const float*>(inputs[i]) + piece.offsets[i];
    data[i] = from;
    steps[i] = across;
    const auto& places = places_[i];
    if (places.empty() && (piece.rows == 1 || (across == 0 && down == 0) || (across == 1 && down == piece.columns)))
      continue;
    data[i] = registers.laid_out[i];
    steps[i] = 1;
    if (registers.from[i] == from && registers.size[i] >= n) continue;
    registers.from[i] = from;
    registers.size[i] = n;
    const auto lay_out = [&](const float* row, float* to) {
      if (!places.empty())
        for (i64 c = 0; c < piece.columns; ++c) to[c] = row[places[c]];
      else if (across) std::copy_n(row, piece.columns, to);
      else std::fill_n(to, piece.columns, *row);
    };
    if (down == 0) {  // one row again and again: ever more of them at once
      auto* to = registers.laid_out[i];
      lay_out(from, to);
      for (auto done = piece.columns; done < n; done *= 2) std::copy_n(to, std::min(done, n - done), to + done);
      continue;
    }
    for (i64 r = 0; r < piece.rows; ++r) lay_out(from + r * down, registers.laid_out[i] + r * piece.columns);
  }
  const auto operand = [&](int id) {
    if (id < inputs_) return std::pair{data[id], steps[id]};
    const auto to = steps_[id - inputs_].to;
    return std::pair{static_cast<const float*>(registers.values[to]), i64{1}};
  };
  auto* const result = static_cast<std::byte*>(out) + piece.out * byte_width(to_);
  const bool converts = to_ != ElementType::f32;
  auto* const last = converts ? registers.last : reinterpret_cast<float*>(result);
  for (const auto& step : steps_) {
    float* to = step.to < 0 ? last : registers.values[step.to];
    const auto [left, left_step] = operand(step.what.left);
    if (step.what.kind == ChainStep::binary) {
      const auto [right, right_step] = operand(step.what.right);
      table.binary(step.what.operation, left, left_step, right, right_step, to, n);
    } else if (left_step) {
      table.unary(step.what.function, left, to, n);
    } else {
      std::fill_n(to, n, *left);
      table.unary(step.what.function, to, to, n);
    }
  }
  if (to_ == ElementType::bf16) narrow_isa().to_bf16(last, reinterpret_cast<std::uint16_t*>(result), n);
  else if (converts) convert_elements(ElementType::f32, reinterpret_cast<const std::byte*>(last), to_, result, n);
}

double Chain::piece_time() const { return 20 + static_cast<double>(rows_ * columns_) * value_time_; }
double Chain::time() const { return static_cast<double>(pieces_) * piece_time(); }

void Chain::run(std::span<const void* const> inputs, void* out, ThreadPool& pool) const {
  if (pieces_ == 0) return;
  parallel_ranges(pool, pieces_, piece_time(), [&](i64 begin, i64 end) { compute_pieces(begin, end, inputs, out); });
}

void Chain::run(std::span<const void* const> inputs, void* out) const {
  if (pieces_ > 0) compute_pieces(0, pieces_, inputs, out);
}

void Chain::compute_pieces(i64 begin, i64 end, std::span<const void* const> inputs, void* out) const {
  const auto rank = dims_.size();
  const auto rows = dims_[rank - 2], columns = dims_[rank - 1];
  Registers registers;
  auto column = begin % column_pieces_ * columns_, row = begin / column_pieces_ % row_pieces_ * rows_;
  auto plane = begin / column_pieces_ / row_pieces_;
  std::array<i64, ChainProgram::kInputs> planes{};  // where each input's begins
  const auto find_planes = [&] {
    for (std::size_t i = 0; i < inputs.size(); ++i) planes[i] = 0;
    auto outer = plane;
    for (auto d = rank - 2; d-- > 0; outer /= dims_[d])
      for (std::size_t i = 0; i < inputs.size(); ++i) planes[i] += outer % dims_[d] * strides_[i][d];
  };
  find_planes();
  for (auto index = begin; index < end; ++index) {
    Piece piece;  // not all of its offsets are set
    piece.out = (plane * rows + row) * columns + column;
    piece.rows = std::min(rows_, rows - row);
    piece.columns = std::min(columns_, columns - column);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      piece.offsets[i] = planes[i] + row * strides_[i][rank - 2] + column * strides_[i][rank - 1];
    if (direct_) compute_direct(piece, inputs, static_cast<float*>(out));
    else compute(piece, inputs, out, registers);
    if ((column += columns_) < columns) continue;
    column = 0;
    if ((row += rows_) < rows) continue;
    row = 0;
    ++plane;
    find_planes();
  }
}

}  // namespace ovir::fast
