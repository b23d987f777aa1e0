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

/// An input that is a model and, behind it, its weights; without them those of weights_file().
struct ModelWithWeights {
  std::string_view xml, bin;

  explicit ModelWithWeights(std::string_view input) {
    const auto end = input.rfind("</net>");
    xml = input.substr(0, end == input.npos ? end : end + 6);
    bin = input.substr(xml.size());
  }
  const std::string& weights() const {
    static MemoryFile file;
    file.fill(bin);
    return bin.empty() ? weights_file() : file.path();
  }
};
