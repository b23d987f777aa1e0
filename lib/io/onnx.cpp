#include "io/onnx.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "diag/diagnostic.hpp"
#include "io/files.hpp"
#include "io/storable.hpp"

namespace ovir::io {

namespace {

/// Protocol buffers: a field is a varint tag (number * 8 + wire type) and a varint, eight or four bytes, or a length
/// and bytes.
class Wire {
 public:
  Wire(std::string_view text, std::string_view where) : rest_(text), where_(where) {}

  struct Field {
    std::uint64_t number;
    int type;
    std::uint64_t value = 0;
    std::string_view bytes;
  };
  bool done() const { return rest_.empty(); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    damaged();
  }
  std::string_view take(std::uint64_t n) {
    if (n > rest_.size()) damaged();
    const auto part = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return part;
  }
  Field field() {
    const auto tag = varint();
    Field f{tag >> 3, static_cast<int>(tag & 7), 0, {}};
    if (f.number == 0) damaged();
    switch (f.type) {
      case 0: f.value = varint(); break;
      case 1: f.bytes = take(8); break;
      case 2: f.bytes = take(varint()); break;
      case 5: f.bytes = take(4); break;
      default: damaged();
    }
    return f;
  }
  [[noreturn]] void damaged() const { fail(Code::E0705, "{}: not an ONNX TensorProto, or a damaged one", where_); }

