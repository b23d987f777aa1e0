// Golden tests of the command line. A .test file holds any number of
//
//   # what is tested
//   $ ovir check {models}/sound.xml
//   ok: 3 layers                      <- stdout
//   ! a line of stderr                <- stderr, behind "! "
//   ? 3                               <- exit code, where it is not 0
//
// A command runs under /bin/sh in an empty folder, {tmp}, that the commands of a file share. {models}, {samples} and
// {version} are replaced in commands, and put back into what comes out. {*} in an expected line stands for any text.
// With --bless what did not match is rewritten to what came.
//
// --readme FILE: the same of the commands in a Markdown file's fenced blocks: "$ ovir ..." and, below it, all that a
// terminal shows. They run where `samples` is the folder of that name.
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Replacements = std::vector<std::pair<std::string, std::string>>;  // placeholder, text

struct Case {
  std::vector<std::string> before;  ///< comments and blank lines
  std::string command;
  std::vector<std::string> out, err;
  int status = 0;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  // Text that does not end its last line must not look like text that does.
  if (!text.empty() && text.back() != '\n') lines.back() += "{no newline}";
  return lines;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Lines of stdout that would be read as something else are behind a bar.
bool needs_bar(const std::string& line) {
  return line.empty() || line.front() == '#' || line.starts_with("$ ") || line.starts_with("! ") || line == "!" ||
         line.starts_with("? ") || line.front() == '|';
}

std::pair<std::vector<Case>, std::vector<std::string>> parse(const std::string& text) {
  std::vector<Case> cases;
  std::vector<std::string> before;
  for (const auto& line : lines_of(text)) {
    if (line.starts_with("$ ")) {
      cases.push_back({std::exchange(before, {}), line.substr(2), {}, {}, 0});
    } else if (line.empty() || line.front() == '#') {
      before.push_back(line);
    } else if (cases.empty()) {
      before.push_back(line);
    } else if (line.starts_with("! ") || line == "!") {
      cases.back().err.push_back(line.size() > 2 ? line.substr(2) : "");
    } else if (line.starts_with("? ")) {
      cases.back().status = std::atoi(line.c_str() + 2);
    } else {
      cases.back().out.push_back(line.front() == '|' ? line.substr(1) : line);
    }
  }
  return {std::move(cases), std::move(before)};
}

std::string write(const std::vector<Case>& cases, const std::vector<std::string>& after) {
  std::string text;
  for (const auto& c : cases) {
    for (const auto& line : c.before) text += line + "\n";
    text += "$ " + c.command + "\n";
    for (const auto& line : c.out) text += (needs_bar(line) ? "|" : "") + line + "\n";
    for (const auto& line : c.err) text += line.empty() ? "!\n" : "! " + line + "\n";
    if (c.status != 0) text += "? " + std::to_string(c.status) + "\n";
  }
  for (const auto& line : after) text += line + "\n";
  return text;
}

/// {*} matches any text within a line.
bool matches(std::string_view expected, std::string_view line) {
  const auto star = expected.find("{*}");
  if (star == expected.npos) return expected == line;
  if (!line.starts_with(expected.substr(0, star))) return false;
  const auto rest = expected.substr(star + 3);
  for (auto at = star; at <= line.size(); ++at)
    if (matches(rest, line.substr(at))) return true;
  return false;
}

bool matches(const std::vector<std::string>& expected, const std::vector<std::string>& lines) {
  if (expected.size() != lines.size()) return false;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!matches(expected[i], lines[i])) return false;
  return true;
}

Case run(const Case& wanted, const Replacements& replacements, const fs::path& folder, const fs::path& files) {
  auto command = wanted.command;
  for (const auto& [placeholder, text] : replacements) replace_all(command, placeholder, text);
  const auto out = files / "stdout", err = files / "stderr";
  // The command may be several; the redirection is meant for all of them.
  const auto line = "cd '" + folder.string() + "' && {\n" + command + "\n} >'" + out.string() + "' 2>'" + err.string() +
                    "' </dev/null";
  const int status = std::system(line.c_str());
  Case got = wanted;
  got.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const auto text = [&](const fs::path& path) {
    auto content = read(path);
    for (const auto& [placeholder, real] : replacements) replace_all(content, real, placeholder);
    return lines_of(content);
  };
  got.out = text(out);
  got.err = text(err);
  return got;
}

void show(std::string_view what, const std::vector<std::string>& expected, const std::vector<std::string>& got) {
  if (matches(expected, got)) return;
  std::cout << "  " << what << " expected:\n";
  for (const auto& line : expected) std::cout << "    " << line << "\n";
  std::cout << "  " << what << " came:\n";
  for (const auto& line : got) std::cout << "    " << line << "\n";
}

