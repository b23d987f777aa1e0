// A file descriptor that closes itself.
#pragma once
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

namespace ovir {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  /// Closes early: some file systems report a failed write only here.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

/// `error`: a value of errno.
[[noreturn]] inline void fail_with(int error, const std::string& path) {
  throw std::system_error(error, std::generic_category(), path);
}

}  // namespace ovir