 private:
  std::string_view rest_, where_;
};

/// TensorProto's field numbers.
enum Number : std::uint64_t {
  dims = 1,
  data_type = 2,
  float_data = 4,
  int32_data = 5,
  string_data = 6,
  int64_data = 7,
  name_field = 8,
  raw_data = 9,
  double_data = 10,
  uint64_data = 11,
  doc_string = 12,
  external_data = 13,
  data_location = 14,
};

/// How TensorProto.DataType's values are kept where raw_data is not used.
struct DataType {
  ElementType type = ElementType::dynamic;
  Number list = raw_data;
};
constexpr std::array<DataType, 26> kTypes = [] {
  std::array<DataType, 26> t{};
  t[1] = {ElementType::f32, float_data};
  t[2] = {ElementType::u8, int32_data};
  t[3] = {ElementType::i8, int32_data};
  t[4] = {ElementType::u16, int32_data};
  t[5] = {ElementType::i16, int32_data};
  t[6] = {ElementType::i32, int32_data};
  t[7] = {ElementType::i64, int64_data};
  t[8] = {ElementType::string, string_data};
  t[9] = {ElementType::boolean, int32_data};
  t[10] = {ElementType::f16, int32_data};
  t[11] = {ElementType::f64, double_data};
  t[12] = {ElementType::u32, uint64_data};
  t[13] = {ElementType::u64, uint64_data};
  t[16] = {ElementType::bf16, int32_data};
  t[17] = {ElementType::f8e4m3, int32_data};
  t[19] = {ElementType::f8e5m2, int32_data};
  t[21] = {ElementType::u4, int32_data};
  t[22] = {ElementType::i4, int32_data};
  t[23] = {ElementType::f4e2m1, int32_data};
  t[24] = {ElementType::f8e8m0, int32_data};
  t[25] = {ElementType::u2, int32_data};
  return t;
}();

/// Bytes of one stored item: two u4 share an item as they share a byte.
std::size_t item_width(ElementType type) { return byte_width(type); }

struct Proto {
  std::uint64_t type = 0;
  Shape shape;
  bool has_raw = false;
  std::string_view raw;
  std::vector<std::string> texts;
  std::vector<Wire::Field> data;  ///< of the typed lists
};

Proto read_fields(std::string_view text, std::string_view where) {
  Proto p;
  Wire wire(text, where);
  const auto add_dim = [&](std::uint64_t n) {
    if (n > static_cast<std::uint64_t>(std::numeric_limits<i64>::max()))
      fail(Code::E0705, "{}: a dim is negative", where);
    p.shape.push_back(static_cast<i64>(n));
  };
  while (!wire.done()) {
    const auto f = wire.field();
    switch (f.number) {
      case dims:
        if (f.type == 0) add_dim(f.value);
        else if (f.type == 2)
          for (Wire list(f.bytes, where); !list.done();) add_dim(list.varint());
        else wire.damaged();
        break;
      case data_type:
        if (f.type != 0) wire.damaged();
        p.type = f.value;
        break;
      case float_data:
      case int32_data:
      case int64_data:
      case double_data:
      case uint64_data: p.data.push_back(f); break;
      case string_data:
        if (f.type != 2) wire.damaged();
        p.texts.emplace_back(f.bytes);
        break;
      case raw_data:
        if (f.type != 2) wire.damaged();
        p.raw = f.bytes;
        p.has_raw = true;
        break;
      case external_data:
        fail(Code::E0705, "{}: the values are in another file (external data), which is not read", where);
      case data_location:
        if (f.value != 0)
          fail(Code::E0705, "{}: the values are in another file (external data), which is not read", where);
        break;
      default: break;  // name, doc_string, what later versions add
    }
  }
  return p;
}

/// The little-endian elements of the typed list, as raw_data would hold them.
std::string gather(const Proto& p, DataType type, std::string_view where) {
  const auto width = item_width(type.type);
  const bool fixed = type.list == float_data || type.list == double_data;
  std::string raw;
  for (const auto& f : p.data) {
    if (f.number != type.list)
      fail(Code::E0705, "{}: values of type {} cannot be in field {}", where, name(type.type), f.number);
    const auto append = [&](std::uint64_t value) {
      for (std::size_t i = 0; i < width; ++i) raw += static_cast<char>(value >> (8 * i) & 0xFF);
    };
    if (fixed) {
      if (f.type == 0) fail(Code::E0705, "{}: a float is stored as an integer", where);
      raw += f.bytes;
    } else if (f.type == 0) {
      append(f.value);
    } else {
      for (Wire list(f.bytes, where); !list.done();) append(list.varint());
    }
  }
  return raw;
}

}  // namespace

Tensor parse_onnx(const Bytes& file, std::string_view where) {
  const Proto p = read_fields(file.text(), where);
  const auto type = p.type < kTypes.size() ? kTypes[p.type] : DataType{};
  if (p.type == 0) fail(Code::E0705, "{}: not an ONNX TensorProto: it has no data type", where);
  if (type.type == ElementType::dynamic) fail(Code::E0704, "{}: ONNX data type {} has no counterpart", where, p.type);
  const auto count = checked_product(p.shape);
  const auto wrong_size = [&](std::size_t have) {
    fail(Code::E0705, "{}: {} {} do not make {}{}", where, have, type.type == ElementType::string ? "texts" : "bytes",
         name(type.type), to_string(p.shape));
  };
  if (type.type == ElementType::string) {
    if (!count || static_cast<std::uint64_t>(*count) != p.texts.size()) wrong_size(p.texts.size());
    return Tensor::strings(p.shape, p.texts);
  }
  const std::string gathered = p.has_raw ? "" : gather(p, type, where);
  const std::string_view raw = p.has_raw ? p.raw : gathered;
  const auto size = count ? packed_size(type.type, *count) : std::nullopt;
  if (!size || static_cast<std::uint64_t>(*size) != raw.size()) wrong_size(raw.size());
  auto storage = allocate(raw.size());
  std::memcpy(storage.get(), raw.data(), raw.size());
  const auto* const data = storage.get();
  return with_clean_booleans(Tensor(type.type, p.shape, std::move(storage), data, true).unpacked());
}

void write_onnx(const std::string& path, const Tensor& given) {
  const auto tensor = given.unpacked();
  const auto type = std::find_if(kTypes.begin(), kTypes.end(),
                                 [&](const DataType& t) { return t.type == tensor.type() && t.list != raw_data; });
  if (type == kTypes.end()) fail(Code::E0704, "{}: ONNX has no data type {}", printable(path), name(tensor.type()));
  std::string text;
  const auto varint = [&](std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text += static_cast<char>((value & 0x7F) | 0x80);
    text += static_cast<char>(value);
  };
  const auto bytes = [&](Number field, std::string_view content) {
    varint(field << 3 | 2);
    varint(content.size());
    text += content;
  };
  for (const auto length : tensor.shape()) {
    varint(dims << 3);
    varint(static_cast<std::uint64_t>(length));
  }
  varint(data_type << 3);
  varint(static_cast<std::uint64_t>(type - kTypes.begin()));
  if (tensor.type() == ElementType::string) {
    for (const auto value : tensor.values<std::string_view>()) bytes(string_data, value);
  } else {
    const auto packed = pack(tensor);
    bytes(raw_data, {reinterpret_cast<const char*>(packed.bytes()), packed.byte_size()});
  }
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  save_file(path, {&part, 1});
}

Tensor read_onnx(const std::string& path) { return parse_onnx(open_file(path), printable(path)); }

}  // namespace ovir::io
