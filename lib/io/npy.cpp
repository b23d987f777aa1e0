#include "io/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/utf8.hpp"
#include "diag/diagnostic.hpp"
#include "io/files.hpp"
#include "io/npy_header.hpp"
#include "io/storable.hpp"
#include "tensor/dispatch.hpp"
#include "tensor/walk.hpp"

namespace ovir::io {

static_assert(std::endian::native == std::endian::little, "files are mapped and written as they lie in memory");

namespace {

struct Dtype {
  char order = '|';  ///< '<', '>', or '|' where it does not matter
  char kind = 0;     ///< b, i, u, f; U and S for text
  i64 size = 0;      ///< bytes an element; characters for U
  ElementType type = ElementType::dynamic;
};

struct Numeric {
  std::string_view code;
  ElementType type;
};
constexpr std::array<Numeric, 12> kNumeric{{
    {"b1", ElementType::boolean},
    {"i1", ElementType::i8},
    {"i2", ElementType::i16},
    {"i4", ElementType::i32},
    {"i8", ElementType::i64},
    {"u1", ElementType::u8},
    {"u2", ElementType::u16},
    {"u4", ElementType::u32},
    {"u8", ElementType::u64},
    {"f2", ElementType::f16},
    {"f4", ElementType::f32},
    {"f8", ElementType::f64},
}};

Dtype parse_descr(std::string_view descr, std::string_view where) {
  const auto refuse = [&](std::string_view why) {
    fail(Code::E0704, "{}: elements of dtype '{}' cannot be read{}", where, printable(descr), why);
  };
  Dtype d;
  auto code = descr;
  if (!code.empty() && std::strchr("<>|=", code.front()) != nullptr) {
    d.order = code.front() == '=' ? '<' : code.front();
    code.remove_prefix(1);
  }
  if (code.empty()) refuse("");
  d.kind = code.front();
  if (d.kind == 'O') refuse(" (pickled Python objects)");
  if (d.kind == 'c') refuse(" (complex numbers)");
  if (d.kind == 'M' || d.kind == 'm') refuse(" (dates and times)");
  if (d.kind == 'V') refuse(": values of a type that NumPy lacks are given as f32, or i8 and u8 where they are whole");
  const auto size = parse_number<i64>(code.substr(1));
  if (!size || *size < 0) refuse("");
  if (d.kind == 'f' && *size > 8) refuse(fmt::format(" ({} bytes each, numpy.longdouble)", *size));
  d.size = *size;
  if (d.kind == 'U' || d.kind == 'S') {
    d.type = ElementType::string;
    return d;
  }
  for (const auto& n : kNumeric)
    if (n.code == code) d.type = n.type;
  if (d.type == ElementType::dynamic) refuse("");
  if (d.order == '|' && d.size > 1) refuse(": it has no byte order");
  return d;
}

template <class T>
T swapped(T x) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(x);
  std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// Calls f(to, from) for every element: `to` counts up in row-major order, `from` is where the file has it.
template <class F>
void each_element(const Shape& shape, bool fortran, i64 count, F f) {
  if (!fortran) {
    for (i64 i = 0; i < count; ++i) f(i, i);
    return;
  }
  Shape reversed(shape);
  std::reverse(reversed.begin(), reversed.end());
  Shape strides = strides_of(reversed);
  std::reverse(strides.begin(), strides.end());
  i64 to = 0;
  for (IndexWalker at(shape); !at.done(); at.next()) f(to++, at.offset(strides));
}

Tensor copy_numbers(const Dtype& d, const NpyHeader& h, const std::byte* data) {
  Tensor out(d.type, h.shape);
  dispatch_width(byte_width(d.type), [&]<class T>() {
    each_element(h.shape, h.fortran_order, out.size(), [&](i64 to, i64 from) {
      T x;
      std::memcpy(&x, data + from * i64{sizeof(T)}, sizeof(T));
      out.mutable_data<T>()[to] = d.order == '>' ? swapped(x) : x;
    });
  });
  return out;
}

std::string decode_text(const Dtype& d, const std::byte* data, std::string_view where) {
  std::string text;
  if (d.kind == 'S') text.assign(reinterpret_cast<const char*>(data), d.size);
  for (i64 i = 0; d.kind == 'U' && i < d.size; ++i) {
    std::uint32_t c;
    std::memcpy(&c, data + 4 * i, 4);
    if (!append_utf8(text, d.order == '>' ? swapped(c) : c))
      fail(Code::E0705, "{}: a string holds an invalid Unicode character", where);
  }
  text.resize(text.find_last_not_of('\0') + 1);  // shorter texts are filled up with zeros
  return text;
}

Tensor copy_texts(const Dtype& d, const NpyHeader& h, const std::byte* data, std::string_view where) {
  const auto count = h.shape.count(), width = d.kind == 'U' ? 4 * d.size : d.size;
  std::vector<std::string> texts(count);
  each_element(h.shape, h.fortran_order, count,
               [&](i64 to, i64 from) { texts[to] = decode_text(d, data + from * width, where); });
  return Tensor::strings(h.shape, texts);
}

/// Texts of no characters take no bytes, so only this bounds how many of them a file may claim.
constexpr i64 kMaxEmptyTexts = 1 << 24;

bool usable_in_place(const Dtype& d, const NpyHeader& h, const std::byte* data, i64 count) {
  const auto long_axes = std::count_if(h.shape.begin(), h.shape.end(), [](auto n) { return n != 1; });
  if (h.fortran_order && long_axes > 1 && count > 0) return false;
  if (d.order == '>' && d.size > 1) return false;
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(byte_width(d.type)) == 0;
}

/// The header's word for elements of a storable tensor.
std::string descr_of(const Tensor& t) {
  for (const auto& n : kNumeric)
    if (n.type == t.type()) return fmt::format("{}{}", n.code.ends_with('1') ? '|' : '<', n.code);
  if (t.type() != ElementType::string) fail(Code::E0704, "elements of type {} have no .npy form", name(t.type()));
  // Text that is no UTF-8 keeps its bytes.
  std::size_t max_length = 1, max_bytes = 1;
  bool unicode = true;
  for (const auto text : t.values<std::string_view>()) {
    unicode = unicode && code_points(text).has_value();
    max_length = std::max(max_length, count_code_points(text));
    max_bytes = std::max(max_bytes, text.size());
  }
  return unicode ? fmt::format("<U{}", max_length) : fmt::format("|S{}", max_bytes);
}

/// NumPy refuses a shape whose lengths other than 0 make too many bytes, although it has no elements.
void require_numpy_shape(const Tensor& t, std::string_view descr) {
  if (t.size() > 0) return;
  auto bytes = checked_mul(*parse_number<i64>(descr.substr(2)), descr[1] == 'U' ? 4 : 1);
  for (const auto length : t.shape())
    if (bytes && length > 0) bytes = checked_mul(*bytes, length);
  if (!bytes)
    fail(Code::E0003,
         "{}{} has no .npy form: NumPy needs the product of the lengths other than 0 to stay below 2^63 bytes",
         name(t.type()), to_string(t.shape()));
}

}  // namespace

Tensor parse_npy(const Bytes& file, std::string_view where) {
  const auto header = parse_npy_header(file.text(), where);
  const auto dtype = parse_descr(header.descr, where);
  const bool text = dtype.type == ElementType::string;
  const auto count = checked_product(header.shape);
  const auto width = checked_mul(dtype.size, dtype.kind == 'U' ? 4 : 1);
  const auto need = count && width ? checked_mul(*count, *width) : std::nullopt;
  const i64 have = file.size() - header.data_offset;
  if (!need || *need > have || (text && *width == 0 && *count > kMaxEmptyTexts))
    fail(Code::E0705, "{}: {} of elements, but '{}' {} takes {}", where, counted(have, "byte"), printable(header.descr),
         to_string(header.shape), need ? std::to_string(*need) : "more than a file can hold");
  if (*need < have) fail(Code::E0705, "{}: {} bytes follow the last element", where, have - *need);
  const auto* const data = file.view.data() + header.data_offset;
  if (text) return copy_texts(dtype, header, data, where);
  if (!usable_in_place(dtype, header, data, *count)) return with_clean_booleans(copy_numbers(dtype, header, data));
  return with_clean_booleans(Tensor(dtype.type, header.shape, file.owner, data));
}

TensorInfo npy_info(std::string_view begin, std::string_view where) {
  auto header = parse_npy_header(begin, where);
  return {parse_descr(header.descr, where).type, std::move(header.shape)};
}

Tensor read_npy(const std::string& path) { return parse_npy(open_file(path), printable(path)); }

std::string npy_header(const Tensor& tensor) {
  const auto descr = descr_of(tensor);
  require_numpy_shape(tensor, descr);
  return format_npy_header(descr, tensor.shape());
}

Bytes npy_elements(const Tensor& t) {
  if (t.type() != ElementType::string) return {t.owner(), {t.bytes(), t.byte_size()}};
  const auto descr = descr_of(t);
  const bool unicode = descr[1] == 'U';
  const auto length = *parse_number<i64>(std::string_view(descr).substr(2));
  const auto width = unicode ? 4 * length : length, count = t.size();
  const auto size = checked_mul(width, t.size());
  if (!size) fail(Code::E0003, "the texts are too long for an .npy file");
  auto storage = allocate(*size);
  std::memset(storage.get(), 0, *size);
  for (i64 i = 0; i < count; ++i) {
    const auto text = t.values<std::string_view>()[i];
    auto* const to = storage.get() + i * width;
    if (const auto all = unicode ? code_points(text) : std::nullopt) std::memcpy(to, all->data(), 4 * all->size());
    else std::memcpy(to, text.data(), text.size());
  }
  const std::span<const std::byte> view(storage.get(), *size);
  return {std::move(storage), view};
}

std::string npy_bytes(const Tensor& tensor) {
  const Tensor t = storable(tensor);
  return npy_header(t) + std::string(npy_elements(t).text());
}

namespace {

template <class Save>
void save_npy(const Tensor& tensor, Save&& save) {
  const Tensor t = storable(tensor);
  const std::string header = npy_header(t);
  const Bytes elements = npy_elements(t);
  const std::array parts{std::span<const std::byte>(std::as_bytes(std::span(header))), elements.view};
  save(parts);
}

}  // namespace

void write_npy(const std::string& path, const Tensor& tensor) {
  save_npy(tensor, [&](auto parts) { save_file(path, parts); });
}

void stage_npy(StagedFiles& files, const std::string& path, const Tensor& tensor) {
  save_npy(tensor, [&](auto parts) { stage_file(files, path, parts); });
}

}  // namespace ovir::io
