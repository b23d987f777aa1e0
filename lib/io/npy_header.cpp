#include "io/npy_header.hpp"

#include <charconv>

#include "base/text.hpp"
#include "diag/diagnostic.hpp"

namespace ovir::io {

namespace {

/// Just enough of Python's literals: a dictionary with strings, booleans and a tuple of whole numbers.
class Reader {
 public:
  Reader(std::string_view text, std::string_view where) : rest_(text), where_(where) {}

  NpyHeader dictionary() {
    NpyHeader header;
    bool seen[3] = {};
    const auto first_time = [&](int i) {
      if (seen[i]) malformed("an entry is there twice");
      seen[i] = true;
    };
    expect('{');
    while (!accept('}')) {
      const auto key = quoted();
      expect(':');
      if (key == "descr") {
        first_time(0);
        header.descr = descr();
      } else if (key == "fortran_order") {
        first_time(1);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        first_time(2);
        header.shape = shape();
      } else malformed(fmt::format("it has an entry '{}'", printable(key)));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) malformed("text follows the dictionary");
    if (!(seen[0] && seen[1] && seen[2])) malformed("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  [[noreturn]] void malformed(std::string_view why) {
    fail(Code::E0705, "{}: the .npy header is malformed: {}", where_, why);
  }

  void skip_blanks() {
    while (!rest_.empty() &&
           (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) malformed(fmt::format("'{}' expected", c));
  }
  bool accept(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view quoted() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') malformed("a quoted word expected");
    const auto end = rest_.find(quote, 1);
    if (end == rest_.npos) malformed("a quote is not closed");
    const auto word = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return word;
  }
  std::string descr() {
    skip_blanks();
    if (rest_.starts_with('[') || rest_.starts_with('('))
      fail(Code::E0704, "{}: records (a structured dtype) cannot be read", where_);
    return std::string(quoted());
  }
  bool boolean() {
    if (accept("True")) return true;
    if (!accept("False")) malformed("True or False expected");
    return false;
  }
  Shape shape() {
    Shape dims;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      i64 n = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
      if (error != std::errc{}) malformed("a dim is not a 64-bit number");
      if (n < 0) malformed(fmt::format("a dim is {}", n));
      rest_.remove_prefix(end - rest_.data());
      accept('L');  // Python 2 wrote long numbers so
      dims.push_back(n);
      if (!accept(',')) {
        if (dims.size() == 1) malformed("a tuple of one has a comma");
        expect(')');
        break;
      }
    }
    return dims;
  }

  std::string_view rest_, where_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view file, std::string_view where) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (file.empty()) fail(Code::E0705, "{}: no bytes, expected an .npy file", where);
  if (!file.starts_with(magic)) fail(Code::E0705, "{}: not an .npy file", where);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(file[i])); };
  if (file.size() < 10) fail(Code::E0705, "{}: the .npy header is cut off", where);
  const auto major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) fail(Code::E0705, "{}: unknown .npy version {}.{}", where, major, minor);
  const std::size_t start = major == 1 ? 10 : 12;
  if (file.size() < start) fail(Code::E0705, "{}: the .npy header is cut off", where);
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > kLongestHeader) fail(Code::E0705, "{}: an .npy header of {} bytes", where, length);
  if (file.size() - start < length) fail(Code::E0705, "{}: the .npy header is cut off", where);
  auto header = Reader(file.substr(start, length), where).dictionary();
  header.data_offset = start + length;
  return header;
}

std::string format_npy_header(std::string_view descr, const Shape& shape) {
  std::string dims;
  for (const auto n : shape) dims += std::to_string(n) + ", ";
  if (shape.size() > 1) dims.resize(dims.size() - 2);
  else if (shape.size() == 1) dims.pop_back();
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  const bool long_one = text.size() > 0xFFFF - 128;
  const std::size_t start = long_one ? 12 : 10;
  text.append(63 - (start + text.size()) % 64, ' ');
  text += '\n';
  std::string header = long_one ? std::string("\x93NUMPY\x02\x00", 8) : std::string("\x93NUMPY\x01\x00", 8);
  for (std::size_t i = 0; i < start - 8; ++i) header += static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return header + text;
}

}  // namespace ovir::io
