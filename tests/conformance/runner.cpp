// Judges the library on folders of cases, on two threads.
//   ovir_conformance values|shapes|negative FOLDER… [--tier reference|fast] [--only REGEX] [--show N] [--excused FILE]
// A FOLDER may hold .tgz archives of cases. Leaves with 77 where no FOLDER exists.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <thread>

#include <fmt/core.h>

#include "archive.hpp"
#include "base/text.hpp"
#include "judge.hpp"

namespace {

namespace fs = std::filesystem;
using namespace ovir::conformance;

constexpr int kSkipped = 77;
thread_local char current[512];  // the case that this thread judges, for the handler of a crash

void say_where(int signal) {
  const char* const said = "crashed while judging ";
  if (write(STDOUT_FILENO, said, std::strlen(said)) < 0 || write(STDOUT_FILENO, current, std::strlen(current)) < 0 ||
      write(STDOUT_FILENO, "\n", 1) < 0)
    _exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

struct Scratch {
  fs::path folder = fs::temp_directory_path() / fmt::format("ovir-conformance-{}", getpid());
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

struct Case {
  fs::path folder;
  std::string label;  ///< "Roll-opset7/001-dtype-float32"
};

std::vector<Case> find_cases(const fs::path& root, std::string_view kind) {
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_directory() && is_case(entry.path(), kind))
      cases.push_back({entry.path(), fs::relative(entry.path(), root).string()});
  return cases;
}

struct Arguments {
  std::string kind, only, excused;
  std::vector<fs::path> folders;
  Options options;
  std::size_t show = 60;
  bool good = true;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--tier" && has_value)
      a.options.tier = std::string_view(argv[++i]) == "fast" ? ovir::passes::Tier::fast : ovir::passes::Tier::reference;
    else if (word == "--only" && has_value) a.only = argv[++i];
    else if (word == "--show" && has_value) a.show = ovir::parse_number<std::size_t>(argv[++i]).value_or(a.show);
    else if (word == "--excused" && has_value) a.excused = argv[++i];
    else if (a.kind.empty()) a.kind = word;
    else a.folders.emplace_back(argv[i]);
  }
  a.good = (a.kind == "values" || a.kind == "shapes" || a.kind == "negative") && !a.folders.empty();
  std::ifstream lines(a.excused);
  for (std::string line; std::getline(lines, line);) a.options.excused.insert(line.substr(0, line.find('\t')));
  return a;
}

Verdict judge(const std::string& kind, const fs::path& folder, const Options& options) {
  try {
    if (kind == "values") return judge_values(folder, options);
    return kind == "shapes" ? judge_shapes(folder, options) : judge_negative(folder, options);
  } catch (const std::exception& error) {
    return {false, fmt::format("exception: {}", error.what())};
  }
}

std::vector<Case> gather(const Arguments& arguments, const Scratch& scratch) {
  std::vector<Case> cases;
  for (const auto& root : arguments.folders) {
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::directory_iterator(root))
      if (entry.path().extension() == ".tgz") extract(entry.path(), scratch.folder / root.filename());
    for (const auto& folder : {root, scratch.folder / root.filename()})
      if (fs::exists(folder))
        for (auto& c : find_cases(folder, arguments.kind)) cases.push_back(std::move(c));
  }
  const std::regex only(arguments.only);
  std::erase_if(cases, [&](const Case& c) { return !arguments.only.empty() && !std::regex_search(c.label, only); });
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.label < b.label; });
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments.good) {
    fmt::print(
        "usage: ovir_conformance values|shapes|negative FOLDER... [--tier reference|fast] [--only REGEX] [--show N] "
        "[--excused FILE]\n");
    return 2;
  }
  if (std::none_of(arguments.folders.begin(), arguments.folders.end(),
                   [](const fs::path& f) { return fs::exists(f); })) {
    fmt::print("skipped: there is no {}\n", arguments.folders[0].string());
    return kSkipped;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) std::signal(signal, say_where);

  const Scratch scratch;
  const auto cases = gather(arguments, scratch);
  std::vector<Verdict> verdicts(cases.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < cases.size();) {
      current[cases[i].label.copy(current, sizeof current - 1)] = '\0';
      verdicts[i] = judge(arguments.kind, cases[i].folder, arguments.options);
    }
  };
  {
    const std::jthread other(work);
    work();
  }

  std::size_t failed = 0, skipped = 0, excused = 0;
  std::map<std::string, std::size_t> by_group;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (verdicts[i].skipped) {
      ++skipped;
    } else if (!verdicts[i].why.empty() && arguments.options.excused.contains(cases[i].label)) {
      ++excused;
    } else if (!verdicts[i].why.empty()) {
      ++by_group[cases[i].label.substr(0, cases[i].label.find('/'))];
      if (failed++ < arguments.show) fmt::print("  {}: {}\n", cases[i].label, verdicts[i].why);
    }
  }
  if (failed > arguments.show) {
    fmt::print("failures by group:");
    for (const auto& [group, count] : by_group) fmt::print(" {} {}", group, count);
    fmt::print("\n");
  }
  if (excused) fmt::print("{} cases expect what the specification does not say: see {}\n", excused, arguments.excused);
  if (skipped) fmt::print("{} cases have operations that this build lacks\n", skipped);
  fmt::print("{} passed, {} failed\n", cases.size() - failed - skipped - excused, failed);
  return failed || cases.empty() ? 1 : 0;
}
