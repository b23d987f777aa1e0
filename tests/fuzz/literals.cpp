// The words of -i NAME=VALUE that are no files: literals, generators, sizes.
#include "fuzz.hpp"
#include "io/generate.hpp"
#include "io/image.hpp"
#include "io/literal.hpp"

using namespace ovir;

namespace {
constexpr ElementType kTypes[] = {ElementType::f32, ElementType::i8,      ElementType::u64,
                                  ElementType::f16, ElementType::boolean, ElementType::string};
}

void fuzz_one(std::string_view input) {
  if (input.find('@') != input.npos) return;  // the name of a file
  accepted([&] {
    if (const auto tensor = io::parse_literal(input))
      promise(element_count(tensor->shape()) == tensor->size(), "a literal has as many elements as its shape says");
  });
  accepted([&] {
    if (const auto generator = io::parse_generator(input))
      for (const auto type : kTypes)
        accepted([&] { promise(io::generate(*generator, type, {2, 3}, 7).size() == 6, "a generator fills a shape"); });
  });
  io::parse_size(input);
}
