// A fuzz target: must come back, whatever the input, and abort where the library breaks a promise.
#pragma once
#include <string_view>

void fuzz_one(std::string_view input);

/// Stops the process with what was promised; the driver has the input.
[[noreturn]] void broken(std::string_view promise);

inline void promise(bool kept, std::string_view what) {
  if (!kept) broken(what);
}
