// PNG, and PGM and PPM. Checksums of a mutated PNG are made right, so that what lies behind them is reached.
#include <zlib.h>

#include <cstdint>
#include <string>

#include "image.hpp"

namespace {

std::uint32_t big_endian(const std::string& file, std::size_t at) {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(file[at + i]);
  return n;
}

std::string with_checksums(std::string file) {
  std::size_t at = 8;  // behind the signature: length, type, data, checksum of type and data
  while (at + 12 <= file.size()) {
    const std::size_t length = big_endian(file, at);
    if (length > file.size() - at - 12) break;
    const auto* const begin = reinterpret_cast<const Bytef*>(file.data() + at + 4);
    const auto sum = ::crc32(0, begin, static_cast<uInt>(length + 4));
    for (std::size_t i = 0; i < 4; ++i) file[at + 8 + length + i] = static_cast<char>(sum >> (24 - 8 * i));
    at += length + 12;
  }
  return file;
}

}  // namespace

void fuzz_one(std::string_view input) {
  fuzz_image(input);
  fuzz_image(with_checksums(std::string(input)));
}
