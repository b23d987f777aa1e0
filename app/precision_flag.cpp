#include "precision_flag.hpp"

namespace ovir::app {

void add_precision(Flags& flags, std::string& to, const std::string& about) {
  flags.choice("--precision", to, {"f32", "declared", "bf16", "int8"}, "PRECISION",
               about.empty()
                   ? "compute narrower floats in f32, round every value to its declared type, compute products "
                     "and convolutions in bf16, or what FakeQuantize quantizes in int8"
                   : about);
}

Precision precision_from(const std::string& word) {
  if (word == "declared") return Precision::declared;
  if (word == "bf16") return Precision::bf16;
  return word == "int8" ? Precision::int8 : Precision::f32;
}

}  // namespace ovir::app
