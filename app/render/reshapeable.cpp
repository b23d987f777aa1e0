#include "render/reshapeable.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "render/diagnostics.hpp"
#include "render/json.hpp"

namespace ovir::app {
namespace {

using tools::AxisRange;
using tools::InputAxis;
using tools::Lengths;
using tools::Reshapeable;

/// "1..4, 8, 16"
std::string runs(const std::vector<i64>& list) {
  std::string out;
  for (i64 i = 0; i < std::ssize(list);) {
    i64 n = 1;
    while (i + n < std::ssize(list) && list[i + n] == list[i] + n) ++n;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", list[i]);
    if (n > 1) out += fmt::format("{}{}", n > 2 ? ".." : ", ", list[i + n - 1]);
    i += n;
  }
  return out;
}

std::string words(const Lengths& l) {
  std::string out;
  if (l.irregular()) out = fmt::format("of {}..{}: {}", l.from, l.to, runs(l.also));
  else if (l.max == l.min) out = fmt::format("only {}{}", l.also.empty() ? "" : runs(l.also) + " or ", l.min);
  else if (l.step == 1)
    out = l.max ? fmt::format("{}..{}", l.min, *l.max) : l.min <= 1 ? "any length" : fmt::format("{}..", l.min);
  else out = fmt::format("{}..{} in steps of {}", l.min, l.max ? std::to_string(*l.max) : "", l.step);
  if (!l.irregular() && l.max != l.min && !l.also.empty()) out += ", and " + runs(l.also);
  return l.cut ? out + " (not all lengths were tried)" : out;
}

/// The lengths of another axis that changes by as much.
Lengths moved(Lengths l, i64 by) {
  l.base += by;
  l.min += by;
  l.from += by;
  l.to += by;
  if (l.max) *l.max += by;
  for (auto& n : l.also) n += by;
  return l;
}

class Writer {
 public:
  Writer(const Model& m, const Reshapeable& f, const std::string& path) : model(m), found(f), places(path) {}

  const Model& model;
  const Reshapeable& found;
  Places places;

  i64 base(const InputAxis& a) const { return found.inputs[a.input].tried[a.axis].length(); }
  const Dim& given(const InputAxis& a) const { return found.inputs[a.input].shape[a.axis]; }
  std::string name(int input) const { return fmt::format("\"{}\"", printable(model.parameter_name(input))); }

  // --- for people

  std::string list(const std::vector<InputAxis>& axes) const {
    std::string out;
    for (const auto& a : axes) {
      out += fmt::format("{}{} axis {}", out.empty() ? "" : ", ", name(a.input), a.axis);
      if (base(a) != base(axes[0]))
        out +=
            fmt::format(" ({} {})", std::abs(base(a) - base(axes[0])), base(a) > base(axes[0]) ? "longer" : "shorter");
    }
    return out;
  }

  std::string words_of(const AxisRange& axis) const {
    if (!axis.tried) return found.complete ? "not tried: no accepted length was found" : "not tried";
    if (!axis.together) return words(axis.lengths);
    const auto& joint = found.together[*axis.together];
    std::string others;
    for (const auto& a : joint.axes)
      if (!(a == axis.axes[0]))
        others += fmt::format("{}{} axis {}", others.empty() ? "" : ", ", name(a.input), a.axis);
    const auto alone = axis.lengths.only_base() ? "only" : words(axis.lengths) + " alone,";
    const auto lengths = moved(joint.lengths, base(axis.axes[0]) - base(joint.axes[0]));
    return fmt::format("{} together with {}: {}", alone, others, words(lengths));
  }

  /// A line for every refused length next to the accepted ones; each reason of a layer once.
  std::string refusals(const AxisRange& range, const Style& style) {
    std::string out;
    std::vector<const Diagnostic*> reasons;
    for (const auto* refusal : {&range.above, &range.below, &range.between}) {
      if (!*refusal) continue;
      const auto& d = (*refusal)->why;
      const auto same = [&](const Diagnostic* other) {
        return other->code == d.code && other->at.offset == d.at.offset;
      };
      if (std::any_of(reasons.begin(), reasons.end(), same)) continue;
      reasons.push_back(&d);
      const auto layer = d.layer ? describe(*d.layer) + " at " : "";
      out += fmt::format("      {}: {}{}: {} {}\n", (*refusal)->length, layer, places.text(d.at),
                         style(Paint::error, to_string(d.code)), d.message);
    }
    return out;
  }

