// Attributes of an operation as a table: parsing, defaults, diagnostics, `ovir ops` and coverage all read it.
//
//   struct Attrs { std::int64_t axis = 0; Mode mode{}; };
//   constexpr auto kAttrs = attributes<Attrs, Attr<"axis", &Attrs::axis, kRequired>, Attr<"mode", &Attrs::mode>>;
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.hpp"
#include "tensor/dim.hpp"
#include "tensor/element_type.hpp"

namespace ovir {

/// Why an attribute's text was refused. `domain` is set where the text is well-formed but names nothing that exists;
/// `meant` is then the word it was meant to be, perhaps.
struct AttributeError : std::runtime_error {
  explicit AttributeError(const std::string& why, bool outside_domain = false, std::string near = {})
      : runtime_error(why), domain(outside_domain), meant(std::move(near)) {}
  bool domain;
  std::string meant;
};

/// Specialise for an enumeration that is an attribute: static constexpr std::pair<std::string_view, E> table[].
template <class E>
struct EnumNames;

namespace detail {

template <class T>
concept EnumAttribute = std::is_enum_v<T> && !std::is_same_v<T, ElementType>;
template <class T>
concept ListAttribute = requires(T& t) {
  typename T::value_type;
  t.push_back(std::declval<typename T::value_type>());
}
&&!std::is_same_v<T, std::string> && !std::is_same_v<T, PartialShape>;

template <class T>
T parse_attribute(std::string_view text) {
  const auto s = trim(text);
  if constexpr (std::is_same_v<T, bool>) {
    if (s == "1" || equals_ignoring_case(s, "true")) return true;
    if (s == "0" || equals_ignoring_case(s, "false")) return false;
    throw AttributeError(fmt::format("\"{}\" is not a boolean (true or false)", printable(s)));
  } else if constexpr (std::is_integral_v<T>) {
    if (const auto n = parse_number<T>(s)) return *n;
    if (is_integer(s))
      throw AttributeError(fmt::format("{} is {}", s,
                                       s.front() == '-' && !std::is_signed_v<T>
                                           ? "negative"
                                           : fmt::format("more than {} bits can hold", 8 * sizeof(T))));
    throw AttributeError(fmt::format("\"{}\" is not an integer", printable(s)));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (const auto n = parse_number<T>(s)) return *n;
    if (const auto n = parse_number<double>(s)) return static_cast<T>(*n);  // out of the type's range: infinity or 0
    throw AttributeError(fmt::format("\"{}\" is not a number", printable(s)));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return std::string(text);
  } else if constexpr (std::is_same_v<T, ElementType>) {
    if (const auto t = parse_element_type(s)) return *t;
    const auto near = nearest_element_type(s);
    throw AttributeError(fmt::format("\"{}\" is not an element type", printable(s)), true,
                         near ? std::string(name(*near)) : "");
  } else if constexpr (std::is_same_v<T, PartialShape>) {
    if (const auto shape = parse_shape(s)) return *shape;
    throw AttributeError(fmt::format("\"{}\" is not a shape: {}", printable(s), why_no_shape(s)));
  } else if constexpr (EnumAttribute<T>) {
    std::string list;
    std::vector<std::string_view> words;
    for (const auto& [word, value] : EnumNames<T>::table) {
      if (equals_ignoring_case(word, s)) return value;
      list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", word);
      words.push_back(word);
    }
    throw AttributeError(fmt::format("\"{}\" is {} {}", printable(s), words.size() == 1 ? "not" : "none of", list),
                         true, std::string(nearest(s, words).value_or("")));
  } else if constexpr (ListAttribute<T>) {
    T list;
    for (const auto part : split(s, ',')) list.push_back(parse_attribute<typename T::value_type>(part));
    return list;
  } else {
    return parse_attribute<typename T::value_type>(text);  // std::optional
  }
}

/// The word for an attribute's type in `ovir ops` and messages.
template <class T>
constexpr std::string_view attribute_type() {
  if constexpr (std::is_same_v<T, bool>) return "boolean";
  else if constexpr (std::is_integral_v<T>) return "int";
  else if constexpr (std::is_floating_point_v<T>) return "float";
  else if constexpr (std::is_same_v<T, std::string>) return "string";
  else if constexpr (std::is_same_v<T, ElementType>) return "element type";
  else if constexpr (std::is_same_v<T, PartialShape>) return "shape";
  else if constexpr (EnumAttribute<T>) return "enum";
  else if constexpr (ListAttribute<T>) {
    if constexpr (std::is_integral_v<typename T::value_type>) return "int[]";
    else if constexpr (std::is_floating_point_v<typename T::value_type>) return "float[]";
    else return "string[]";
  } else return attribute_type<typename T::value_type>();
}

template <class>
struct MemberOf;
template <class C, class M>
struct MemberOf<M C::*> {
  using owner = C;
  using type = M;
};

/// A string literal as a template argument.
template <std::size_t N>
struct Literal {
  char text[N]{};
  constexpr Literal(const char (&t)[N]) { std::copy_n(t, N, text); }     // NOLINT
  constexpr operator std::string_view() const { return {text, N - 1}; }  // NOLINT
};

}  // namespace detail

enum Presence : std::uint8_t { kOptional, kRequired };

struct AttributeDef {
  std::string_view name;
  Presence presence = kOptional;
  std::string_view type;                                      ///< "int[]", "enum", …
  void (*set)(void* attrs, std::string_view text) = nullptr;  ///< throws AttributeError
};

struct AttributeTable {
  std::span<const AttributeDef> defs;
  std::shared_ptr<void> (*make)() = nullptr;  ///< a struct of defaults
};

template <detail::Literal Name, auto Member, Presence P = kOptional>
struct Attr {
  using owner = typename detail::MemberOf<decltype(Member)>::owner;
  using type = typename detail::MemberOf<decltype(Member)>::type;
  static constexpr auto name = Name;
  static constexpr AttributeDef def{
      std::string_view(name), P, detail::attribute_type<type>(),
      [](void* a, std::string_view t) { static_cast<owner*>(a)->*Member = detail::parse_attribute<type>(t); }};
};

namespace detail {
template <class... A>
struct AttributeStore {
  static constexpr AttributeDef defs[] = {A::def...};
};
/// Defaults alone: a version without attributes whose functions are shared with one that has some.
template <>
struct AttributeStore<> {
  static constexpr std::span<const AttributeDef> defs{};
};
}  // namespace detail

template <class Attrs, class... A>
requires(std::is_same_v<Attrs, typename A::owner>&&...) inline constexpr AttributeTable attributes{
    detail::AttributeStore<A...>::defs, [] { return std::shared_ptr<void>(std::make_shared<Attrs>()); }};

}  // namespace ovir
