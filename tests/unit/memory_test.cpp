#include "base/memory.hpp"

#include <filesystem>

#include "base/bytes.hpp"
#include "catch.hpp"
#include "temporary.hpp"

using namespace ovir;

TEST_CASE("control groups limit the memory, each with those around it") {
  const Temporary root;
  std::filesystem::create_directories(root.path("outer/inner"));
  std::filesystem::create_directories(root.path("memory/old"));
  write_file(root.path("outer/memory.max"), "5000\n");
  write_file(root.path("outer/inner/memory.max"), "max\n");
  write_file(root.path("memory/memory.limit_in_bytes"), "9223372036854771712\n");
  write_file(root.path("memory/old/memory.limit_in_bytes"), "3000\n");
  const auto limit = [&](std::string_view memberships) { return control_group_limit(memberships, root.path("")); };
  CHECK(limit("0::/outer/inner\n") == 5000);
  CHECK(limit("0::/\n") == INT64_MAX);
  CHECK(limit("12:cpu,cpuacct:/old\n4:memory:/old\n0::/outer\n") == 3000);
  CHECK(limit("4:memory:/elsewhere\n") == 9223372036854771712);
  CHECK(limit("") == INT64_MAX);
  CHECK(limit("nonsense\n:\n") == INT64_MAX);
}

TEST_CASE("some memory is there") { CHECK(memory_available() > 0); }
