#include "fast/kernels/elementwise/bf16_chain.hpp"

#include <algorithm>
#include <array>

#include "fast/kernels/chunks.hpp"

namespace ovir::fast {
namespace {

constexpr i64 kLanes = 2 * kBlock;  // of a block
constexpr i64 kPixels = 256;        // at a time
constexpr std::size_t kMostSteps = ChainProgram::kInputs;

std::optional<Bf16Element> element_of(const ChainStep& step) {
  if (step.kind == ChainStep::unary) {
    if (step.function.is_clamp()) return Bf16Element::clamp;
    return step.function.f == Function::hswish ? std::optional(Bf16Element::hswish) : std::nullopt;
  }
  switch (step.operation) {
    case Binary::add: return Bf16Element::add;
    case Binary::subtract: return Bf16Element::subtract;
    case Binary::multiply: return Bf16Element::multiply;
    default: return std::nullopt;
  }
}

bool commutes(Bf16Element e) { return e == Bf16Element::add || e == Bf16Element::multiply; }

}  // namespace

std::optional<Bf16Chain> Bf16Chain::of(const ChainProgram& program, std::span<const Extent> extents) {
  Bf16Chain chain;
  chain.extents_.assign(extents.begin(), extents.end());
  if (program.steps.size() > kMostSteps) return std::nullopt;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& step = program.steps[i];
    const auto element = element_of(step);
    if (!element) return std::nullopt;
    Step to{{.element = *element}, -1};
    if (*element == Bf16Element::clamp && step.function.f == Function::clamp) {
      to.what.low = step.function.a;
      to.what.high = step.function.b;
    }
    // What the step goes on from: the result before it, of the first one an operand as large as the output.
    const auto before = program.inputs + static_cast<int>(i) - 1;
    const auto goes_on = [&](int id) {
      return i > 0 ? id == before : id < program.inputs && extents[id] == Extent::full;
    };
    const bool binary = step.kind == ChainStep::binary;
    auto left = step.left, right = binary ? step.right : -1;
    if (binary && !goes_on(left) && commutes(*element)) std::swap(left, right);
    if (!goes_on(left) || right >= program.inputs) return std::nullopt;
    if (i == 0) chain.first_ = left;
    to.operand = right;
    chain.steps_.push_back(to);
  }
  return chain;
}

void Bf16Chain::run(std::span<const void* const> inputs, const std::vector<bool>& by_image, std::uint16_t* out,
                    const Sizes& sizes, ThreadPool& pool) const {
  const auto& table = narrow_isa();
  std::array<std::array<float, kLanes>, kMostSteps> same;  // of operands that are one number
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (const auto operand = steps_[i].operand; operand >= 0 && extents_[operand] == Extent::one)
      same[i].fill(*static_cast<const float*>(inputs[operand]));
  const auto parts = ceil_div(sizes.plane, kPixels);
  constexpr double kCost = 2;  // nanoseconds a pixel and step, roughly
  parallel_ranges(
      pool, sizes.batch * sizes.blocks * parts,
      kCost * static_cast<double>(std::min(kPixels, sizes.plane) * std::ssize(steps_)), [&](i64 begin, i64 end) {
        std::array<Bf16ElementStep, kMostSteps> steps;
        for (auto i = begin; i < end; ++i) {
          const auto plane = i / parts, block = plane % sizes.blocks;
          const Part part(sizes.plane, parts, i % parts);
          const auto place = (plane * sizes.plane + part.begin) * kLanes;
          const auto full = [&](int operand) { return static_cast<const std::uint16_t*>(inputs[operand]) + place; };
          for (std::size_t s = 0; s < steps_.size(); ++s) {
            const auto operand = steps_[s].operand;
            steps[s] = steps_[s].what;
            if (operand < 0) continue;
            if (extents_[operand] == Extent::full) steps[s].full = full(operand);
            else if (extents_[operand] == Extent::one) steps[s].lanes = same[s].data();
            else
              steps[s].lanes =
                  static_cast<const float*>(inputs[operand]) + (by_image[operand] ? plane : block) * kLanes;
          }
          table.bf16_elements(full(first_), out + place, part.size(), steps.data(), static_cast<int>(steps_.size()));
        }
      });
}

}  // namespace ovir::fast
