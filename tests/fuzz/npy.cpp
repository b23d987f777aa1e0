// .npy files: what is read can be written, and reads as the same tensor.
#include "io/npy.hpp"

#include <algorithm>

#include "fuzz.hpp"
#include "io/storable.hpp"

using namespace ovir;

void fuzz_one(std::string_view input) {
  accepted([&] {
    const auto tensor = io::parse_npy(heap_bytes(input), "input");
    promise(tensor.byte_size() <= input.size() + (1 << 20) || tensor.type() == ElementType::string,
            "a tensor is no larger than its file");
    const auto again = io::parse_npy(heap_bytes(io::npy_bytes(tensor)), "again");
    promise(again.shape() == tensor.shape(), "what was read is written with its shape");
    promise(again.type() == io::storable(tensor).type(), "what was read is written with its type");
    if (tensor.type() == ElementType::string)
      promise(std::ranges::equal(again.values<std::string_view>(), tensor.values<std::string_view>()),
              "strings are written as they were read");
    else if (again.type() == tensor.type())
      promise(std::equal(again.bytes(), again.bytes() + again.byte_size(), tensor.bytes()),
              "elements are written as they were read");
  });
}
