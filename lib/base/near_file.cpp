#include "base/near_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.hpp"

namespace ovir {
namespace {

constexpr std::size_t kMostFiles = 10'000;  // a larger folder is not searched

std::string without_digits(std::string text) {
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }), text.end());
  return lower(text);
}

}  // namespace

std::string did_you_mean_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path.empty() || fs::exists(path, error)) return {};
  const auto meant = [](const std::string& file) { return fmt::format("; did you mean {}?", printable(file)); };
  auto slashed = path;
  std::replace(slashed.begin(), slashed.end(), '\\', '/');
  if (fs::is_regular_file(slashed, error)) return meant(slashed);

  const auto folder = fs::path(path).parent_path();
  const auto stem = fs::path(path).stem().string(), extension = fs::path(path).extension().string();
  std::vector<std::string> stems;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error)) {
    auto other = at->path().stem().string();
    // Another number is another file, not a slip.
    const bool slip = without_digits(other) != without_digits(stem) || lower(other) == lower(stem);
    if (std::error_code ignored; slip && at->path().extension() == extension && at->is_regular_file(ignored))
      stems.push_back(std::move(other));
    if (stems.size() > kMostFiles) return {};
  }
  std::sort(stems.begin(), stems.end());  // folders have no order of their own
  const auto near = nearest(stem, {stems.begin(), stems.end()});
  return near ? meant((folder / (std::string(*near) + extension)).string()) : "";
}

}  // namespace ovir
