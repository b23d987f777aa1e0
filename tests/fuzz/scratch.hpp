// The files that a target hands to the library: kept in memory, for a target runs many thousand times a second.
#pragma once
#include <sys/mman.h>
#include <unistd.h>
#include <string>
#include <string_view>

class MemoryFile {
 public:
  explicit MemoryFile(const char* name)
      : fd_(::memfd_create(name, MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }
  const std::string& path() const { return path_; }
  bool fill(std::string_view text) {
    return ::ftruncate(fd_, 0) == 0 && ::pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  }

 private:
  int fd_;
  std::string path_;
};

/// Where `xml` can be read as a file.
inline const std::string& model_file(std::string_view xml) {
  static MemoryFile file("model.xml");
  promise(file.fill(xml), "there is memory for the input");
  return file.path();
}

/// A .bin of small numbers, whatever the integer type: as axes, shapes and lengths they often make sense.
inline const std::string& weights_file() {
  static MemoryFile file("model.bin");
  static const bool filled = [] {
    std::string weights(1 << 16, '\0');
    for (std::size_t i = 0; i < weights.size(); i += 8) weights[i] = static_cast<char>(i / 8 % 5);
    return file.fill(weights);
  }();
  promise(filled, "there is memory for the weights");
  return file.path();
}
