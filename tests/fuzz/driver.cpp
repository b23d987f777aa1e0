// Without libFuzzer: mutates seeds with a fixed generator, as long as it is given, and keeps the input that broke
// something.
//
//   fuzz_read [--seconds 5] [--seed 1] FILE|FOLDER…      every file as it is, then mutations of them
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "fuzz.hpp"

namespace fs = std::filesystem;

namespace {

std::string current;  // what the target is looking at

/// Only calls that a signal handler may make.
void keep_input() {
  const int fd = ::open("fuzz-crash.xml", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return;
  static_cast<void>(!::write(fd, current.data(), current.size()));
  ::close(fd);
}

void on_signal(int signal) {
  constexpr std::string_view words = "the input is in fuzz-crash.xml\n";
  keep_input();
  static_cast<void>(!::write(2, words.data(), words.size()));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

const std::vector<std::string> kMarkup = {"<",   ">",  "&",    "\"",         "</",   "<!--", "-->",
                                          "]]>", "<?", "&#0;", "&#x110000;", "\xff", "<a>",  "\t"};
const std::vector<std::string> kValues = {"",
                                          "-1",
                                          "0",
                                          "1",
                                          "2",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "99999999999999999999",
                                          "4294967296",
                                          "1e400",
                                          "nan",
                                          "?",
                                          "1,2,3",
                                          "-1,-1",
                                          "1..8",
                                          "2..1",
                                          "...",
                                          "3,,4",
                                          "f32",
                                          "i64",
                                          "string",
                                          "u1",
                                          "dynamic",
                                          "true",
                                          "Parameter",
                                          "Const",
                                          "If",
                                          "opset1",
                                          "opset17"};

/// Seconds of computing, not of waiting for a busy machine.
void allow(long seconds) {
  const itimerval limit{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

class Mutator {
 public:
  Mutator(unsigned seed, const std::vector<std::string>& seeds) : random_(seed), seeds_(seeds) {}

  std::string operator()() {
    std::string text = seeds_[below(seeds_.size())];
    for (std::size_t n = 1 + below(4); n > 0 && !text.empty(); --n) mutate(text);
    return text;
  }

 private:
  void mutate(std::string& text) {
    switch (below(10)) {
      case 0: text[below(text.size())] = static_cast<char>(below(256)); break;
      case 1: text.resize(below(text.size())); break;
      case 2: text.erase(below(text.size()), 1 + below(40)); break;
      case 3: remove_element(text); break;
      case 4: duplicate_element(text); break;
      case 5: text.insert(below(text.size()), pick(kMarkup)); break;
      default: change_value(text); break;
    }
  }

  /// From one '<' to one of the next few: a tag, or an element and more.
  std::pair<std::size_t, std::size_t> element(const std::string& text) {
    const auto begin = text.find('<', below(text.size()));
    if (begin == text.npos) return {0, 0};
    auto end = begin;
    for (std::size_t n = 1 + below(6); n > 0 && end != text.npos; --n) end = text.find('<', end + 1);
    return {begin, (end == text.npos ? text.size() : end) - begin};
  }
  void remove_element(std::string& text) {
    const auto [begin, length] = element(text);
    text.erase(begin, length);
  }
  void duplicate_element(std::string& text) {
    const auto [begin, length] = element(text);
    const auto part = text.substr(begin, length);
    const auto at = text.find('<', below(text.size()));
    text.insert(below(2) != 0 && at != text.npos ? at : begin, part);
  }
  /// Another value for an attribute: the faults that well-formed files have.
  void change_value(std::string& text) {
    const auto begin = text.find("=\"", below(text.size()));
    if (begin == text.npos) return;
    const auto end = text.find('"', begin + 2);
    if (end == text.npos) return;
    std::string value = text.substr(begin + 2, end - begin - 2);
    switch (below(4)) {
      case 0: value = std::to_string(static_cast<int>(below(12)) - 3); break;
      case 1: value = other_value(text); break;
      default: value = pick(kValues);
    }
    text.replace(begin + 2, end - begin - 2, value);
  }
  std::string other_value(const std::string& text) {
    const auto begin = text.find("=\"", below(text.size()));
    const auto end = begin == text.npos ? text.npos : text.find('"', begin + 2);
    return end == text.npos ? "" : text.substr(begin + 2, end - begin - 2);
  }

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& pick(const std::vector<std::string>& list) { return list[below(list.size())]; }

  std::mt19937 random_;
  const std::vector<std::string>& seeds_;
};

void add_seeds(const fs::path& path, std::vector<std::string>& seeds) {
  if (fs::is_directory(path)) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.path().extension() == ".xml") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    for (const auto& file : found) add_seeds(file, seeds);
  } else {
    seeds.emplace_back(ovir::map_file(path.string()).text());
  }
}

}  // namespace

void broken(std::string_view what) {
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

int main(int argc, char** argv) {
  double seconds = 5;
  unsigned seed = 1;
  std::vector<std::string> seeds;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seconds" && i + 1 < argc) seconds = std::atof(argv[++i]);
    else if (word == "--seed" && i + 1 < argc) seed = static_cast<unsigned>(std::atoi(argv[++i]));
    else add_seeds(word, seeds);
  }
  if (seeds.empty()) {
    std::fputs("no seeds\n", stderr);
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGPROF}) std::signal(signal, on_signal);
  std::size_t runs = 0;
  const auto run = [&](std::string input) {
    current = std::move(input);
    allow(20);  // an input that takes that long hangs
    fuzz_one(current);
    ++runs;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (const auto& text : seeds) run(text);
  Mutator mutate(seed, seeds);
  while (std::chrono::steady_clock::now() < end) run(mutate());
  allow(0);
  std::printf("%zu inputs\n", runs);
  return 0;
}
