// Attributes of an operation as a table: parsing, printing, defaults, diagnostics, `ovir ops` and coverage all read it.
//
//   struct Attrs { i64 axis = 0; Mode mode{}; };
//   constexpr auto kAttrs = attributes<Attrs, Attr<"axis", &Attrs::axis, kRequired>, Attr<"mode", &Attrs::mode>>;
//
// An enumeration that is an attribute has its words in a function beside it, found by argument-dependent lookup:
//
//   enum class Mode { constant, edge };
//   constexpr auto words(Mode) { return std::to_array<Word<Mode>>({{"constant", Mode::constant}, …}); }
//
// A type that is made of a text (the equation of Einsum) parses itself, or throws AttributeError, and prints itself:
//
//   struct Equation { static Equation parse(std::string_view); std::string print() const; … };
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.hpp"
#include "tensor/dim.hpp"
#include "tensor/element_type.hpp"

namespace ovir {

/// Why the text of an attribute, or of an element of a list, was refused: what it must do ("be an integer"), and what
/// came. `domain` is set where the text is well-formed but names nothing that exists; `meant` is then the word that it
/// was probably meant to be.
struct AttributeError : std::runtime_error {
  AttributeError(std::string requirement, std::string given, bool outside_domain = false, std::string near = {})
      : runtime_error(fmt::format("must {}, but is {}", requirement, given)),
        must(std::move(requirement)),
        came(std::move(given)),
        domain(outside_domain),
        meant(std::move(near)) {}
  std::string must, came;
  bool domain;
  std::string meant;
  std::optional<std::size_t> entry;  ///< of a list
};

/// One word of an enumeration. A value may have several; the first is the one that is printed.
template <class E>
using Word = std::pair<std::string_view, E>;

/// What the text of an attribute, or of each element of a list, stands for.
enum class AttributeKind : std::uint8_t { boolean, integer, number, text, element_type, shape, word };
/// "boolean", "int", "float", "string", "element type", "shape", "enum", as the specifications call them.
std::string_view name(AttributeKind);

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
concept ParsedAttribute = requires(const T& t, std::string_view text) {
  T::parse(text);
  t.print();
};
template <class T>
concept OptionalAttribute = std::is_same_v<T, std::optional<typename T::value_type>>;

template <class E, E... Only>
constexpr bool is_one_of([[maybe_unused]] E value) {
  return sizeof...(Only) == 0 || ((value == Only) || ...);
}

/// The words of an enumeration, in order; of the values `Only`, where some are given.
template <class E, E... Only>
inline constexpr auto kWords = [] {
  constexpr auto table = words(E{});
  constexpr auto taken = [](const Word<E>& w) { return is_one_of<E, Only...>(w.second); };
  std::array<std::string_view, std::count_if(table.begin(), table.end(), taken)> list;
  auto to = list.begin();
  for (const auto& w : table)
    if (taken(w)) *to++ = w.first;
  return list;
}();

bool parse_boolean(std::string_view);
ElementType parse_type(std::string_view);
PartialShape parse_partial_shape(std::string_view);
std::string quoted(std::string_view);
[[noreturn]] void fail_integer(std::string_view, bool is_signed, std::size_t bits);
[[noreturn]] void fail_number(std::string_view);
[[noreturn]] void fail_word(std::string_view, std::span<const std::string_view> words);
[[noreturn]] void fail_attrs(const std::type_info* made, const std::type_info& asked);

template <class E, E... Only>
E parse_word(std::string_view s) {
  for (const auto& [word, value] : words(E{}))
    if (is_one_of<E, Only...>(value) && equals_ignoring_case(word, s)) return value;
  fail_word(s, kWords<E, Only...>);
}

/// `Only`: of an enumeration, the values that may be meant; none: all.
template <class T, auto... Only>
T parse_attribute(std::string_view text) {
  const auto s = trim(text);
  if constexpr (std::is_same_v<T, bool>) {
    return parse_boolean(s);
  } else if constexpr (std::is_integral_v<T>) {
    if (const auto n = parse_number<T>(s)) return *n;
    fail_integer(s, std::is_signed_v<T>, 8 * sizeof(T));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (const auto n = parse_number<T>(s)) return *n;
    if (const auto n = parse_number<double>(s)) return static_cast<T>(*n);  // out of the type's range: infinity or 0
    fail_number(s);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return std::string(text);
  } else if constexpr (ParsedAttribute<T>) {
    return T::parse(text);
  } else if constexpr (std::is_same_v<T, ElementType>) {
    return parse_type(s);
  } else if constexpr (std::is_same_v<T, PartialShape>) {
    return parse_partial_shape(s);
  } else if constexpr (EnumAttribute<T>) {
    return parse_word<T, Only...>(s);
  } else if constexpr (ListAttribute<T>) {
    T list;
    for (const auto part : split(s, ',')) {
      try {
        list.push_back(parse_attribute<typename T::value_type>(part));
      } catch (AttributeError& error) {
        error.entry = list.size();
        throw;
      }
    }
    return list;
  } else {
    return parse_attribute<typename T::value_type>(text);  // std::optional
  }
}

/// What parse_attribute reads as `value`; nothing for a std::optional without a value: such an attribute is left out.
template <class T>
std::optional<std::string> print_attribute(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (ParsedAttribute<T>) {
    return value.print();
  } else if constexpr (std::is_same_v<T, ElementType>) {
    return std::string(name(value));
  } else if constexpr (std::is_same_v<T, PartialShape>) {
    return attribute_text(value);
  } else if constexpr (EnumAttribute<T>) {
    for (const auto& [word, of] : words(T{}))
      if (of == value) return std::string(word);
    throw std::logic_error("an enumeration holds a value that has no word");
  } else if constexpr (ListAttribute<T>) {
    std::string list;
    for (std::size_t i = 0; i < value.size(); ++i)
      list += (i == 0 ? "" : ",") + print_attribute<typename T::value_type>(value[i]).value();
    return list;
  } else {
    return value ? print_attribute(*value) : std::nullopt;
  }
}

template <class T>
constexpr AttributeKind attribute_kind() {
  if constexpr (std::is_same_v<T, bool>) return AttributeKind::boolean;
  else if constexpr (std::is_integral_v<T>) return AttributeKind::integer;
  else if constexpr (std::is_floating_point_v<T>) return AttributeKind::number;
  else if constexpr (std::is_same_v<T, std::string> || ParsedAttribute<T>) return AttributeKind::text;
  else if constexpr (std::is_same_v<T, ElementType>) return AttributeKind::element_type;
  else if constexpr (std::is_same_v<T, PartialShape>) return AttributeKind::shape;
  else if constexpr (EnumAttribute<T>) return AttributeKind::word;
  else return attribute_kind<typename T::value_type>();  // of a list or std::optional
}

template <class T>
constexpr bool is_list() {
  if constexpr (OptionalAttribute<T>) return is_list<typename T::value_type>();
  else return ListAttribute<T>;
}

template <class T, auto... Only>
constexpr std::span<const std::string_view> attribute_words() {
  if constexpr (EnumAttribute<T>) return kWords<T, Only...>;
  else if constexpr (ListAttribute<T> || OptionalAttribute<T>) return attribute_words<typename T::value_type>();
  else return {};
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
  AttributeKind kind{};
  bool list = false;                                          ///< any number of `kind`, separated by commas
  std::span<const std::string_view> words{};                  ///< of AttributeKind::word: all that it may be
  void (*set)(void* attrs, std::string_view text) = nullptr;  ///< throws AttributeError
  /// The member as text that `set` reads; nothing where it has no value.
  std::optional<std::string> (*print)(const void* attrs) = nullptr;
};

/// The attributes of an operation's version. `make` makes their struct, with the defaults; who holds it as a void*
/// reads it with `as`.
struct AttributeTable {
  std::span<const AttributeDef> defs;
  std::shared_ptr<void> (*make)() = nullptr;
  const std::type_info* type = nullptr;  ///< of what make() makes

