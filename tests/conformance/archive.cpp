#include "archive.hpp"

#include <zlib.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace ovir::conformance {
namespace {

constexpr std::size_t kBlock = 512;  // of a tar archive: a header, then the file's bytes padded to whole blocks

std::string field(const std::array<char, kBlock>& header, std::size_t at, std::size_t size) {
  return {header.data() + at, strnlen(header.data() + at, size)};
}

}  // namespace

void extract(const std::filesystem::path& archive, const std::filesystem::path& folder) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(archive.c_str(), "rb"), gzclose);
  if (!in) throw std::runtime_error(archive.string() + " cannot be opened");
  std::array<char, kBlock> header;
  while (gzread(in.get(), header.data(), kBlock) == static_cast<int>(kBlock) && header[0] != '\0') {
    const auto prefix = field(header, 345, 155);
    const auto name = (prefix.empty() ? "" : prefix + "/") + field(header, 0, 100);
    const auto size = std::stoull(field(header, 124, 12), nullptr, 8);
    if (name.find("..") != name.npos || name.front() == '/')
      throw std::runtime_error(archive.string() + ": " + name + " leads out of the folder");
    std::vector<char> content((size + kBlock - 1) / kBlock * kBlock);
    if (gzread(in.get(), content.data(), static_cast<unsigned>(content.size())) != static_cast<int>(content.size()))
      throw std::runtime_error(archive.string() + " is cut short");
    if (header[156] != '0') continue;  // a folder
    const auto path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(size));
  }
}

}  // namespace ovir::conformance
