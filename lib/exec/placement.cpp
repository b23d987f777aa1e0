#include "exec/placement.hpp"

#include <algorithm>
#include <ranges>

#include "base/checked.hpp"
#include "diag/diagnostic.hpp"
#include "tensor/blocked.hpp"

namespace ovir {
namespace {

class Placer {
 public:
  Placer(const Plan& plan, std::span<const PlacedStep> steps, std::span<const std::optional<Shape>> shapes)
      : plan_(plan), steps_(steps), shapes_(shapes), spots_(plan.values.size()), last_use_(plan.values.size(), -1) {
    result_.overwrites.assign(steps.size(), -1);
    for (int s = 0; s < std::ssize(steps); ++s)
      for (const auto id : plan.steps[s].inputs) last_use_[id] = s;
    needed_until_ = last_use_;
    for (auto& s : needed_until_)
      if (s >= 0) s = steps[s].last;
    for (const auto id : plan.results) last_use_[id] = needed_until_[id] = static_cast<int>(steps.size());
  }

  Placement run() {
    for (int s = 0; s < std::ssize(steps_); ++s)
      if (steps_[s].planned) place_outputs(s);
    std::vector<Block> blocks;
    std::vector<int> block_of(groups_.size(), -1);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto& group = groups_[g];
      if (group.values.empty()) continue;  // joined to another
      block_of[g] = static_cast<int>(blocks.size());
      blocks.push_back({(std::max<i64>(group.bytes, 1) + 63) / 64 * 64, group.begin, group.end, 0});
    }
    std::vector<int> scratch_of(steps_.size(), -1);
    for (int s = 0; s < std::ssize(steps_); ++s) {
      if (steps_[s].scratch_bytes == 0) continue;
      scratch_of[s] = static_cast<int>(blocks.size());
      blocks.push_back({steps_[s].scratch_bytes, s, s, 0});
    }
    result_.bytes = lay_out(blocks);
    for (const auto block : scratch_of) result_.scratch.push_back(block < 0 ? -1 : blocks[block].offset);
    for (const auto& spot : spots_) {
      const auto block = spot.group < 0 ? -1 : block_of[spot.group];
      result_.offsets.push_back(block < 0 ? -1 : blocks[block].offset + spot.offset);
    }
    return std::move(result_);
  }

 private:
  /// Values that lie in one stretch, at given offsets.
  struct Group {
    i64 bytes = 0;
    int begin = 0, end = 0;  // the first and the last step that need it
    int last_use = 0;        // the last step that reads it
    std::vector<int> values;
  };
  struct Spot {
    int group = -1;
    i64 offset = 0;
  };

  i64 bytes_of(int id) const { return stored_bytes(plan_.value(id), *shapes_[id]); }
  bool is_result(int id) const { return plan_.value(id).result; }

  void join(int id, Spot spot) {
    spots_[id] = spot;
    auto& group = groups_[spot.group];
    group.values.push_back(id);
    group.end = std::max(group.end, needed_until_[id]);
    group.last_use = std::max(group.last_use, last_use_[id]);
  }

  void open(int id, int step) {
    groups_.push_back({bytes_of(id), steps_[step].first, steps_[step].last, step, {}});
    join(id, {static_cast<int>(groups_.size()) - 1, 0});
  }

  void place_outputs(int s) {
    const auto& step = plan_.steps[s];
    const auto& how = steps_[s];
    if (how.view) {
      const auto& from = spots_[step.inputs[0]];
      if (from.group >= 0) join(step.outputs[0], from);
      return;
    }
    for (int o = 0; o < std::ssize(step.outputs); ++o) {
      const auto id = step.outputs[o];
      if (is_result(id)) continue;
      if (how.kernel && (lies_in_input(s, o) || (o == 0 && lies_over_input(s)))) continue;
      open(id, s);
      if (o == 0 && how.kernel) take_in_inputs(s);
    }
  }

