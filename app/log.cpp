#include "log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <utility>

#include "base/text.hpp"
#include "cli.hpp"

namespace ovir::app {

void start_log(std::string_view level, int verbose, const std::string& file) {
  auto threshold = verbose > 1 ? spdlog::level::debug : verbose == 1 ? spdlog::level::info : spdlog::level::off;
  if (!level.empty()) {
    const auto word = std::string(level);
    threshold = spdlog::level::from_str(word);
    // from_str takes what it does not know for "off".
    if (threshold == spdlog::level::off && word != "off")
      throw UsageError("--log-level: expected trace, debug, info, warning, error or off, not '" + printable(word) +
                       "'");
  } else if (!file.empty() && verbose == 0) {
    threshold = spdlog::level::info;
  }
  if (threshold == spdlog::level::off) {
    spdlog::set_level(threshold);
    return;
  }
  try {
    auto logger = file.empty() ? spdlog::stderr_logger_st("ovir") : spdlog::basic_logger_st("ovir", file);
    logger->set_pattern(file.empty() ? "[%L] %v" : "%Y-%m-%dT%H:%M:%S.%e [%L] %v");
    logger->set_level(threshold);
    logger->flush_on(spdlog::level::info);
    // A log that can no longer be written does not stop the command; once is enough to say so.
    logger->set_error_handler([told = false](const std::string& why) mutable {
      if (!std::exchange(told, true)) to_stderr(fmt::format("note: cannot write the log: {}\n", printable(why)));
    });
    spdlog::set_default_logger(std::move(logger));
  } catch (const spdlog::spdlog_ex& error) {
    fail(Code::E0002, "cannot write the log: {}", printable(error.what()));
  }
}

bool log_enabled(bool debug) { return spdlog::should_log(debug ? spdlog::level::debug : spdlog::level::info); }
void log_line(bool debug, std::string_view text) {
  spdlog::log(debug ? spdlog::level::debug : spdlog::level::info, text);
}

void flush_log() { spdlog::default_logger_raw()->flush(); }

}  // namespace ovir::app
