#include "base/bytes.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "base/checked.hpp"
#include "base/file_part.hpp"
#include "catch.hpp"
#include "temporary.hpp"

using namespace ovir;
namespace fs = std::filesystem;

TEST_CASE("a file is written whole and read back") {
  const Temporary folder;
  const auto path = folder.path("a.txt");
  write_file(path, "hello");
  CHECK(map_file(path).text() == "hello");
  write_file(path, "again");
  CHECK(map_file(path).text() == "again");
  CHECK(folder.file_count() == 1);  // nothing temporary stays
}

TEST_CASE("writing keeps links and modes") {
  const Temporary folder;
  const auto path = folder.path("real"), link = folder.path("link");
  write_file(path, "1");
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  fs::create_symlink("real", link);
  write_file(link, "2");
  CHECK(fs::is_symlink(link));
  CHECK(map_file(path).text() == "2");
  CHECK((fs::status(path).permissions() & fs::perms::all) == static_cast<fs::perms>(0640));
}

TEST_CASE("a file that cannot be written leaves nothing behind") {
  const Temporary folder;
  CHECK_THROWS_AS(write_file(folder.path("missing/x"), "x"), std::system_error);
  CHECK_THROWS_AS(write_file(folder.path("."), "x"), std::system_error);
  CHECK(folder.file_count() == 0);
  CHECK_THROWS_AS(write_file("/dev/full", "x"), std::system_error);
  CHECK_NOTHROW(write_file("/dev/null", "x"));
}

TEST_CASE("what cannot be mapped") {
  const Temporary folder;
  write_file(folder.path("empty"), "");
  CHECK(map_file(folder.path("empty")).size() == 0);
  CHECK(map_file("/dev/null").size() == 0);
  CHECK(map_file("/proc/self/status").size() > 0);
  CHECK_THROWS_AS(map_file(folder.path("missing")), std::system_error);
  CHECK_THROWS_AS(map_file(folder.path(".")), std::system_error);
  CHECK_THROWS_AS(map_file("/dev/zero"), std::system_error);
}

TEST_CASE("pages of a mapped file that are left no longer count, and come back as they are") {
  constexpr std::size_t size = 16 << 20, page = 4096, offset = 100;
  const Temporary folder;
  std::string text(size, '.');
  for (std::size_t i = 0; i < size; i += page) text[i] = static_cast<char>('a' + i / page % 26);
  write_file(folder.path("a"), text);
  const auto bytes = map_file(folder.path("a"));
  const auto resident = [] {
    i64 all = 0, in_memory = 0;
    std::ifstream("/proc/self/statm") >> all >> in_memory;
    return in_memory;
  };
  const auto untouched = resident();
  REQUIRE(bytes.text() == text);
  const auto touched = resident();
  REQUIRE(touched - untouched > i64{size / page / 2});
  FilePart(bytes.owner, bytes.view.data() + offset).leave_pages(size - 2 * offset);
  CHECK(touched - resident() > i64{size / page / 2});
  CHECK(bytes.text() == text);
  FilePart().leave_pages(size);
}

TEST_CASE("a part of a mapped file is read, and no farther than the file goes") {
  const Temporary folder;
  write_file(folder.path("a"), "0123456789");
  FilePart part;
  {
    const auto bytes = map_file(folder.path("a"));
    part = FilePart(bytes.owner, bytes.view.data() + 3);
  }
  REQUIRE(part);
  std::string text = "....";
  CHECK(part.read(2, std::as_writable_bytes(std::span(text))));
  CHECK(text == "5678");
  CHECK_FALSE(part.read(4, std::as_writable_bytes(std::span(text))));
  CHECK_FALSE(FilePart().read(0, std::as_writable_bytes(std::span(text))));
  const auto memory = allocate(64);
  CHECK_FALSE(FilePart(memory, memory.get()));
}

TEST_CASE("a part keeps the whole alive") {
  const Temporary folder;
  write_file(folder.path("a"), "0123456789");
  Bytes part;
  {
    const Bytes whole = map_file(folder.path("a"));
    part = {whole.owner, whole.view.subspan(3, 4)};
  }
  CHECK(part.text() == "3456");
}

TEST_CASE("storage is aligned") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}}) {
    const auto block = allocate(size);
    CHECK(reinterpret_cast<std::uintptr_t>(block.get()) % 64 == 0);
  }
  CHECK_THROWS_AS(allocate(SIZE_MAX - 7), std::bad_alloc);
}

TEST_CASE("sizes that overflow") {
  const i64 big = i64{1} << 40, dims[] = {big, big}, with_zero[] = {big, big, 0}, negative[] = {2, -1};
  CHECK_FALSE(checked_product(dims));
  CHECK(checked_product(with_zero) == 0);
  CHECK_FALSE(checked_product(negative));
  CHECK(checked_product({}) == 1);
  CHECK_FALSE(checked_mul(big, big));
  CHECK_FALSE(checked_add(INT64_MAX, 1));
}
