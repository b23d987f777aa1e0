#include "diag/diagnostic.hpp"

#include <set>

#include "catch.hpp"

using namespace ovir;

namespace {

SourceLoc place(std::string_view text, std::size_t offset) {
  return {std::make_shared<SourceFile>(SourceFile{"m.xml", nullptr, text}), offset, 1};
}

Diagnostic of(Code code) {
  Diagnostic d;
  d.code = code;
  return d;
}

}  // namespace

TEST_CASE("every code explains itself") {
  std::set<Code> seen;
  for (const auto& entry : all_codes()) {
    INFO(to_string(entry.code));
    CHECK(seen.insert(entry.code).second);
    CHECK_FALSE(entry.title.empty());
    CHECK(entry.cause.size() > 40);
    CHECK_FALSE(entry.example.empty());
    CHECK_FALSE(entry.fix.empty());
    CHECK(parse_code(to_string(entry.code)) == entry.code);
    CHECK(&info(entry.code) == &entry);
  }
}

TEST_CASE("exit statuses follow the class of the code") {
  for (const auto& entry : all_codes()) {
    INFO(to_string(entry.code));
    const int number = static_cast<int>(entry.code);
    int expected = number < 100 ? 7 : number < 600 ? 3 : number < 700 ? 4 : number < 800 ? 5 : number < 900 ? 6 : 3;
    if (severity(entry.code) == Severity::note) expected = 0;
    if (entry.code == Code::E0301) expected = 7;  // "a file that cannot be opened, read or written -> 7"
    CHECK(entry.exit_status == expected);
  }
}

TEST_CASE("codes as text") {
  CHECK(to_string(Code::E0001) == "E0001");
  CHECK(to_string(Code::T0801) == "T0801");
  CHECK(to_string(Code::W0902) == "W0902");
  CHECK(parse_code("e0512") == Code::E0512);
  CHECK_FALSE(parse_code("W0512"));
  CHECK_FALSE(parse_code("E05"));
  CHECK_FALSE(parse_code(""));
  CHECK(severity(Code::E0706) == Severity::error);
  CHECK(severity(Code::W0901) == Severity::warning);
}

TEST_CASE("a guess gives way to verified help that says otherwise") {
  const auto message = [](std::string_view help) {
    Diagnostics diagnostics;
    diagnostics.add(diagnose(Code::E0403, "must be an element type, but is \"f31\"; did you mean \"f32\"?"));
    diagnostics.set_help(0, std::string(help), {});
    return diagnostics.all().front().message;
  };
  CHECK(message("set element_type=\"f16\"") == "must be an element type, but is \"f31\"");
  CHECK(message("set element_type=\"f32\"") == "must be an element type, but is \"f31\"; did you mean \"f32\"?");
}

TEST_CASE("lines and columns") {
  constexpr std::string_view text = "ab\n\t\xc3\xa4x\r\n\nend";
  const auto check = [&](std::size_t offset, std::size_t line, std::size_t column) {
    INFO("offset " << offset);
    const auto one = line_column(place(text, offset)), indexed = LineIndex(SourceFile{"", nullptr, text})(offset);
    CHECK(one.line == line);
    CHECK(one.column == column);
    CHECK(indexed.line == line);
    CHECK(indexed.column == column);
  };
  check(0, 1, 1);
  check(2, 1, 3);
  check(3, 2, 1);
  check(4, 2, 2);  // behind the tab, which is one column
  check(6, 2, 3);  // behind ä, which is two bytes and one column
  check(9, 3, 1);
  check(10, 4, 1);
  check(13, 4, 4);
  check(1000, 4, 4);     // past the end
  std::string one_line;  // longer than the blocks that LineIndex counts in
  while (one_line.size() < 20'000) one_line += "\xc3\xa4x";
  for (const std::size_t offset : {4095u, 4096u, 4097u, 8192u, 12'345u, 19'999u}) {
    const auto indexed = LineIndex(SourceFile{"", nullptr, one_line})(offset);
    CHECK(indexed.line == 1);
    CHECK(indexed.column == line_column(place(one_line, offset)).column);
  }
  CHECK(source_line(place(text, 4)) == "\t\xc3\xa4x");
  CHECK(source_line(place(text, 9)).empty());
  CHECK(source_line(place(text, 13)) == "end");
  CHECK(source_line({}).empty());
}

TEST_CASE("counting") {
  Diagnostics diagnostics;
  diagnostics.add(of(Code::E0507));
  diagnostics.add(of(Code::W0902));
  diagnostics.add(of(Code::W0901));
  CHECK(diagnostics.errors() == 1);
  CHECK(diagnostics.warnings() == 2);
  diagnostics.promote([](const Diagnostic& d) { return d.code == Code::W0901; });
  CHECK(diagnostics.errors() == 2);
  diagnostics.drop_warnings([](const Diagnostic& d) { return d.code == Code::W0901 || d.code == Code::W0902; });
  CHECK(diagnostics.errors() == 2);
  CHECK(diagnostics.warnings() == 0);
}

TEST_CASE("a failure carries its diagnostic") {
  try {
    fail(Code::E0507, "axis {} of rank {}", 4, 2);
    FAIL("not thrown");
  } catch (const Failure& failure) {
    CHECK(failure.diagnostic.code == Code::E0507);
    CHECK(std::string(failure.what()) == "axis 4 of rank 2");
  }
}
