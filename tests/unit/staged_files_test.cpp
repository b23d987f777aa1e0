#include "base/staged_files.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "base/bytes.hpp"
#include "catch.hpp"
#include "temporary.hpp"

using namespace ovir;
namespace fs = std::filesystem;

TEST_CASE("files appear together") {
  const Temporary folder;
  write_file(folder.path("b"), "old");
  {
    StagedFiles files;
    files.add(folder.path("a"), "1");
    files.add(folder.path("b"), "2");
    CHECK_FALSE(fs::exists(folder.path("a")));
    CHECK(map_file(folder.path("b")).text() == "old");
    files.commit();
  }
  CHECK(map_file(folder.path("a")).text() == "1");
  CHECK(map_file(folder.path("b")).text() == "2");
  CHECK(folder.file_count() == 2);
}

TEST_CASE("files that are not committed leave nothing behind") {
  const Temporary folder;
  {
    StagedFiles files;
    files.add(folder.path("a"), "1");
    CHECK_THROWS_AS(files.add(folder.path("."), "2"), std::system_error);
  }
  CHECK(folder.file_count() == 0);
}

TEST_CASE("where one file cannot be put into its place, none is") {
  const Temporary folder;
  write_file(folder.path("a"), "old");
  {
    StagedFiles files;
    files.add(folder.path("a"), "new");
    files.add(folder.path("b"), "new");
    files.add(folder.path("c"), "new");
    fs::create_directory(folder.path("c"));  // in the meantime
    CHECK_THROWS_AS(files.commit(), std::system_error);
  }
  CHECK(map_file(folder.path("a")).text() == "old");
  CHECK_FALSE(fs::exists(folder.path("b")));
  CHECK(folder.file_count() == 2);
}

TEST_CASE("a link in a folder is replaced, not followed") {
  const Temporary folder;
  write_file(folder.path("outside"), "kept");
  fs::create_symlink("outside", folder.path("0.npy"));
  StagedFiles files;
  files.add(folder.path("0.npy"), "new");
  files.commit();
  CHECK_FALSE(fs::is_symlink(folder.path("0.npy")));
  CHECK(map_file(folder.path("outside")).text() == "kept");
}

TEST_CASE("a process that leaves takes its temporary files with it") {
  const Temporary folder;
  const auto child = ::fork();
  if (child == 0) {
    StagedFiles files;
    files.add(folder.path("a"), "1");
    ::setenv("TMPDIR", folder.path("").c_str(), 1);
    const TemporaryFolder own("some", std::array<std::string_view, 2>{"x", "y"});
    write_file(own.path() + "/x", "2");
    leave_process(3);
    ::_exit(99);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(folder.file_count() == 0);
}

TEST_CASE("a temporary folder goes with all that is in it") {
  std::string path;
  {
    const TemporaryFolder own("some", std::array<std::string_view, 1>{"x"});
    path = own.path();
    write_file(path + "/x", "1");
    write_file(path + "/other", "2");
  }
  CHECK_FALSE(fs::exists(path));
}
