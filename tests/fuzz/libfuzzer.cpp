// With clang: fuzz_npy -dict=tests/fuzz/words/npy.dict NEW_CORPUS tests/fuzz/corpus/npy
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz.hpp"

void broken(std::string_view what) {
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz_one({reinterpret_cast<const char*>(data), size});
  return 0;
}
