// Images: a decoded image has a size that its file can stand for, and becomes an input of any layout.
#pragma once
#include "fuzz.hpp"
#include "io/image.hpp"

inline void fuzz_image(std::string_view input) {
  using namespace ovir;
  accepted([&] {
    const auto image = io::parse_image(heap_bytes(input), "input");
    promise(image.type() == ElementType::u8 && image.rank() == 3, "an image is u8 [height, width, channels]");
    promise(image.dim(2) == 1 || image.dim(2) == 3, "an image has 1 or 3 channels");
    if (image.size() > 1 << 16) return;
    const auto small = io::resize_image(image, 3, 2);
    promise(small.dim(0) == 2 && small.dim(1) == 3, "an image is resized to the size that was asked for");
    accepted([&] { io::image_input(image, ElementType::f32, PartialShape{1, 3, Dim(), Dim()}, {}); });
  });
}
