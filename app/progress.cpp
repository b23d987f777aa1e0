#include "progress.hpp"

#include <signal.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace ovir::app {
namespace {

constexpr auto kFirst = std::chrono::milliseconds(500), kTick = std::chrono::milliseconds(200);

std::string time_text(double seconds) {
  const auto s = static_cast<i64>(std::llround(seconds));
  return s < 120 ? fmt::format("{} s", s) : fmt::format("{} min {:02} s", s / 60, s % 60);
}

bool may_draw(const Common& common) {
  const bool logs = common.log_file.empty() && (common.verbose > 0 || !common.log_level.empty());
  return !common.quiet && !logs && ::isatty(STDERR_FILENO) == 1;
}

}  // namespace

std::string progress_line(const std::string& what, i64 done, i64 total, double seconds, std::size_t width) {
  std::string line;
  if (total <= 1 || done <= 0) {
    line = fmt::format("{}: {}", what, time_text(seconds));
  } else {
    constexpr i64 cells = 20;
    const auto part = std::min(done, total);
    const auto full = cells * part / total;
    const auto left = seconds / static_cast<double>(part) * static_cast<double>(total - part);
    line = fmt::format("{} [{}{}] {}/{}, {} left", what, std::string(full, '#'), std::string(cells - full, ' '), part,
                       total, time_text(left));
  }
  return line.substr(0, width);
}

Progress::Progress(const Common& common, std::string what, i64 total)
    : what_(std::move(what)), total_(total), width_(static_cast<std::size_t>(std::max(20, common.err.width)) - 1) {
  if (!may_draw(common)) return;
  // Signals are for the thread that works.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { draw_until_end(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_one();
  thread_.join();
  clear();
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

void Progress::draw_until_end() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  end_.wait_for(lock, kFirst, [&] { return ended_; });
  while (!ended_) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    std::fputs(("\r\x1b[K" + progress_line(what_, done_, total_, passed.count(), width_)).c_str(), stderr);
    std::fflush(stderr);
    drawn_ = true;
    end_.wait_for(lock, kTick, [&] { return ended_; });
  }
}

}  // namespace ovir::app
