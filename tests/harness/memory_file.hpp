// A file in memory under a path, for tests that hand many models to the library.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text = {})
      : fd_(::memfd_create("test", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {
    fill(text);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }

  const std::string& path() const { return path_; }
  void fill(std::string_view text) {
    if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      throw std::runtime_error("there is no memory for a file");
  }

 private:
  int fd_;
  std::string path_;
};
