// The files that a target hands to the library: kept in memory, for a target runs many thousand times a second.
#pragma once
#include <string>
#include <string_view>

#include "harness/memory_file.hpp"

/// Where `xml` can be read as a file.
inline const std::string& model_file(std::string_view xml) {
  static MemoryFile file;
  file.fill(xml);
  return file.path();
}

/// A .bin of small numbers, whatever the integer type: as axes, shapes and lengths they often make sense.
inline std::string small_numbers() {
  std::string weights(1 << 16, '\0');
  for (std::size_t i = 0; i < weights.size(); i += 8) weights[i] = static_cast<char>(i / 8 % 5);
  return weights;
}
inline const std::string& weights_file() {
  static const MemoryFile file(small_numbers());
  return file.path();
}
