#include "input_values.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "cli.hpp"
#include "io/files.hpp"
#include "io/literal.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/storable.hpp"
#include "model/report.hpp"
#include "names.hpp"
#include "op/work.hpp"
#include "tensor_files.hpp"
#include "tools/numbers.hpp"

namespace ovir::app {
namespace {

/// The file of that name in a folder. Names come from the model: one that would lead out of the folder has no file.
std::optional<std::string> file_in(const std::string& folder, const std::string& name) {
  if (name.find('/') != name.npos || name.find('\0') != name.npos) return std::nullopt;
  std::error_code ignored;
  auto file = (std::filesystem::path(folder) / name).string();
  return std::filesystem::exists(file, ignored) ? std::optional(std::move(file)) : std::nullopt;
}

/// How many elements a conversion changed, by what became of them.
struct Changes {
  std::size_t overflow = 0, truncated = 0, out_of_range = 0, rounded = 0, nan = 0;
  std::optional<i64> first;  ///< the first element that changed
  double value = 0;          ///< what it was
};

Changes changes_between(const Tensor& before, const Tensor& after) {
  Changes changes;
  const bool integer = contains(kInteger, after.type());
  tools::each_pair(before, after, [&](i64 i, double old, double now) {
    if (old == now || (std::isnan(old) && std::isnan(now))) return;
    auto& count = std::isnan(old)                     ? changes.nan
                  : !integer && std::isinf(now)       ? changes.overflow
                  : integer && std::trunc(old) == now ? changes.truncated
                  : integer                           ? changes.out_of_range
                                                      : changes.rounded;
    ++count;
    if (changes.first) return;
    changes.first = i;
    changes.value = old;
  });
  return changes;
}

std::string describe(const Changes& c) {
  std::string out;
  const auto add = [&](std::size_t n, std::string_view one, std::string_view many) {
    if (n > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counted(n, "value"), n == 1 ? one : many);
  };
  add(c.overflow, "overflows to inf", "overflow to inf");
  add(c.nan, "is NaN", "are NaN");
  add(c.out_of_range, "is out of range", "are out of range");
  add(c.truncated, "loses its fraction", "lose their fraction");
  add(c.rounded, "is rounded", "are rounded");
  return out;
}

/// E0704 unless the input takes that element type, converted where need be.
void check_type(const InputPort& port, ElementType given, const std::string& from, bool cast) {
  if (port.type == ElementType::dynamic || given == port.type || given == port.given) return;
  const bool text = given == ElementType::string || port.type == ElementType::string;
  if (text || (given != io::storable_type(port.type) && !cast))
    port.fail(Code::E0704,
              fmt::format("input \"{}\" must be {}, but {} is {}", port.name(), name(port.given), from, name(given)),
              text ? "" : "add --cast to convert it");
}

/// The tensor in the element type of the input, or in the one in which it is exchanged: that is not rounded to the
/// other.
void convert_type(const InputPort& port, InputValue& value, bool cast) {
  const auto from = value.tensor.type(), to = port.given;
  check_type(port, from, value.from, cast);
  if (to == ElementType::dynamic || from == to || from == port.type) return;
  const auto converted = convert(value.tensor, to);
  const auto changes = changes_between(value.tensor, converted);
  if (changes.first && !cast)
    port.fail(Code::E0705,
              fmt::format("input \"{}\" is {}, which cannot represent element {} of {}: {}", port.name(), name(to),
                          *changes.first, value.from, changes.value),
              "add --cast to round it");
  if (changes.first)
    value.note = fmt::format("input \"{}\": {} converted from {} to {}: {}", port.name(), value.from, name(from),
                             name(to), describe(changes));
  value.tensor = converted;
}

void check_shape(const InputPort& port, const io::TensorInfo& given, const std::string& from) {
  if (port.shape.contains(given.shape)) return;
  port.fail(Code::E0703, fmt::format("input \"{}\" must be {}{}, but {} is {}{}", port.name(), name(port.given),
                                     to_string(port.shape), from, name(given.type), to_string(given.shape)));
}

/// What an .npy file for this input may take, whatever type its elements are cast from.
std::size_t max_bytes(const InputPort& port) {
  constexpr i64 header = 1 << 17, widest = 8;
  const auto count = port.shape.element_count();
  if (port.type == ElementType::string || !count.is_bounded()) return kPipeLimit;
  const auto bytes = checked_mul(count.max, widest).value_or(INT64_MAX);
  return std::min<i64>(bytes, kPipeLimit) + header;
}

/// The file has the size of the input's elements and nothing else.
bool is_raw(const InputPort& port, const Bytes& file) {
  return port.shape.is_static() && contains(kFloat | kInteger, port.given) &&
         io::storable_type(port.given) == port.given &&
         saturating_mul(saturating_count(port.shape.to_shape()), byte_width(port.given)) == std::ssize(file);
}

/// "1x3xf32=@raw.bin".
std::string raw_word(const InputPort& port, const std::string& path) {
  std::string word;
  for (const auto& d : port.shape) word += fmt::format("{}x", d.length());
  return fmt::format("{}{}=@{}", word, name(port.given), printable(path));
}

InputValue read_file(const InputPort& port, std::string path, const ValueOptions& options) {
  if (path.empty()) port.fail(Code::E0705, fmt::format("input \"{}\": expected a file name after '@'", port.name()));
  if (is_folder(path) || is_npz(path)) {
    if (std::error_code error; is_folder(path) && !std::filesystem::is_directory(path, error))
      fail(Code::E0001, "cannot open the folder {}: {}", printable(path), error.message());
    const auto found = find_member(port, path);
    if (found) path = *found;
    else if (is_folder(path))
      port.fail(Code::E0702, fmt::format("the folder {} has no file for input \"{}\", such as \"{}.npy\"",
                                         printable(path), port.name(), port.name()));
  }
  const auto where = printable(path);
  const auto [file_name, key] = io::split_key(path);
  const auto file = io::open_file(file_name);
  if (key.empty() && io::is_image(io::format_of(file, path))) {
    const auto image = io::parse_image(file, where);
    try {
      return {io::image_input(image, port.given, port.shape, options.image), path, true, {}};
    } catch (const Failure& failure) {
      const auto& d = failure.diagnostic;
      port.fail(d.code, fmt::format("input \"{}\" from {}: {}", port.name(), where, d.message));
    }
  }
  if (key.empty() && io::format_of(file, path) == io::Format::unknown && is_raw(port, file))
    port.fail(Code::E0705,
              fmt::format("input \"{}\": {} has no format that names a type and a shape, but its size fits {}{}",
                          port.name(), where, name(port.given), to_string(port.shape)),
              fmt::format("if it holds the bare elements, write -i {}",
                          shell_word(port.name() + "=" + raw_word(port, path))));
  // Before the elements are unpacked: an archive of megabytes may hold gigabytes.
  if (const auto info = io::tensor_info(file, path)) {
    check_type(port, info->type, where, options.cast);
    check_shape(port, *info, where);
  }
  return {io::parse_tensor(file, path), where, false, {}};
}

/// The word that was meant where a VALUE is like one of them.
std::string nearest_value(const std::string& value) {
  std::error_code ignored;
  if (std::filesystem::exists(value, ignored)) return {};
  if (parse_number<double>(trim(value))) return fmt::format("; did you mean \"const:{}\"?", printable(trim(value)));
  const auto word = std::string_view(value).substr(0, value.find_first_of(":="));
  if (const auto near = nearest(word, {"zeros", "ones", "const", "arange", "rand", "randn"}))
    return fmt::format("; did you mean \"{}\"?", *near);
  return {};
}

/// Whether the value of another input follows in the same word: "ones,mask=ones".
bool holds_another(const Model& model, std::string_view value) {
  for (auto comma = value.find(','); comma != value.npos; comma = value.find(',', comma + 1)) {
    const auto rest = value.substr(comma + 1);
    if (const auto equals = rest.find('='); equals != rest.npos && find_input(model, trim(rest.substr(0, equals))))
      return true;
  }
  return false;
}

std::string help_for(const InputPort& port, const std::string& value) {
  std::error_code ignored;
  if (std::filesystem::exists(value, ignored))
    return fmt::format("that is a file; write -i {}",
                       shell_word(port.model->parameter_name(port.index) + "=@" + value));
  if (holds_another(*port.model, value)) return "give each input an -i of its own";
  if (value.find_first_not_of("0123456789.,-+eE[]() ") == value.npos && value.find_first_of(", ") != value.npos)
    return fmt::format("values need a type and a shape: '2x3x{}=1 2 3 4 5 6'", name(port.given));
  return "see \"Input values\" in 'ovir help run'";
}

/// What a type is called here that NumPy and PyTorch call so.
std::optional<std::string_view> numpys_type(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"float16", "f16"}, {"half", "f16"},   {"bfloat16", "bf16"}, {"float32", "f32"}, {"float", "f32"},
      {"float64", "f64"}, {"double", "f64"}, {"int8", "i8"},       {"int16", "i16"},   {"int32", "i32"},
      {"int", "i32"},     {"int64", "i64"},  {"long", "i64"},      {"uint8", "u8"},    {"uint16", "u16"},
      {"uint32", "u32"},  {"uint64", "u64"}, {"bool", "boolean"},  {"str", "string"}};
  const auto* const found =
      std::find_if(std::begin(known), std::end(known), [&](const auto& k) { return k.first == word; });
  return found == std::end(known) ? std::nullopt : std::optional(found->second);
}

