// Judges the library on folders of cases, on two threads.
//   ovir_conformance values|shapes|negative FOLDER… [--tier reference|fast] [--isa LEVEL] [--only REGEX] [--show N]
//                    [--excused FILE] [--golden FILE [--bless]] [--whole] [--optional]
// A FOLDER may hold .tgz archives of cases. One that does not exist is a failure; with --optional the run is skipped
// (77).
// LEVEL of --isa: baseline, avx2 or avx512, for the fast tier; exits with 77 where the machine cannot run it.
// FILE of --excused: kind, case and reason, separated by tabs; an excused case that passes is a failure.
// FILE of --golden: a faulty model and the code and layer of each of its errors; --bless rewrites it.
// --whole: the FOLDERs hold all cases, so a line of either file that names no case is a failure.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <thread>

#include <fmt/core.h>

#include "archive.hpp"
#include "base/text.hpp"
#include "fast/isa/table.hpp"
#include "judge.hpp"

namespace {

namespace fs = std::filesystem;
using namespace ovir::conformance;

constexpr int kSkipped = 77;
constexpr std::pair<std::string_view, ovir::fast::Isa> kLevels[] = {{"baseline", ovir::fast::Isa::baseline},
                                                                    {"avx2", ovir::fast::Isa::avx2},
                                                                    {"avx512", ovir::fast::Isa::avx512},
                                                                    {"amx", ovir::fast::Isa::amx}};
thread_local char current[512];  // the case that this thread judges, for the handler of a crash

void say_where(int signal) {
  const char* const message = "crashed while judging ";
  if (write(STDOUT_FILENO, message, std::strlen(message)) < 0 ||
      write(STDOUT_FILENO, current, std::strlen(current)) < 0 || write(STDOUT_FILENO, "\n", 1) < 0)
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

using Lines = std::map<std::string, std::string>;  // by case

/// Lines "case, tab, text".
Lines read_lines(const std::string& path) {
  Lines lines;
  std::ifstream in(path);
  if (!in && !path.empty()) throw std::runtime_error(path + " cannot be read");
  for (std::string line; std::getline(in, line);) {
    const auto tab = line.find('\t');
    if (tab == line.npos) throw std::runtime_error(path + ": a line without a tab: " + line);
    lines[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return lines;
}

void write_lines(const std::string& path, const Lines& lines) {
  std::ofstream out(path, std::ios::binary);
  for (const auto& [label, text] : lines) out << label << '\t' << text << '\n';
  if (!out.flush()) throw std::runtime_error(path + " cannot be written");
}

struct Arguments {
  std::string kind, only, excused, golden;
  std::vector<fs::path> folders;
  Options options;
  ovir::fast::Isa isa = ovir::fast::Isa::best;
  std::size_t show = 60;
  bool bless = false, whole = false, optional = false, good = true;
};

bool is_kind(std::string_view word) { return word == "values" || word == "shapes" || word == "negative"; }

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--isa" && has_value) {
      const std::string_view level = argv[++i];
      const auto known =
          std::find_if(std::begin(kLevels), std::end(kLevels), [&](auto& l) { return l.first == level; });
      a.good &= known != std::end(kLevels);
      if (a.good) a.isa = known->second;
    } else if (word == "--tier" && has_value) {
      const std::string_view tier = argv[++i];
      a.good &= tier == "reference" || tier == "fast";
      a.options.tier = tier == "fast" ? ovir::Tier::fast : ovir::Tier::reference;
    } else if (word == "--only" && has_value) a.only = argv[++i];
    else if (word == "--show" && has_value) a.show = ovir::parse_number<std::size_t>(argv[++i]).value_or(a.show);
    else if (word == "--excused" && has_value) a.excused = argv[++i];
    else if (word == "--golden" && has_value) a.golden = argv[++i];
    else if (word == "--bless") a.bless = true;
    else if (word == "--whole") a.whole = true;
    else if (word == "--optional") a.optional = true;
    else if (word.starts_with("--")) a.good = false;
    else if (a.kind.empty()) a.kind = word;
    else a.folders.emplace_back(argv[i]);
  }
  a.good &= is_kind(a.kind) && !a.folders.empty() && (!a.bless || !a.golden.empty());
  return a;
}

/// The cases of this kind that are excused.
std::set<std::string> read_excuses(const Arguments& arguments) {
  std::set<std::string> labels;
  std::ifstream in(arguments.excused);
  if (!in && !arguments.excused.empty()) throw std::runtime_error(arguments.excused + " cannot be read");
  for (std::string line; std::getline(in, line);) {
    const auto parts = ovir::split(line, '\t');
    if (parts.size() != 3 || !is_kind(parts[0]))
      throw std::runtime_error(arguments.excused + ": kind, case and reason are expected: " + line);
    if (parts[0] == arguments.kind) labels.emplace(parts[1]);
  }
  return labels;
}

Verdict judge(const std::string& kind, const fs::path& folder, const Options& options) {
  try {
    if (kind == "values") return judge_values(folder, options);
    return kind == "shapes" ? judge_shapes(folder, options) : judge_negative(folder, options);
  } catch (const std::exception& error) {
    return {fmt::format("exception: {}", error.what())};
  }
}

std::vector<Case> gather(const Arguments& arguments, const Scratch& scratch) {
  std::vector<Case> cases;
  for (const auto& root : arguments.folders) {
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

std::vector<Verdict> judge_all(const std::vector<Case>& cases, const Arguments& arguments) {
  std::vector<Verdict> verdicts(cases.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = 0; (i = next++) < cases.size();) {
      current[cases[i].label.copy(current, sizeof current - 1)] = '\0';
      verdicts[i] = judge(arguments.kind, cases[i].folder, arguments.options);
      if (verdicts[i].why.empty() && verdicts[i].compared == 0) verdicts[i].why = "nothing was compared";
    }
  };
  const std::jthread other(work);
  work();
  return verdicts;
}

/// Failures as they are met: the first few in full, of all how many a group.
class Report {
 public:
  explicit Report(std::size_t show) : show_(show) {}
  void fail(const std::string& label, const std::string& why) {
    ++by_group_[label.substr(0, label.find('/'))];
    if (failed_++ < show_) fmt::print("  {}: {}\n", label, why);
  }
  std::size_t failed() const { return failed_; }
  void print_groups() const {
    if (failed_ <= show_) return;
    fmt::print("failures by group:");
    for (const auto& [group, count] : by_group_) fmt::print(" {} {}", group, count);
    fmt::print("\n");
  }

 private:
  std::size_t show_, failed_ = 0;
  std::map<std::string, std::size_t> by_group_;
};

/// Holds what was found against the golden file, or rewrites the file's lines of these cases.
void judge_golden(const Arguments& arguments, const std::vector<Case>& cases, const std::vector<Verdict>& verdicts,
                  Report& report) {
  auto golden = arguments.bless && !fs::exists(arguments.golden) ? Lines() : read_lines(arguments.golden);
  if (arguments.bless) {
    if (arguments.whole) golden.clear();
    for (std::size_t i = 0; i < cases.size(); ++i) golden[cases[i].label] = verdicts[i].found;
    return write_lines(arguments.golden, golden);
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto line = golden.find(cases[i].label);
    if (line == golden.end()) report.fail(cases[i].label, "has no line in " + arguments.golden);
    else if (line->second != verdicts[i].found)
      report.fail(cases[i].label, fmt::format("expected {}, found {}", line->second, verdicts[i].found));
    golden.erase(cases[i].label);
  }
  if (arguments.whole)
    for (const auto& [label, text] : golden)
      report.fail(label, "is in " + arguments.golden + ", but there is no such case");
}

int run(const Arguments& arguments) {
  const Scratch scratch;
  const auto cases = gather(arguments, scratch);
  const auto verdicts = judge_all(cases, arguments);
  Report report(arguments.show);
  std::size_t excused = 0, compared = 0;
  auto excuses = read_excuses(arguments);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    compared += verdicts[i].compared;
    const bool excuse = excuses.erase(cases[i].label) > 0;
    if (excuse && verdicts[i].why.empty()) report.fail(cases[i].label, "is excused, but passes");
    else if (excuse) ++excused;
    else if (!verdicts[i].why.empty()) report.fail(cases[i].label, verdicts[i].why);
  }
  if (arguments.whole)
    for (const auto& label : excuses) report.fail(label, "is excused, but there is no such case");
  if (!arguments.golden.empty()) judge_golden(arguments, cases, verdicts, report);
  report.print_groups();
  if (excused) fmt::print("{} cases expect what the specification does not say: see {}\n", excused, arguments.excused);
  fmt::print("{} cases, {} comparisons, {} failures\n", cases.size(), compared, report.failed());
  return report.failed() || cases.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = parse(argc, argv);
  if (!arguments.good) {
    fmt::print(
        "usage: ovir_conformance values|shapes|negative FOLDER... [--tier reference|fast] [--isa LEVEL] [--only REGEX] "
        "[--show N] [--excused FILE] [--golden FILE [--bless]] [--whole] [--optional]\n");
    return 2;
  }
  for (const auto& folder : arguments.folders)
    if (!fs::exists(folder)) {
      fmt::print("{}there is no {}\n", arguments.optional ? "skipped: " : "", folder.string());
      return arguments.optional ? kSkipped : 2;
    }
  if (!ovir::fast::force_isa(arguments.isa)) {
    fmt::print("skipped: this machine cannot run these instructions\n");
    return kSkipped;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) std::signal(signal, say_where);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 2;
  }
}
