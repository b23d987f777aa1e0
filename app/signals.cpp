#include "signals.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <csignal>
#include <cstring>

#include "base/staged_files.hpp"
#include "cli.hpp"

namespace ovir::app {
namespace {

void say(const char* text) { static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text))); }

/// As a shell reports a program that a signal ended: 129 for SIGHUP, 130 for SIGINT, 141 for SIGPIPE, 143 for SIGTERM.
void on_end(int signal) { leave_process(kSignaled + signal); }

/// A mapped file that became shorter, or a disk that failed.
void on_bus_error(int) {
  say("error[E0001]: a file became shorter, or could not be read, while it was in use\n");
  leave_process(kLimit);
}

void on_processor_time(int) {
  say("error[E0003]: stopped at the limit of processor time (ulimit -t)\n");
  leave_process(kLimit);
}

void install(int signal, void (*handler)(int)) {
  struct sigaction old {
  }, action{};
  if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
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
