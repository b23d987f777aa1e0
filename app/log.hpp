// The log: to stderr, or to a file. Off unless asked for.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace ovir::app {

/// `level`: a word (trace, debug, info, warning, error, off), or empty: by the number of -v. Throws UsageError.
void start_log(std::string_view level, int verbose, const std::string& file);
bool log_enabled(bool debug);
void log_line(bool debug, std::string_view text);
void flush_log();

template <class... A>
void log_info(fmt::format_string<A...> text, A&&... args) {
  if (log_enabled(false)) log_line(false, fmt::format(text, std::forward<A>(args)...));
}
template <class... A>
void log_debug(fmt::format_string<A...> text, A&&... args) {
  if (log_enabled(true)) log_line(true, fmt::format(text, std::forward<A>(args)...));
}

class Stopwatch {
 public:
  /// The time since the last call: "12.3 ms".
  std::string lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> passed = now - last_;
    last_ = now;
    return fmt::format("{:.1f} ms", passed.count());
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace ovir::app
