// Without libFuzzer: runs every seed, then mutations made with a fixed generator, and keeps the input that broke
// something.
//
//   fuzz_TARGET [--seconds 5] [--runs N] [--seed 1] [--words FILE] [--keep FILE] [--go-on] [--ending .xml]
//               FILE|FOLDER…
//
// --runs ends after that many inputs, --seconds (of computing) after that long; a FOLDER's files are those with the
// ending; --words is a dictionary of libFuzzer's form: "word" a line. --keep names the file for a bad input. With
// --go-on a broken promise ends that input only.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "fuzz.hpp"
#include "mutate.hpp"

namespace fs = std::filesystem;

namespace {

std::string current;  // what the target is looking at
std::string keep = "fuzz-crash";
bool go_on = false;

/// A broken promise, where others are looked for as well.
struct Broken {};

/// Only calls that a signal handler may make.
void on_signal(int signal) {
  constexpr std::string_view words = "the input is in ";
  const int fd = ::open(keep.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd >= 0 && ::write(fd, current.data(), current.size()) >= 0 && ::write(2, words.data(), words.size()) >= 0 &&
      ::write(2, keep.data(), keep.size()) >= 0)
    static_cast<void>(!::write(2, "\n", 1));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Seconds of computing, not of waiting for a busy machine, until SIGPROF comes.
void allow(long seconds) {
  const itimerval limit{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

#ifdef __SANITIZE_ADDRESS__
/// The shadow memory counts as data, so a limit of the system would leave nothing; __asan_default_options has it.
void limit_memory() {}
#else
void limit_memory() {
  const rlimit memory{std::size_t{4} << 30, std::size_t{4} << 30};
  ::setrlimit(RLIMIT_DATA, &memory);
}
#endif

double computed() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void add_seeds(const fs::path& path, const std::string& ending, std::vector<std::string>& seeds) {
  if (fs::is_directory(path)) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && (ending.empty() || entry.path().extension() == ending))
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    for (const auto& file : found) add_seeds(file, ending, seeds);
  } else {
    seeds.emplace_back(ovir::map_file(path.string()).text());
  }
}

/// The text between the quotes of each line, with \" \\ and \xAB.
std::vector<std::string> read_words(const std::string& path) {
  std::vector<std::string> words;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const auto begin = line.find('"'), end = line.rfind('"');
    if (line.starts_with("#") || begin == end) continue;
    std::string word;
    for (auto i = begin + 1; i < end; ++i) {
      if (line[i] != '\\') word += line[i];
      else if (line[i + 1] != 'x') word += line[++i];
      else {
        word += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
        i += 3;
      }
    }
    words.push_back(word);
  }
  return words;
}

}  // namespace

#ifdef __SANITIZE_ADDRESS__
/// The sanitizers ask for their options by these names. They abort, so that on_signal keeps the input.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:hard_rss_limit_mb=4096:max_allocation_size_mb=4096:intercept_tls_get_addr=0";
}
extern "C" const char* __ubsan_default_options();
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
#endif

void broken(std::string_view what) {
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(what.size()), what.data());
  if (go_on) throw Broken();
  std::abort();
}

int main(int argc, char** argv) {
  double seconds = 0;
  std::size_t wanted = 0;
  unsigned seed = 1;
  std::string ending;
  std::vector<std::string> seeds, words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--seconds") seconds = std::atof(next());
    else if (word == "--runs") wanted = static_cast<std::size_t>(std::atoll(next()));
    else if (word == "--seed") seed = static_cast<unsigned>(std::atoi(next()));
    else if (word == "--words") words = read_words(next());
    else if (word == "--keep") keep = next();
    else if (word == "--ending") ending = next();
    else if (word == "--go-on") go_on = true;
    else add_seeds(word, ending, seeds);
  }
  if (seeds.empty()) {
    std::fputs("no seeds\n", stderr);
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGPROF}) std::signal(signal, on_signal);
  limit_memory();
  std::size_t runs = 0, broken_promises = 0;
  const auto run = [&](std::string input) {
    current = std::move(input);
    allow(20);  // an input that takes that long hangs
    try {
      try {
        fuzz_one(current);
      } catch (const std::exception& error) {
        broken(std::string("only a Failure comes out, not: ") + error.what());
      }
    } catch (const Broken&) {
      ++broken_promises;
    }
    ++runs;
  };
  if (seconds <= 0 && wanted == 0) seconds = 5;
  const auto enough = [&] { return (wanted > 0 && runs >= wanted) || (seconds > 0 && computed() >= seconds); };
  for (const auto& text : seeds) run(text);
  Mutator mutate(seed, seeds, words);
  while (!enough()) run(mutate());
  allow(0);
  std::printf("%zu inputs, %zu of them as they are\n", runs, seeds.size());
  return broken_promises == 0 ? 0 : 1;
}
