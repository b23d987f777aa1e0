// Files spelled out in a test.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "diag/diagnostic.hpp"

/// The bytes that the hexadecimal digits of `text` stand for.
inline std::string from_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return bytes;
}

/// As if mapped: 64-byte aligned.
inline ovir::Bytes as_file(std::string_view text) {
  auto storage = ovir::allocate(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) storage.get()[i] = static_cast<std::byte>(text[i]);
  const std::span<const std::byte> view(storage.get(), text.size());
  return {std::move(storage), view};
}

/// The code of the Failure that `f` throws, as text; "none" where it throws none.
template <class F>
std::string code_of(F f) {
  try {
    f();
  } catch (const ovir::Failure& failure) {
    return ovir::to_string(failure.diagnostic.code);
  }
  return "none";
}
