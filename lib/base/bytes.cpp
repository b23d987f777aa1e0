#include "base/bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/memory_budget.hpp"

namespace ovir {

namespace {

[[noreturn]] void fail_with(int error, const std::string& path) {
  throw std::system_error(error, std::generic_category(), path);
}

/// A file descriptor that closes itself.
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

/// Pipes have no size to go by, so what they may deliver is bounded.
constexpr std::size_t kPipeLimit = std::size_t{4} << 30;

Bytes read_whole(int fd, std::size_t limit, const std::string& path) {
  auto data = std::make_shared<std::vector<std::byte>>();
  std::size_t used = 0;
  for (;;) {
    if (used == data->size()) data->resize(std::max<std::size_t>(2 * used, 1 << 16));
    const auto n = ::read(fd, data->data() + used, data->size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_with(errno, path);
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > limit) fail_with(limit == 0 ? EINVAL : EFBIG, path);
  }
  const std::span<const std::byte> view(data->data(), used);
  return {std::move(data), view};
}

void write_all(int fd, std::span<const std::span<const std::byte>> parts, const std::string& path) {
  for (auto part : parts) {
    while (!part.empty()) {
      const auto n = ::write(fd, part.data(), part.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_with(errno, path);
      part = part.subspan(static_cast<std::size_t>(n));
    }
  }
}

/// Whether `path` must be written as it stands: a pipe or device cannot be replaced by a file, nor can what a
/// redirected /dev/stdout happens to be.
bool is_stream(const std::string& path) {
  struct stat status {};
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return true;
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// The file that `path` means, through symbolic links, which stay.
std::string behind_links(const std::string& path) {
  std::filesystem::path target = path;
  std::error_code ignored;
  for (int hops = 0; hops < 40 && std::filesystem::is_symlink(target, ignored); ++hops)
    target = target.parent_path() / std::filesystem::read_symlink(target, ignored);
  return target.string();
}

/// Puts `temporary` in the place of `target` in one step. Exchanging them, and then removing the old file, saves the
/// milliseconds for which ext4 writes out a file that is renamed over another.
bool replace(const std::string& temporary, const std::string& target) {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return ::unlink(temporary.c_str()) == 0;
  return ::rename(temporary.c_str(), target.c_str()) == 0;
}

/// A new file beside `target`, with the mode of the file it will replace.
std::pair<int, std::string> create_beside(const std::string& target) {
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail_with(EISDIR, target);
  if (exists && ::access(target.c_str(), W_OK) != 0) fail_with(errno, target);
  for (int n = 0; n < 1000; ++n) {
    const std::string name = target + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(n);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) fail_with(errno, target);
    if (exists) static_cast<void>(::fchmod(fd, old.st_mode & 07777));
    return {fd, name};
  }
  fail_with(EEXIST, target);
}

}  // namespace

Bytes map_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) fail_with(errno, path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_with(errno, path);
  if (S_ISDIR(status.st_mode)) fail_with(EISDIR, path);
  if (!S_ISREG(status.st_mode)) {
    // Of a device only /dev/null makes sense: others never end.
    return read_whole(file.get(), S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ? kPipeLimit : 0, path);
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return read_whole(file.get(), kPipeLimit, path);  // empty, or a file of /proc
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) fail_with(errno, path);
  std::shared_ptr<const void> owner(data, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return {std::move(owner), {static_cast<const std::byte*>(data), size}};
}

std::shared_ptr<std::byte> allocate(std::size_t size) {
  constexpr std::size_t alignment = 64;
  if (size > static_cast<std::size_t>(PTRDIFF_MAX) - alignment) throw std::bad_alloc();
  const std::size_t rounded = std::max(alignment, (size + alignment - 1) / alignment * alignment);
  const auto& budget = MemoryBudget::current();
  if (budget) budget->take(rounded);
  void* const data = std::aligned_alloc(alignment, rounded);
  if (data == nullptr) {
    if (budget) budget->give_back(rounded);
    throw std::bad_alloc();
  }
  return {static_cast<std::byte*>(data), [budget, rounded](std::byte* p) {
            std::free(p);
            if (budget) budget->give_back(rounded);
          }};
}

void write_file(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  if (is_stream(path)) {
    Descriptor stream(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!stream) fail_with(errno, path);
    write_all(stream.get(), parts, path);
    return;
  }
  const std::string target = behind_links(path);
  const auto [fd, temporary] = create_beside(target);
  try {
    Descriptor file(fd);
    write_all(file.get(), parts, path);
    if (!file.close() || !replace(temporary, target)) fail_with(errno, path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void write_file(const std::string& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  write_file(path, {&part, 1});
}

}  // namespace ovir
