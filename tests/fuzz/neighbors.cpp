// Every case of the .spec files with one thing changed, each in turn: a length (two of them, where one becomes 0), an
// element type, an attribute, a number in a small input of integers. What the check then accepts must hold as it does
// for random nodes; see trial.hpp.
//
//   fuzz_neighbors [N]: every Nth of them
#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "fuzz.hpp"
#include "trial.hpp"

using namespace ovir;
using namespace fuzz;

void broken(std::string_view what) { throw std::logic_error(std::string(what)); }

namespace {

constexpr i64 kLargest = std::numeric_limits<i64>::max();

struct Tally {
  std::size_t every = 1, made = 0, runs = 0, failed = 0;

  void operator()(Trial n) {
    Choices choices("neighbor");
    if (made++ % every != 0) return;
    try {
      runs += judge(n, choices);
    } catch (const std::exception& error) {
      ++failed;
      fmt::print(stderr, "broken promise: {}\n\n", error.what());
    }
  }
};

struct Length {
  std::size_t input;
  i64 axis, length;
};

std::vector<Length> lengths_of(const Trial& n) {
  std::vector<Length> all;
  for (std::size_t i = 0; i < n.inputs.size(); ++i)
    for (i64 axis = 0; axis < n.inputs[i].shape.rank(); ++axis) all.push_back({i, axis, n.inputs[i].shape[axis]});
  return all;
}

/// With another length there or, `everywhere`, wherever the old one is.
Trial with(Trial n, const Length& at, i64 length, bool everywhere) {
  if (everywhere)
    for (auto& input : n.inputs) std::ranges::replace(input.shape, at.length, length);
  else n.inputs[at.input].shape[at.axis] = length;
  return n;
}

void other_lengths(const Trial& valid, Tally& judged) {
  const auto lengths = lengths_of(valid);
  for (const bool everywhere : {false, true})
    for (const auto& one : lengths) {
      for (const auto length : {i64{1}, one.length - 1, one.length + 1, 2 * one.length})
        if (length > 0 && length < 1 << 10) judged(with(valid, one, length, everywhere));
      const auto without = with(valid, one, 0, everywhere);
      judged(without);
      for (const auto& other : lengths) {
        if (&other == &one) continue;
        if (&other < &one) judged(with(without, other, 0, everywhere));
        judged(with(without, other, 1, everywhere));
      }
    }
}

void other_types(const Trial& valid, Tally& judged) {
  for (const auto& of : valid.inputs)
    for (int t = 0; t < kElementTypeCount; ++t) {
      const auto type = static_cast<ElementType>(t);
      if (type == of.type || type == ElementType::dynamic || !contains(of.domain, type)) continue;
      auto n = valid;
      for (auto& input : n.inputs)
        if (input.variable == of.variable) input.type = type;
      judged(std::move(n));
    }
}

/// Values of one element that an attribute may be given.
std::vector<std::string> texts_of(const AttributeDef& def) {
  switch (def.kind) {
    case AttributeKind::boolean: return {"true", "false"};
    case AttributeKind::integer: return {"-2", "-1", "0", "1", "2", "3", "5", "1000000", std::to_string(kLargest)};
    case AttributeKind::number: return {"-1", "0", "0.5", "1", "3", "1e30", "nan", "inf"};
    case AttributeKind::word: return {def.words.begin(), def.words.end()};
    case AttributeKind::element_type: return {"f16", "f32", "i32", "i64", "u8", "boolean", "string", "dynamic"};
    case AttributeKind::shape: return {"", "0", "1", "2,3", "?,1..4", "..."};
    case AttributeKind::text: return {"", "x"};
  }
  return {};
}

std::vector<std::string> elements_of(const std::string& list) {
  std::vector<std::string> elements;
  for (std::size_t begin = 0; begin < list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    elements.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return elements;
}

void other_attributes(const Trial& valid, Tally& judged) {
  for (const auto& def : valid.version->attrs.defs) {
    const auto given = std::ranges::find(valid.attributes, def.name, &std::pair<std::string, std::string>::first);
    const auto is_given = given != valid.attributes.end();
    const auto with_text = [&](const std::string& text) {
      auto n = valid;
      if (is_given) n.attributes[static_cast<std::size_t>(given - valid.attributes.begin())].second = text;
      else n.attributes.emplace_back(def.name, text);
      judged(std::move(n));
    };
    if (is_given && def.presence != kRequired) {
      auto n = valid;
      n.attributes.erase(n.attributes.begin() + (given - valid.attributes.begin()));
      judged(std::move(n));
    }
    for (const auto& text : texts_of(def)) {
      if (!def.list) {
        with_text(text);
        continue;
      }
      auto elements = is_given ? elements_of(given->second) : std::vector<std::string>{"0"};
      for (auto& element : elements) {
        const auto old = std::exchange(element, text);
        with_text(fmt::format("{}", fmt::join(elements, ",")));
        element = old;
      }
      elements.push_back(text);
      with_text(fmt::format("{}", fmt::join(elements, ",")));
    }
    if (def.list && is_given) {
      with_text("");
      with_text(given->second.substr(0, given->second.rfind(',')));
    }
  }
}

void other_numbers(const Trial& valid, Tally& judged) {
  constexpr i64 kMaxElements = 8;
  for (std::size_t i = 0; i < valid.inputs.size(); ++i) {
    const auto& input = valid.inputs[i];
    if (!input.value || !contains(kInteger, input.type) || input.value.size() > kMaxElements) continue;
    const auto numbers = to_f64(input.value);
    for (std::size_t k = 0; k < numbers.size(); ++k)
      for (const auto other :
           {-9.2e18, -2147483648.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 2147483647.0, 9.2e18}) {
        auto n = valid;
        auto changed = numbers;
        changed[k] = other;
        n.inputs[i].value = convert(Tensor::of<double>(ElementType::f64, input.shape, changed), input.type);
        judged(std::move(n));
      }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Tally judged{argc > 1 ? std::stoul(argv[1]) : 1};
  for (const auto& c : cases()) {
    const auto valid = trial_of(c);
    other_lengths(valid, judged);
    other_types(valid, judged);
    other_attributes(valid, judged);
    other_numbers(valid, judged);
  }
  fmt::print("{} nodes, 1 in {} tried, {} runs of valid ones, {} broken promises\n", judged.made, judged.every,
             judged.runs, judged.failed);
  return judged.failed == 0 && judged.runs > 0 ? 0 : 1;
}