  std::string text(const Style& style) {
    std::string out;
    for (int k = 0; k < std::ssize(found.inputs); ++k) {
      const auto& input = found.inputs[k];
      out += style(Paint::bold,
                   fmt::format("input {} {} {}{}", k, name(k), ovir::name(input.type), to_string(input.shape)));
      if (!(input.tried == input.shape)) out += fmt::format(", tried as {}", to_string(input.tried));
      out += !input.shape.has_rank() ? "\n  any rank: not tried\n" : input.shape.rank() == 0 ? "\n  no axes\n" : "\n";
      std::size_t width = 0;
      for (const auto& d : input.shape) width = std::max(width, to_string(d).size());
      for (const auto& axis : found.axes) {
        if (axis.axes[0].input != k) continue;
        const auto& a = axis.axes[0];
        out += fmt::format("  axis {}: {:<{}}  {}\n", a.axis, to_string(given(a)), width, words_of(axis)) +
               refusals(axis, style);
      }
    }
    if (!found.together.empty()) out += style(Paint::bold, "together") + "\n";
    for (const auto& joint : found.together)
      out += fmt::format("  {}: {}\n", list(joint.axes), words(joint.lengths)) + refusals(joint, style);
    return out;
  }

  // --- for programs

  Json refusal(const std::optional<tools::Refusal>& r) {
    if (!r) return nullptr;
    const auto& d = r->why;
    Json out{{"length", r->length}, {"code", to_string(d.code)}, {"message", d.message}, {"layer", nullptr}};
    if (const auto& at = d.layer)
      out["layer"] = {
          {"id", id_json(at->id)}, {"name", at->path + at->name}, {"type", at->type}, {"version", at->version}};
    const auto place = places(d.at);
    out["file"] = place.file;
    if (place.line > 0) {
      out["line"] = place.line;
      out["column"] = place.column;
    }
    return out;
  }

  void add_range(Json& to, const AxisRange& range) {
    const auto& l = range.lengths;
    to["tried"] = range.tried;
    if (!range.tried) return;
    to["complete"] = !l.cut;
    to["min"] = l.min;
    to["max"] = l.max ? Json(*l.max) : Json(nullptr);
    to["step"] = l.irregular() || l.max == l.min ? Json(nullptr) : Json(l.step);
    if (!l.also.empty()) to["lengths"] = l.also;
    if (l.irregular()) to["searched"] = {l.from, l.to};
    to["below"] = refusal(range.below);
    to["above"] = refusal(range.above);
    to["between"] = refusal(range.between);
  }

  Json json(const std::string& path, bool weights) {
    Json inputs = Json::array(), together = Json::array();
    for (int k = 0; k < std::ssize(found.inputs); ++k) {
      const auto& input = found.inputs[k];
      Json axes = Json::array();
      for (const auto& axis : found.axes) {
        const auto& a = axis.axes[0];
        if (a.input != k) continue;
        Json entry{{"axis", a.axis}, {"length", given(a).is_static() ? Json(given(a).length()) : Json(nullptr)}};
        if (!given(a).is_static() && axis.tried) entry["tried_as"] = base(a);
        add_range(entry, axis);
        if (axis.together) entry["together"] = *axis.together;
        axes.push_back(std::move(entry));
      }
      inputs.push_back({{"index", k},
                        {"name", model.parameter_name(k)},
                        {"element_type", ovir::name(input.type)},
                        {"shape", to_string(input.shape)},
                        {"axes", std::move(axes)}});
    }
    for (const auto& joint : found.together) {
      Json entry{{"axes", Json::array()}};
      for (const auto& a : joint.axes)
        entry["axes"].push_back({{"input", a.input}, {"axis", a.axis}, {"longer", base(a) - base(joint.axes[0])}});
      add_range(entry, joint);
      together.push_back(std::move(entry));
    }
    return {{"schema", 1},
            {"model", path},
            {"complete", found.complete},
            {"weights", weights},
            {"inputs", std::move(inputs)},
            {"together", std::move(together)}};
  }
};

}  // namespace

std::string reshapeable_text(const Model& model, const Reshapeable& found, const std::string& path, bool weights,
                             const Style& style) {
  auto out = Writer(model, found, path).text(style);
  const auto note = [&](std::string_view text) { out += fmt::format("{} {}\n", style(Paint::note, "note:"), text); };
  if (found.inputs.empty()) out += "the model has no inputs\n";
  if (!found.complete)
    note(
        "the model is too large to try everything: incomplete axes are marked, and some axes that may change together "
        "may be missing");
  if (!weights) note("without the weights, layers whose shapes depend on constants accept everything");
  return out;
}

std::string reshapeable_json(const Model& model, const Reshapeable& found, const std::string& path, bool weights) {
  return json_text(Writer(model, found, path).json(path, weights), 5);
}

}  // namespace ovir::app
