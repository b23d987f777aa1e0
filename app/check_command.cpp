#include "check_command.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "cli.hpp"
#include "sub_model_files.hpp"

namespace ovir::app {
namespace {

constexpr std::string_view kMark = "{model}";
constexpr std::array<std::string_view, 2> kFiles{"model.xml", "model.bin"};

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace

CheckCommand::CheckCommand(std::string command) : command_(std::move(command)) {
  if (command_.find(kMark) == command_.npos)
    throw UsageError("--check: expected a command with {model} in it, which stands for the model's path");
  try {
    folder_.emplace("ovir-reduce", kFiles);
  } catch (const std::system_error& error) {
    fail(Code::E0002, "cannot create a folder for temporary files: {}", printable(error.what()));
  }
}

int CheckCommand::status_of(const std::string& model_path) const {
  auto text = command_;
  for (auto at = text.find(kMark); at != text.npos; at = text.find(kMark, at)) {
    const auto word = shell_word(model_path);
    text.replace(at, kMark.size(), word);
    at += word.size();
  }
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  std::array<std::string, 3> words{"sh", "-c", text};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  ::pid_t child = 0;
  const int error = ::posix_spawn(&child, "/bin/sh", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(Code::E0002, "--check: cannot run the command: {}", error_text(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail(Code::E0002, "--check: cannot wait for the command: {}", error_text(errno));
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignaled + WTERMSIG(status);
}

int CheckCommand::status_of(const tools::SubModel& model) const {
  const auto path = (std::filesystem::path(folder_->path()) / kFiles[0]).string();
  write_model(path, model);
  return status_of(path);
}

}  // namespace ovir::app
