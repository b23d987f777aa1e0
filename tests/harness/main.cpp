// Runs .spec files, or says which operation versions they leave uncovered.
//   ovir_specs FILE-OR-FOLDER…            runs them
//   ovir_specs --coverage FILE-OR-FOLDER… names the versions without a value case, a partial shape or a reject
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>

#include "run_item.hpp"

int main(int argc, char** argv) {
  using namespace ovir::spec;
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  bool coverage = false;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--coverage") {
      coverage = true;
    } else if (fs::is_directory(argv[i])) {
      for (const auto& entry : fs::recursive_directory_iterator(argv[i]))
        if (entry.path().extension() == ".spec") paths.push_back(entry.path().string());
    } else {
      paths.push_back(argv[i]);
    }
  }
  if (paths.empty()) {
    fmt::print("there is no .spec file\n");
    return 2;
  }
  std::sort(paths.begin(), paths.end());

  Tally tally;
  std::vector<SpecFile> files;
  const Scratch scratch;
  for (const auto& path : paths) {
    try {
      files.push_back(parse_spec(path));
      const auto& sections = files.back().sections;
      if (std::all_of(sections.begin(), sections.end(), [](const Section& s) { return s.items.empty(); }))
        tally.failures.push_back(path + ": holds no item");
      if (!coverage) run_file(files.back(), scratch, tally);
    } catch (const SpecError& error) {
      tally.failures.push_back(error.what());
    }
  }
  if (coverage)
    for (auto& lacking : uncovered(files)) tally.failures.push_back(std::move(lacking));
  for (const auto& failure : tally.failures) fmt::print("{}\n", failure);
  if (coverage) fmt::print("{} operation versions lack something\n", tally.failures.size());
  else
    fmt::print("{} items of {} files, {} runs, {} failures\n", tally.items, paths.size(), tally.runs,
               tally.failures.size());
  return tally.failures.empty() ? 0 : 1;
}
