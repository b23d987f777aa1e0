#include "image.hpp"

void fuzz_one(std::string_view input) { fuzz_image(input); }
