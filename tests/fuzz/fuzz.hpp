// A fuzz target: must come back, whatever the input, and abort where the library breaks a promise.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "diag/diagnostic.hpp"

void fuzz_one(std::string_view input);

/// Stops the process with what was promised; the driver has the input.
[[noreturn]] void broken(std::string_view promise);

inline void promise(bool kept, std::string_view what) {
  if (!kept) broken(what);
}

/// A copy on the heap, so that AddressSanitizer sees who reads beyond its end.
inline ovir::Bytes heap_bytes(std::string_view input) {
  const auto bytes = std::as_bytes(std::span(input));
  const auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  return {copy, *copy};
}

/// Calls `work`; a Failure is the one exception that it may throw, with a code and a message.
template <class Work>
bool accepted(Work&& work) {
  try {
    work();
    return true;
  } catch (const ovir::Failure& failure) {
    promise(!failure.diagnostic.message.empty(), "a fault has a message");
    return false;
  }
}
