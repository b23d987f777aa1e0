#include "fast/kernels/elementwise/chain.hpp"

#include <algorithm>
#include <array>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kPiece = 512;    // values: the registers of a program stay in the first-level cache
constexpr i64 kLongRow = 256;  // rows from here on are pieces by themselves
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

}  // namespace

bool ChainProgram::fits() const { return !steps.empty() && inputs <= kInputs && !assign_registers(*this).empty(); }

struct Chain::Piece {
  std::array<i64, ChainProgram::kInputs> offsets;  ///< where each input begins
  i64 out, rows, columns;
};

struct Chain::Registers {
  alignas(64) float values[kRegisters][kPiece];
  /// Inputs that do not lie as the piece wants them, and where each was last taken from: patterns that come again are
  /// kept.
  alignas(64) float laid_out[ChainProgram::kInputs][kPiece];
  std::array<const float*, ChainProgram::kInputs> from{};
  std::array<i64, ChainProgram::kInputs> size{};
};

Chain::Chain(const ChainProgram& program, std::span<const std::span<const i64>> inputs, std::span<const i64> out)
    : inputs_(program.inputs), strides_(inputs.size()) {
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

  const auto columns = dims_.back(), rows = dims_[dims_.size() - 2];
  pieces_ = 1;
  for (const auto d : dims_) pieces_ *= d;
  if (pieces_ == 0) return;
  columns_ = std::min(columns, kPiece);
  if (columns < kLongRow) rows_ = std::min(kPiece / columns, rows);
  row_pieces_ = ceil_div(rows, rows_);
  column_pieces_ = ceil_div(columns, columns_);
  pieces_ = pieces_ / (rows * columns) * row_pieces_ * column_pieces_;
}

void Chain::compute(const Piece& piece, std::span<const float* const> inputs, float* out, Registers& registers) const {
  const auto& table = isa();
  const auto n = piece.rows * piece.columns, rank = std::ssize(dims_);
  std::array<const float*, ChainProgram::kInputs> data;
  std::array<i64, ChainProgram::kInputs> steps;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto across = strides_[i][rank - 1], down = strides_[i][rank - 2];
    const auto* from = inputs[i] + piece.offsets[i];
    data[i] = from;
    steps[i] = across;
    if (piece.rows == 1 || (across == 0 && down == 0) || (across == 1 && down == piece.columns)) continue;
    data[i] = registers.laid_out[i];
    steps[i] = 1;
    if (registers.from[i] == from && registers.size[i] == n) continue;
    registers.from[i] = from;
    registers.size[i] = n;
    for (i64 r = 0; r < piece.rows; ++r) {
      float* to = registers.laid_out[i] + r * piece.columns;
      if (across) std::copy_n(from + r * down, piece.columns, to);
      else std::fill_n(to, piece.columns, from[r * down]);
    }
  }
  const auto operand = [&](int id) {
    if (id < inputs_) return std::pair{data[id], steps[id]};
    const auto to = steps_[id - inputs_].to;
    return std::pair{static_cast<const float*>(registers.values[to]), i64{1}};
  };
  for (const auto& step : steps_) {
    float* to = step.to < 0 ? out + piece.out : registers.values[step.to];
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
}

void Chain::run(std::span<const float* const> inputs, float* out, ThreadPool& pool) const {
  if (pieces_ == 0) return;
  const auto rank = dims_.size();
  const auto rows = dims_[rank - 2], columns = dims_[rank - 1];
  const auto values = static_cast<double>(rows_ * columns_),
             cost = 20 + values * static_cast<double>(steps_.size()) / 8;
  parallel_ranges(pool, pieces_, cost, [&](i64 begin, i64 end) {
    Registers registers;
    for (auto index = begin; index < end; ++index) {
      const auto column = index % column_pieces_ * columns_, rest = index / column_pieces_;
      const auto row = rest % row_pieces_ * rows_;
      auto outer = rest / row_pieces_;
      Piece piece{.offsets = {},
                  .out = (outer * rows + row) * columns + column,
                  .rows = std::min(rows_, rows - row),
                  .columns = std::min(columns_, columns - column)};
      for (std::size_t i = 0; i < inputs.size(); ++i)
        piece.offsets[i] = row * strides_[i][rank - 2] + column * strides_[i][rank - 1];
      for (auto d = rank - 2; d-- > 0; outer /= dims_[d])
        for (std::size_t i = 0; i < inputs.size(); ++i) piece.offsets[i] += outer % dims_[d] * strides_[i][d];
      compute(piece, inputs, out, registers);
    }
  });
}

}  // namespace ovir::fast
