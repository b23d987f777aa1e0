// A folder that is there for one test.
#pragma once
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

class Temporary {
 public:
  /// In the system's folder for temporary files, where no other is named.
  explicit Temporary(std::filesystem::path parent = {}) {
    if (parent.empty()) parent = std::filesystem::temp_directory_path();
    std::string name = (parent / "ovir-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::filesystem::filesystem_error("mkdtemp", name, std::error_code(errno, std::generic_category()));
    folder_ = name;
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  long file_count() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }

 private:
  std::filesystem::path folder_;
};