/// True where all was as expected.
bool test(const fs::path& file, Replacements replacements, bool bless) {
  auto [cases, after] = parse(read(file));
  if (cases.empty()) throw std::runtime_error(file.string() + " holds no command");
  std::string name = (fs::temp_directory_path() / "ovir-cli-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  const fs::path root = name, folder = root / "work";
  fs::create_directory(folder);
  replacements.emplace_back("{tmp}", folder.string());
  std::size_t failed = 0;
  for (auto& c : cases) {
    const auto got = run(c, replacements, folder, root);
    if (matches(c.out, got.out) && matches(c.err, got.err) && c.status == got.status) continue;
    ++failed;
    if (bless) {
      c = got;
      continue;
    }
    std::cout << file.filename().string() << ": $ " << c.command << "\n";
    show("stdout", c.out, got.out);
    show("stderr", c.err, got.err);
    if (c.status != got.status) std::cout << "  exit " << got.status << ", not " << c.status << "\n";
  }
  fs::remove_all(root);
  if (bless && failed > 0) std::ofstream(file, std::ios::binary) << write(cases, after);
  std::cout << file.filename().string() << ": " << cases.size() << " commands, " << failed
            << (bless ? " blessed\n" : " failed\n");
  return failed == 0 || bless;
}

/// Runs the commands that a Markdown file shows; true where a terminal would show what it says.
bool test_readme(const fs::path& file, const Replacements& replacements) {
  std::vector<std::pair<std::string, std::vector<std::string>>> shown;  // command, what follows it
  bool fenced = false, open = false;
  for (const auto& line : lines_of(read(file))) {
    if (line.starts_with("```")) {
      fenced = !fenced;
      open = false;
    } else if (fenced && line.starts_with("$ ")) {
      shown.push_back({line.substr(2), {}});
      open = true;
    } else if (open) {
      shown.back().second.push_back(line);
    }
  }
  if (shown.empty()) throw std::runtime_error(file.string() + " shows no command");
  std::string name = (fs::temp_directory_path() / "ovir-cli-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  const fs::path root = name, folder = root / "work";
  fs::create_directory(folder);
  for (const auto& [placeholder, path] : replacements)
    if (placeholder == "{samples}") fs::create_directory_symlink(path, folder / "samples");
  std::size_t failed = 0;
  for (auto& [command, expected] : shown) {
    auto got = run({{}, command + " 2>&1", {}, {}, 0}, {}, folder, root).out;
    for (auto* lines : {&expected, &got})
      while (!lines->empty() && lines->back().empty()) lines->pop_back();
    if (matches(expected, got)) continue;
    ++failed;
    std::cout << file.filename().string() << ": $ " << command << "\n";
    show("output", expected, got);
  }
  fs::remove_all(root);
  std::cout << file.filename().string() << ": " << shown.size() << " commands, " << failed << " failed\n";
  return failed == 0;
}

/// What a user's settings could change is not there for a test.
void clean_environment(const std::string& ovir) {
  for (const char* name : {"NO_COLOR", "OVIR_COLOR", "OVIR_LOG_LEVEL", "OVIR_LOG_FILE", "OVIR_LIMITS", "OVIR_TIER",
                           "OVIR_SEED", "OVIR_THREADS", "COLUMNS"})
    ::unsetenv(name);
  ::setenv("LC_ALL", "C", 1);
  const char* const path = std::getenv("PATH");
  ::setenv("PATH", (fs::absolute(ovir).parent_path().string() + ":" + (path ? path : "")).c_str(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  std::string ovir;
  Replacements replacements;
  std::vector<std::string> files, readmes;
  bool bless = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return ++i < argc ? std::string(argv[i]) : std::string(); };
    if (word == "--bless") bless = true;
    else if (word == "--ovir") ovir = next();
    else if (word == "--models") replacements.emplace_back("{models}", fs::absolute(next()).string());
    else if (word == "--samples") replacements.emplace_back("{samples}", fs::absolute(next()).string());
    else if (word == "--readme") readmes.push_back(next());
    else if (word == "--version") replacements.emplace_back("{version}", next());
    else files.push_back(word);
  }
  if (!ovir.empty() && !fs::exists(ovir)) {
    std::cerr << "cli_runner: there is no " << ovir << "\n";
    return 2;
  }
  if (ovir.empty() || files.size() + readmes.size() == 0) {
    std::cerr << "usage: cli_runner --ovir PATH --models DIR --samples DIR --version V [--bless] [--readme FILE.md] "
                 "FILE.test...\n";
    return 2;
  }
  try {
    clean_environment(ovir);
    bool good = true;
    for (const auto& file : files) good &= test(file, replacements, bless);
    for (const auto& file : readmes) good &= test_readme(file, replacements);
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
