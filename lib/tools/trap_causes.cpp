// What a layer did to its operands to give NaN or an infinity.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "tools/trap_finder.hpp"

namespace ovir::tools {
namespace {

struct Infix {
  std::string_view type, sign;
};
constexpr std::array kInfix{Infix{"Add", "+"},    Infix{"Subtract", "-"}, Infix{"Multiply", "*"},  Infix{"Divide", "/"},
                            Infix{"Power", "**"}, Infix{"Mod", "mod"},    Infix{"FloorMod", "mod"}};

/// "inf - inf", "log(-1)".
std::string in_words(std::string_view type, const std::vector<std::string>& operands) {
  const auto infix = std::find_if(kInfix.begin(), kInfix.end(), [&](const Infix& i) { return i.type == type; });
  if (infix != kInfix.end() && operands.size() == 2)
    return fmt::format("{} {} {}", operands[0], infix->sign, operands[1]);
  return fmt::format("{}({})", lower(type), fmt::join(operands, ", "));
}

/// Whether the operation has a pole there: x / 0, log(0).
bool is_pole(std::string_view type, const std::vector<double>& x) {
  if (type == "Divide" || type == "Mod" || type == "FloorMod") return x.size() == 2 && x[1] == 0;
  if (type == "Power") return x.size() == 2 && x[0] == 0 && x[1] < 0;
  if (type == "Log") return x.size() == 1 && x[0] == 0;
  if (type == "Atanh" || type == "ErfInv") return x.size() == 1 && std::abs(x[0]) == 1;
  return false;
}

std::string_view largest_of(ElementType type) {
  switch (type) {
    case ElementType::f64: return "1.7976931348623157e+308";
    case ElementType::f16: return "65504";
    case ElementType::bf16: return "3.3895314e+38";
    case ElementType::f8e4m3: return "448";
    case ElementType::f8e5m2: return "57344";
    default: return "3.4028235e+38";
  }
}

/// Of a layer that computes an element from many.
std::string words_for_many(const std::vector<double>& values, bool nan) {
  const auto number_of = [&](auto&& what) { return std::count_if(values.begin(), values.end(), what); };
  const auto infinite = number_of([](double v) { return std::isinf(v); });
  if (!nan) return infinite > 0 ? "an operand is infinite" : "the result of finite operands is too large";
  if (number_of([](double v) { return std::isnan(v); }) > 0) return "an operand is NaN";
  if (infinite > 0 && number_of([](double v) { return v == 0; }) > 0) return "0 * inf";
  // One alone would give an infinity: the signs of the terms differ.
  if (infinite > 1) return "inf - inf";
  return infinite > 0 ? "an operand is infinite" : "NaN from operands that are finite";
}

}  // namespace

std::optional<Judgment> judge(std::string_view type, const std::vector<double>& operands,
                              const std::vector<std::string>& texts, double result, ElementType declared) {
  const auto all = [&](auto&& what) { return std::all_of(operands.begin(), operands.end(), what); };
  if (std::isnan(result) ? !all([](double v) { return !std::isnan(v); })
                         : !all([](double v) { return std::isfinite(v); }))
    return std::nullopt;
  const auto words = in_words(type, texts);
  if (is_pole(type, operands)) return Judgment{Trap::div0, words};
  if (std::isnan(result)) return Judgment{Trap::domain, words + " is not a number"};
  const bool cast = operands.size() == 1 && type.starts_with("Convert");
  return Judgment{Trap::overflow, fmt::format("{} is beyond the largest {}, {}", cast ? texts[0] : words,
                                              name(declared), largest_of(declared))};
}

Reason reason_for(const Computed& layer, int port, i64 at) {
  const auto call = layer.call();
  const auto& out = layer.out[port];
  const auto result = element(out, at);
  if (const auto from = moved_from(call, port, out.shape(), at))
    if (const double v = element(call.in[from->port], from->at); std::isfinite(v) == std::isfinite(result))
      return {"", {*from}};
  const auto value = [&](const OperandElement& e) { return element(call.in[e.port], e.at); };
  if (const auto operands = port == 0 ? elementwise_operands(call, out, at) : std::nullopt) {
    std::vector<double> values;
    std::vector<std::string> texts;
    for (const auto& e : *operands) {
      values.push_back(value(e));
      texts.push_back(element_text(call.in[e.port], e.at));
    }
    const auto type = is_cast(layer.node()) ? layer.declared[port] : out.type();
    const auto judged = judge(layer.node().op->type, values, texts, result, type);
    return {judged ? judged->cause : "", *operands};
  }
  const bool nan = std::isnan(result);
  auto due_to = blamed(call, port, at, [nan](double v) { return nan ? std::isnan(v) : std::isinf(v); });
  std::vector<double> values;
  for (const auto& e : due_to) values.push_back(value(e));
  auto cause = due_to.empty() ? nan ? "NaN of many operands together" : "an infinity of many operands together"
                              : words_for_many(values, nan);
  return {std::move(cause), std::move(due_to)};
}

}  // namespace ovir::tools
