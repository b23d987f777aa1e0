// ONNX TensorProtos.
#include "fuzz.hpp"
#include "io/onnx.hpp"

using namespace ovir;

void fuzz_one(std::string_view input) {
  accepted([&] {
    const auto tensor = io::parse_onnx(heap_bytes(input), "input");
    promise(element_count(tensor.shape()) == tensor.size(), "a tensor has as many elements as its shape says");
  });
}