  /// A part of a Split.
  bool lies_in_input(int s, int output) {
    const auto& step = plan_.steps[s];
    const auto at = steps_[s].kernel->place_in_input(output, steps_[s].sizes);
    const auto whole = step.inputs.empty() ? Spot{} : spots_[step.inputs[0]];
    if (!at || whole.group < 0) return false;
    join(step.outputs[output], {whole.group, whole.offset + *at});
    return true;
  }

  /// As many elements of as many bytes: an input of fewer, wider ones is read again and again.
  bool lie_alike(int a, int b) const {
    return bytes_of(a) == bytes_of(b) && shapes_[a]->count() == shapes_[b]->count();
  }

  /// An output that takes the place of an input that nobody needs any more, and nothing else that lies there.
  bool lies_over_input(int s) {
    const auto& step = plan_.steps[s];
    const auto& kernel = *steps_[s].kernel;
    for (int i = 0; i < std::ssize(step.inputs); ++i) {
      const auto id = step.inputs[i];
      const auto spot = spots_[id];
      if (spot.group < 0 || groups_[spot.group].last_use != s || !lie_alike(id, step.outputs[0])) continue;
      // All operands that lie there must be this value, and may be written over: x · W + x may not.
      const auto stands_in_the_way = [&](int j) {
        return spots_[step.inputs[j]].group == spot.group && (step.inputs[j] != id || !kernel.writes_over(j));
      };
      if (std::ranges::any_of(std::views::iota(0, static_cast<int>(step.inputs.size())), stands_in_the_way)) continue;
      result_.overwrites[s] = i;
      join(step.outputs[0], spot);
      return true;
    }
    return false;
  }

  /// The parts of a Concat move into the whole, where they lie alone so far.
  void take_in_inputs(int s) {
    const auto& step = plan_.steps[s];
    const auto whole = spots_[step.outputs[0]];
    for (int i = 0; i < std::ssize(step.inputs); ++i) {
      const auto at = steps_[s].kernel->place_in_output(i, steps_[s].sizes);
      const auto part = spots_[step.inputs[i]];
      if (!at || part.group < 0 || part.group == whole.group || part.offset != 0 ||
          groups_[part.group].bytes != bytes_of(step.inputs[i]))
        continue;
      auto moved = std::move(groups_[part.group]);
      groups_[part.group] = {};
      auto& group = groups_[whole.group];
      group.begin = std::min(group.begin, moved.begin);
      group.end = std::max(group.end, moved.end);
      group.last_use = std::max(group.last_use, moved.last_use);
      for (const auto id : moved.values) {
        spots_[id] = {whole.group, spots_[id].offset + whole.offset + *at};
        group.values.push_back(id);
      }
    }
  }

  const Plan& plan_;
  std::span<const PlacedStep> steps_;
  std::span<const std::optional<Shape>> shapes_;
  std::vector<Spot> spots_;                   // by value
  std::vector<int> last_use_, needed_until_;  // by value
  std::vector<Group> groups_;
  Placement result_;
};

}  // namespace

i64 stored_bytes(const Value& value, const Shape& shape) {
  auto stored = shape;
  if (value.layout == Layout::blocked) {
    const auto block = block_channels(value.stored);
    stored[1] = (stored[1] + block - 1) / block * block;
  }
  const auto bytes = checked_mul(stored.count(), byte_width(value.stored));
  if (!bytes || *bytes > i64{1} << 60)
    fail(Code::E0003, "a tensor {}{} is too large", name(value.stored), to_string(shape));
  return *bytes;
}

Shape stored_shape(const Value& value, const Shape& shape) {
  return value.layout == Layout::blocked ? Shape{stored_bytes(value, shape) / byte_width(value.stored)} : shape;
}

Placement place(const Plan& plan, std::span<const PlacedStep> steps, std::span<const std::optional<Shape>> shapes) {
  return Placer(plan, steps, shapes).run();
}

}  // namespace ovir