std::optional<Tensor> read_literal(const InputPort& port, const std::string& value, bool cast) {
  try {
    return io::parse_literal(value, cast);
  } catch (const Failure& failure) {
    const auto& d = failure.diagnostic;
    port.fail(d.code, fmt::format("input \"{}\": {}", port.name(), d.message));
  }
}

}  // namespace

InputPort::InputPort(const Model& m, const Facts& facts, int k) : model(&m), index(k) {
  const auto& fact = facts.of({m.parameters[k], 0});
  type = fact.type;
  given = exchanged_type(m, fact.type, true);
  shape = fact.shape;
}

const Layer& InputPort::layer() const { return *(*model)[model->parameters[index]].layer; }

std::string InputPort::name() const { return printable(model->parameter_name(index)); }

void InputPort::fail(Code code, std::string message, std::string help) const {
  auto d = diagnose(code, std::move(message));
  d.help = std::move(help);
  locate(d, *model, layer());
  ovir::fail(std::move(d));
}

std::optional<std::string> unknown_type(std::string_view value) {
  if (value.find('=') == value.npos) return std::nullopt;
  const auto parts = split(value.substr(0, value.find('=')), 'x');
  const bool dims = parts.size() > 1 && std::all_of(parts.begin(), parts.end() - 1,
                                                    [](auto part) { return parse_number<i64>(part).has_value(); });
  if (!dims || parse_element_type(parts.back())) return std::nullopt;
  std::vector<std::string_view> types;
  for (int t = 1; t < kElementTypeCount; ++t) types.push_back(name(static_cast<ElementType>(t)));
  const auto numpy = numpys_type(parts.back());
  const auto near = numpy ? numpy : nearest(parts.back(), types);
  return fmt::format("unknown element type \"{}\"{}", printable(parts.back()),
                     near ? fmt::format("; did you mean \"{}\"?", *near) : "");
}

