// A line on the terminal that says how far long work has come.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/int.hpp"
#include "cli.hpp"

namespace ovir::app {

/// Shown on stderr where it is a terminal and nothing else is written there (-q and a log to stderr turn it off), from
/// half a second on. The line disappears with the object, and with clear() before anything else is printed. Not by a
/// library: Debian has none for C++.
class Progress {
 public:
  /// `total` parts of the work; 0 or 1: only the time is shown.
  Progress(const Common& common, std::string what, i64 total = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many parts are done.
  void at(i64 done) { done_ = done; }
  void advance() { ++done_; }
  /// Clears the line, before something else is written to the terminal.
  void clear();

 private:
  std::string what_;
  i64 total_;
  std::size_t width_;
  std::atomic<i64> done_ = 0;
  bool drawn_ = false, ended_ = false;
  std::mutex mutex_;
  std::condition_variable end_;
  std::thread thread_;

  void draw_until_end();
};

/// `f()`, whose time is shown.
template <class F>
auto with_progress(const Common& common, std::string what, F&& f) {
  const Progress progress(common, std::move(what));
  return f();
}

/// "run [#####     ] 10/20, 3 s left": at most `width` columns.
std::string progress_line(const std::string& what, i64 done, i64 total, double seconds, std::size_t width);

}  // namespace ovir::app
