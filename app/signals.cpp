#include "signals.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "base/staged_files.hpp"
#include "cli.hpp"

namespace ovir::app {
namespace {

void say(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text))); }

/// As a shell reports a program that a signal ended: 129 for SIGHUP, 130 for SIGINT, 141 for SIGPIPE, 143 for SIGTERM.
void on_end(int signal) { leave_process(kSignaled + signal); }

/// Finds the file that is mapped at an address in /proc/self/maps, with nothing but what a signal handler may call.
class MappedPath {
 public:
  explicit MappedPath(const void* address) : address_(reinterpret_cast<std::uintptr_t>(address)) {
    const int fd = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    std::array<char, 4096> part{};
    for (::ssize_t n = 1; !found_ && n > 0;) {
      n = ::read(fd, part.data(), part.size());
      for (::ssize_t i = 0; !found_ && i < n; ++i) {
        if (part[i] == '\n') end_line();
        else if (length_ + 1 < line_.size()) line_[length_++] = part[i];
      }
    }
    ::close(fd);
  }
  /// Empty where there is none.
  const char* path() const { return path_; }

 private:
  /// "7f00-7f80 r--p 00000000 08:01 1234    /a/path"
  void end_line() {
    line_[length_] = '\0';
    const auto* at = line_.data();
    const auto begin = number(at), end = *at == '-' ? number(++at) : 0;
    found_ = begin <= address_ && address_ < end;
    if (const char* slash = found_ ? std::strchr(line_.data(), '/') : nullptr) {
      path_ = slash;
      for (auto* c = line_.data(); *c != '\0'; ++c)  // a terminal must not get these
        if (static_cast<unsigned char>(*c) < ' ' || *c == '\x7f') *c = '?';
    }
    length_ = 0;
  }
  static std::uintptr_t number(const char*& at) {
    std::uintptr_t value = 0;
    for (;; ++at) {
      if (*at >= '0' && *at <= '9') value = value * 16 + static_cast<std::uintptr_t>(*at - '0');
      else if (*at >= 'a' && *at <= 'f') value = value * 16 + static_cast<std::uintptr_t>(*at - 'a' + 10);
      else return value;
    }
  }

  std::uintptr_t address_;
  std::array<char, 4300> line_{};  // a path has at most 4096
  std::size_t length_ = 0;
  bool found_ = false;
  const char* path_ = "";
};

/// A mapped file that became shorter, or a disk that failed.
void on_bus_error(int, siginfo_t* info, void*) {
  const MappedPath file(info->si_addr);
  say("error[E0001]: ");
  say(*file.path() == '\0' ? "a file" : file.path());
  say(" became shorter, or could not be read, while it was in use\n");
  leave_process(kLimit);
}

void on_processor_time(int) {
  say("error[E0003]: stopped at the limit of processor time (ulimit -t)\n");
  leave_process(kLimit);
}

void install(int signal, const struct sigaction& action) {
  struct sigaction old {};
  if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) return;
  ::sigaction(signal, &action, nullptr);
}

void install(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  install(signal, action);
}

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  install(signal, action);
}

/// A file must not get the number of a standard stream that was closed; writing to one still fails.
void occupy_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

}  // namespace

void handle_signals() {
  occupy_standard_streams();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) install(signal, on_end);
  install(SIGBUS, on_bus_error);
  install(SIGXCPU, on_processor_time);
  std::signal(SIGXFSZ, SIG_IGN);  // writing fails with EFBIG
}

}  // namespace ovir::app
