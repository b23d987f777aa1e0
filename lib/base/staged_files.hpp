// Files on their way to the disk: they appear whole or not at all, several of them together.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ovir {

/// Files that appear together: each is written beside its place under a temporary name, and commit() moves them all.
/// What is not committed is removed, also where a signal ends the process (see leave_process).
class StagedFiles {
 public:
  StagedFiles() = default;
  ~StagedFiles();
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  /// Writes the file that will replace `path`, with the mode of the one that is there. A link or pipe of that name is
  /// replaced too. Throws std::system_error, whose text names `path`.
  void add(const std::string& path, std::span<const std::span<const std::byte>> parts);
  void add(const std::string& path, std::string_view text);
  /// All files or none: where one cannot be put into its place, those before it are taken back, as far as the file
  /// system can exchange two files. Throws std::system_error.
  void commit();

 private:
  enum class State { written, created, exchanged, moved };
  struct File {
    std::string path, temporary;
    State state = State::written;
  };
  std::vector<File> files_;

  static State place(const File& file);
  static void take_back(const File& file);
};

/// A new folder for files that are of use to this process alone. It goes with all that is in it; where a signal ends
/// the process, with the files of those names.
class TemporaryFolder {
 public:
  /// In the system's folder for such, its name beginning with `name`. Throws std::system_error, whose text names it.
  TemporaryFolder(std::string_view name, std::span<const std::string_view> files);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> files_;
};

/// The file that `path` means, through symbolic links, which stay.
std::string behind_links(const std::string& path);

/// Ends the process with `status` after removing temporary files. May be called by a signal handler. Where files are
/// just being moved to their places, it returns, and the process ends when they are there.
void leave_process(int status);

}  // namespace ovir