bool is_npz(const std::string& path) {
  return equals_ignoring_case(std::filesystem::path(path).extension().string(), ".npz");
}

std::optional<std::string> find_member(const InputPort& port, const std::string& path) {
  auto names = port.layer().outputs.at(0).names;
  names.push_back(port.layer().name);
  names.push_back(std::to_string(port.index));
  if (is_folder(path)) {
    for (const auto& name : names)
      if (auto file = file_in(path, name + ".npy")) return file;
    return std::nullopt;
  }
  const auto archive = io::Npz::open(path);
  for (const auto& name : names)
    if (archive.contains(name)) return path + ":" + name;
  return std::nullopt;
}

InputValue read_value(const InputPort& port, const std::string& value, const ValueOptions& options) {
  InputValue read;
  if (value == "-") {
    read = {io::parse_npy(io::open_file("-", max_bytes(port)), "stdin"), "stdin", false, {}};
  } else if (value.starts_with('@')) {
    read = read_file(port, value.substr(1), options);
  } else if (auto literal = read_literal(port, value, options.cast)) {
    read = {std::move(*literal), "the value", false, {}};
  } else {
    if (const auto type = unknown_type(value))
      port.fail(Code::E0705, fmt::format("input \"{}\": {}", port.name(), *type));
    port.fail(Code::E0705,
              fmt::format("input \"{}\": \"{}\" is not an input value{}", port.name(), printable(value),
                          nearest_value(value)),
              help_for(port, value));
  }
  if (read.image) return read;
  const io::TensorInfo given{read.tensor.type(), read.tensor.shape()};
  convert_type(port, read, options.cast);
  check_shape(port, given, read.from);
  return read;
}

}  // namespace ovir::app