  /// Throws std::logic_error where `attrs` is null, or make() makes no A.
  template <class A>
  const A& as(const void* attrs) const {
    if (attrs == nullptr || type == nullptr || *type != typeid(A)) detail::fail_attrs(type, typeid(A));
    return *static_cast<const A*>(attrs);
  }
  /// Null where there is none of that name.
  const AttributeDef* find(std::string_view name) const;
  /// The value of an attribute that a file leaves out, as it would spell it; nothing where it then has none.
  std::optional<std::string> default_of(const AttributeDef&) const;
  /// `text` as `print` spells what it is read as; nothing where it is refused.
  std::optional<std::string> as_read(const AttributeDef&, std::string_view text) const;
};

/// `Only`: of an enumeration, the values that this version takes; none: all.
template <detail::Literal Name, auto Member, Presence P = kOptional, auto... Only>
struct Attr {
  using owner = typename detail::MemberOf<decltype(Member)>::owner;
  using type = typename detail::MemberOf<decltype(Member)>::type;
  static constexpr auto name = Name;
  static constexpr AttributeDef def{
      .name = std::string_view(name),
      .presence = P,
      .kind = detail::attribute_kind<type>(),
      .list = detail::is_list<type>(),
      .words = detail::attribute_words<type, Only...>(),
      .set = [](void* a,
                std::string_view t) { static_cast<owner*>(a)->*Member = detail::parse_attribute<type, Only...>(t); },
      .print = [](const void* a) { return detail::print_attribute(static_cast<const owner*>(a)->*Member); }};
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
    detail::AttributeStore<A...>::defs, [] { return std::shared_ptr<void>(std::make_shared<Attrs>()); },
    &typeid(Attrs)};

}  // namespace ovir
