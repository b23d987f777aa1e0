// ShuffleChannels: an axis read as [group, length / group] and transposed.
// Spec: operation-sets/operation-specs/movement/shuffle-channels-1
#include "ops/movement/common.hpp"

namespace ovir::ops::shuffle_channels {
namespace {

enum Input { data };

using Attrs = ShuffleChannelsAttrs;

void infer(InferContext& c) {
  const auto& a = c.attrs<Attrs>();
  c.require_attr(a.group > 0, "group", "must be positive, but is {}", a.group);
  c.require_rank_at_least(data, 1);
  const auto& s = c.shape(data);
  if (s.has_rank()) {
    const auto& d = s[c.require_axis(a.axis, -1, s.rank())];
    c.require(movement::divided(d, a.group).has_value(), data, Code::E0506,
              "ShuffleChannels cannot divide an axis of length {1} into {0} groups", a.group, to_string(d));
  }
  c.output(0, s);
}

void eval(EvalContext& c) {
  const auto& a = c.attrs<Attrs>();
  const auto& from = c.in(data);
  const auto axis = movement::normalized(a.axis, from.rank());
  const auto& s = from.shape();
  const auto middle = s.begin() + axis;
  permute(from, {Shape(s.begin(), middle).count(), a.group, *middle / a.group, Shape(middle + 1, s.end()).count()},
          {0, 2, 1, 3}, c.out(0));
}

constexpr TypeVar T{"T", kAnyType};
constexpr PortDef kInputs[] = {{"data", T}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"axis", &Attrs::axis>, Attr<"group", &Attrs::group>>,
     .infer = infer,
     .eval = eval,
     .lift = Lift::moves},
};

}  // namespace

extern constinit const OpDef def{.type = "ShuffleChannels", .spec = "movement/shuffle-channels", .versions = kVersions};

}  // namespace ovir::ops::shuffle_channels
