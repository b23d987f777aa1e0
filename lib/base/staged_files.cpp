#include "base/staged_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <mutex>

#include "base/bytes.hpp"
#include "base/descriptor.hpp"

namespace ovir {

namespace {

/// The temporary files of the process. Signal handlers take no arguments, so this has to be global. A handler may run
/// in any thread at any time: it touches the list only if it gets the lock, and leaves it to the holder otherwise.
struct Temporaries {
  std::atomic_flag locked = ATOMIC_FLAG_INIT;
  std::atomic<int> leave_with{-1};  ///< the exit status that a handler asked for
  std::vector<std::string> paths, folders;

  /// Removes all files, then folders, and ends the process; does not come back where the lock is free.
  void leave_if_unlocked() {
    if (locked.test_and_set()) return;
    for (const auto& path : paths) ::unlink(path.c_str());
    for (const auto& path : folders) ::rmdir(path.c_str());
    ::_exit(leave_with);
  }
  void lock() {
    while (locked.test_and_set()) ::usleep(100);
  }
  void unlock() {
    locked.clear();
    if (leave_with >= 0) leave_if_unlocked();
  }
  void forget(const std::string& path) { paths.erase(std::remove(paths.begin(), paths.end(), path), paths.end()); }
};

Temporaries& temporaries = *new Temporaries;  // made before any signal comes, and never destroyed

void write_all(int fd, std::span<const std::span<const std::byte>> parts, const std::string& path) {
  for (auto part : parts) {
    while (!part.empty()) {
      const auto n = ::write(fd, part.data(), part.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_with(errno, path);
      part = part.subspan(n);
    }
  }
}

/// Whether `path` must be written as it stands: a pipe or device cannot be replaced by a file, nor can what a
/// redirected /dev/stdout happens to be.
bool is_stream(const std::string& path) {
  struct stat status {};
  const bool memory = path.starts_with("/dev/shm/");  // a file system as any other
  if ((path.starts_with("/dev/") && !memory) || path.starts_with("/proc/")) return true;
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// A new file beside `target`, with the mode of the file it will replace.
std::pair<int, std::string> create_beside(const std::string& target) {
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail_with(EISDIR, target);
  if (exists && ::access(target.c_str(), W_OK) != 0) fail_with(errno, target);
  for (int n = 0; n < 1000; ++n) {
    std::string name = target + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(n);
    const std::scoped_lock lock(temporaries);
    temporaries.paths.reserve(temporaries.paths.size() + 1);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) fail_with(errno, target);
    temporaries.paths.push_back(name);
    if (exists && S_ISREG(old.st_mode)) static_cast<void>(::fchmod(fd, old.st_mode & 07777));
    return {fd, std::move(name)};
  }
  fail_with(EEXIST, target);
}

}  // namespace

StagedFiles::~StagedFiles() {
  if (files_.empty()) return;
  const std::scoped_lock lock(temporaries);
  for (const auto& file : files_) {
    ::unlink(file.temporary.c_str());
    temporaries.forget(file.temporary);
  }
}

TemporaryFolder::TemporaryFolder(std::string_view name, std::span<const std::string_view> files) {
  path_ = (std::filesystem::temp_directory_path() / name).string() + "-XXXXXX";
  const std::scoped_lock lock(temporaries);
  if (::mkdtemp(path_.data()) == nullptr) fail_with(errno, path_);
  for (const auto& file : files) files_.push_back(path_ + "/" + std::string(file));
  temporaries.paths.insert(temporaries.paths.end(), files_.begin(), files_.end());
  temporaries.folders.push_back(path_);
}

TemporaryFolder::~TemporaryFolder() {
  const std::scoped_lock lock(temporaries);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  for (const auto& file : files_) temporaries.forget(file);
  std::erase(temporaries.folders, path_);
}

void StagedFiles::add(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  files_.reserve(files_.size() + 1);
  auto [fd, temporary] = create_beside(path);
  Descriptor file(fd);
  files_.push_back({path, std::move(temporary)});
  write_all(file.get(), parts, path);
  if (!file.close()) fail_with(errno, path);
}

void StagedFiles::add(const std::string& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  add(path, {&part, 1});
}

/// Exchanging the two, and removing the old file at the end, makes taking back possible; it also saves the milliseconds
/// for which ext4 writes out a file that is renamed over another.
StagedFiles::State StagedFiles::place(const File& file) {
  struct stat status {};
  const char *const from = file.temporary.c_str(), *const to = file.path.c_str();
  if (::lstat(to, &status) != 0) {
    if (::rename(from, to) == 0) return State::created;
  } else if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
  } else {
    if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) return State::exchanged;
    if (::rename(from, to) == 0) return State::moved;
  }
  fail_with(errno, file.path);
}

void StagedFiles::take_back(const File& file) {
  const char *const from = file.temporary.c_str(), *const to = file.path.c_str();
  if (file.state == State::created) ::unlink(to);
  if (file.state == State::exchanged) static_cast<void>(::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE));
}

void StagedFiles::commit() {
  const std::scoped_lock lock(temporaries);
  try {
    for (auto& file : files_) file.state = place(file);
  } catch (...) {
    for (const auto& file : files_) take_back(file);
    throw;
  }
  for (const auto& file : files_) {
    if (file.state == State::exchanged) ::unlink(file.temporary.c_str());
    temporaries.forget(file.temporary);
  }
  files_.clear();
}

std::string behind_links(const std::string& path) {
  std::filesystem::path target = path;
  std::error_code ignored;
  for (int hops = 0; hops < 40 && std::filesystem::is_symlink(target, ignored); ++hops)
    target = target.parent_path() / std::filesystem::read_symlink(target, ignored);
  return target.string();
}

void write_file(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  if (is_stream(path)) {
    const Descriptor stream(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!stream) fail_with(errno, path);
    write_all(stream.get(), parts, path);
    return;
  }
  StagedFiles files;
  files.add(behind_links(path), parts);
  files.commit();
}

void write_file(const std::string& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  write_file(path, {&part, 1});
}

void leave_process(int status) {
  temporaries.leave_with = status;
  temporaries.leave_if_unlocked();
}

}  // namespace ovir
