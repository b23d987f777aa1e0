#include "io/npz.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/memory.hpp"
#include "base/memory_budget.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "base/word_list.hpp"
#include "diag/diagnostic.hpp"
#include "diag/over_memory.hpp"
#include "io/npy.hpp"
#include "io/npy_header.hpp"
#include "io/storable.hpp"

namespace ovir::io {

namespace {

// Zip, as in PKWARE's APPNOTE: local headers with the data, then the central directory, then its end record.
constexpr std::uint32_t kLocal = 0x04034B50, kCentral = 0x02014B50, kEnd = 0x06054B50, kEnd64 = 0x06064B50,
                        kLocator64 = 0x07064B50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  ///< the value is in the zip64 extra field
constexpr std::uint16_t kEncrypted = 1, kUtf8Name = 1 << 11;

/// Little-endian numbers at offsets, each checked against the end.
class Fields {
 public:
  Fields(std::string_view text, std::string_view where) : text_(text), where_(where) {}
  template <class T>
  T at(std::uint64_t offset) const {
    const auto bytes = part(offset, sizeof(T));
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i)));
    return value;
  }
  std::string_view part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > text_.size() || size > text_.size() - offset) damaged();
    return text_.substr(offset, size);
  }
  [[noreturn]] void damaged() const { fail(Code::E0705, "{}: the zip archive is damaged or cut off", where_); }

 private:
  std::string_view text_, where_;
};

struct Directory {
  std::uint64_t offset, entries;
};

Directory find_directory(const Fields& f, std::string_view text, std::string_view where) {
  if (!text.starts_with("PK")) fail(Code::E0705, "{}: expected an .npz archive, but this is not one", where);
  // The end record is followed by a comment of at most 64 KiB.
  const auto lowest = text.size() > kEndSize + 0xFFFF ? text.size() - kEndSize - 0xFFFF : 0;
  for (auto at = text.size() < kEndSize ? 0 : text.size() - kEndSize + 1; at-- > lowest;) {
    if (f.at<std::uint32_t>(at) != kEnd || at + kEndSize + f.at<std::uint16_t>(at + 20) != text.size()) continue;
    Directory d{f.at<std::uint32_t>(at + 16), f.at<std::uint16_t>(at + 10)};
    if (at >= kLocator64Size && f.at<std::uint32_t>(at - kLocator64Size) == kLocator64) {
      const auto end64 = f.at<std::uint64_t>(at - kLocator64Size + 8);
      if (f.at<std::uint32_t>(end64) != kEnd64) f.damaged();
      d = {f.at<std::uint64_t>(end64 + 48), f.at<std::uint64_t>(end64 + 32)};
    }
    return d;
  }
  f.damaged();
}

/// The zip64 extra field holds, in this order, those of the values that do not fit 32 bits.
void read_zip64(const Fields& f, std::uint64_t extra, std::uint64_t size, std::array<std::uint64_t*, 3> values) {
  for (const auto end = extra + size; extra + 4 <= end;) {
    const auto id = f.at<std::uint16_t>(extra), length = f.at<std::uint16_t>(extra + 2);
    auto at = extra += 4;
    extra += length;
    if (extra > end) return;
    if (id != 1) continue;
    for (auto* const value : values) {
      if (*value != kIn64) continue;
      if (at + 8 > extra) f.damaged();
      *value = f.at<std::uint64_t>(at);
      at += 8;
    }
  }
}

/// Deflate's best is 1032 to 1: whatever claims more is refused before memory is taken for it.
constexpr std::uint64_t kBestRatio = 1032;
constexpr std::size_t kNamed = 8;  // arrays in a message

/// The first `limit` of `size` bytes.
Bytes inflate_raw(std::string_view packed, std::uint64_t size, std::uint64_t limit, const Fields& f) {
  if (size / kBestRatio > packed.size()) f.damaged();
  const bool whole = limit >= size;
  size = std::min(size, limit);
  auto storage = allocate(size);
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&z, inflateEnd);
  std::uint64_t in = 0, out = 0;
  int state = Z_OK;
  while (state == Z_OK && (whole || out < size)) {
    const auto give = std::min<std::uint64_t>(packed.size() - in, 1u << 30),
               room = std::min<std::uint64_t>(size - out, 1u << 30);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    z.avail_in = static_cast<uInt>(give);
    z.next_out = reinterpret_cast<Bytef*>(storage.get() + out);
    z.avail_out = static_cast<uInt>(room);
    state = inflate(&z, Z_NO_FLUSH);
    in += give - z.avail_in;
    out += room - z.avail_out;
  }
  if (out != size || (whole && state != Z_STREAM_END)) f.damaged();
  const std::span<const std::byte> view(storage.get(), size);
  return {std::move(storage), view};
}

std::uint32_t crc_of(std::uint32_t crc, std::span<const std::byte> data) {
  return static_cast<std::uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

}  // namespace

Npz::Npz(Bytes file, std::string where) : file_(std::move(file)), where_(std::move(where)) {
  const Fields f(file_.text(), where_);
  const auto directory = find_directory(f, file_.text(), where_);
  auto at = directory.offset;
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (f.at<std::uint32_t>(at) != kCentral) f.damaged();
    Member m{f.at<std::uint16_t>(at + 8),  f.at<std::uint16_t>(at + 10), f.at<std::uint32_t>(at + 16),
             f.at<std::uint32_t>(at + 20), f.at<std::uint32_t>(at + 24), f.at<std::uint32_t>(at + 42)};
    const std::uint64_t name_size = f.at<std::uint16_t>(at + 28), extra_size = f.at<std::uint16_t>(at + 30),
                        comment_size = f.at<std::uint16_t>(at + 32);
    const auto name = f.part(at + kCentralSize, name_size);
    read_zip64(f, at + kCentralSize + name_size, extra_size, {&m.size, &m.packed, &m.offset});
    at += kCentralSize + name_size + extra_size + comment_size;
    // Members that share their bytes are how a small archive claims to hold a great deal.
    if (m.packed > file_.size() - total) f.damaged();
    total += m.packed;
    if (!name.ends_with(".npy")) continue;
    keys_.emplace_back(name.substr(0, name.size() - 4));
    members_.push_back(m);
    index_.emplace(keys_.back(), members_.size() - 1);
  }
}

Npz Npz::open(const std::string& path) { return {open_file(path), printable(path)}; }

bool Npz::contains(std::string_view key) const { return index_.contains(std::string(key)); }

const Npz::Member& Npz::member(std::string_view key) const {
  if (const auto at = index_.find(std::string(key)); at != index_.end()) return members_[at->second];
  const auto near = nearest(key, {keys_.begin(), keys_.end()});
  fail(Code::E0705, "{}: no array is named \"{}\"{}", where_, printable(key),
       near ? fmt::format("; did you mean \"{}\"?", printable(*near)) : fmt::format("; it holds {}", contents()));
}

std::string Npz::contents() const {
  std::vector<std::string> names;
  for (const auto& key : keys_) names.push_back(fmt::format("\"{}\"", printable(key)));
  return names.empty() ? "none" : word_list(std::move(names), "and", kNamed);
}

Bytes Npz::content(const Member& m, std::string_view key, std::uint64_t limit) const {
  const Fields f(file_.text(), where_);
  if ((m.flags & kEncrypted) != 0) fail(Code::E0705, "{}: \"{}\" is encrypted", where_, printable(key));
  if (m.method != 0 && m.method != 8)
    fail(Code::E0705, "{}: \"{}\" is compressed by method {}, not deflate", where_, printable(key), m.method);
  if (f.at<std::uint32_t>(m.offset) != kLocal) f.damaged();
  const auto start = m.offset + kLocalSize + f.at<std::uint16_t>(m.offset + 26) + f.at<std::uint16_t>(m.offset + 28);
  const auto packed = f.part(start, m.packed);
  if (m.method == 0 && m.packed != m.size) f.damaged();
  if (m.method == 0) return {file_.owner, std::as_bytes(std::span(packed.substr(0, limit)))};
  if (std::min(m.size, limit) > static_cast<std::uint64_t>(memory_available()))
    fail(Code::E0003, "{}: \"{}\" unpacks to {}, more than the memory holds", where_, printable(key),
         size_text(static_cast<i64>(std::min<std::uint64_t>(m.size, std::numeric_limits<i64>::max()))));
  try {
    return inflate_raw(packed, m.size, limit, f);
  } catch (const OverBudget& over) {
    throw over_memory(fmt::format("{}: \"{}\" unpacks to {}, but at most {} may be used", where_, printable(key),
                                  size_text(static_cast<i64>(m.size)), size_text(over.limit)));
  }
}

Tensor Npz::read(std::string_view key) const {
  const auto& m = member(key);
  const Bytes whole = content(m, key, m.size);
  if (crc_of(0, whole.view) != m.crc)
    fail(Code::E0705, "{}: \"{}\" is damaged (its checksum is wrong)", where_, printable(key));
  return parse_npy(whole, where_ + ":" + printable(key));
}

TensorInfo Npz::info(std::string_view key) const {
  return npy_info(content(member(key), key, kLongestHeader + 12).text(), where_ + ":" + printable(key));
}

std::vector<Named> read_npz(const std::string& path) {
  const auto archive = Npz::open(path);
  std::vector<Named> all;
  for (const auto& key : archive.keys()) all.push_back({key, archive.read(key)});
  return all;
}

namespace {

/// A growing record of little-endian numbers.
struct Record {
  std::string text;
  template <class T>
  Record& add(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      text += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFF);
    return *this;
  }
};

constexpr std::uint16_t u16(std::uint64_t x) { return static_cast<std::uint16_t>(x); }
constexpr std::uint32_t saturated(std::uint64_t x) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(x, kIn64));
}

/// What local and central header share: version to crc. The date is the first that zip knows: 1 January 1980.
void add_common(Record& r, std::uint16_t version, std::uint32_t crc) {
  r.add(version).add(kUtf8Name).add(u16(0)).add(u16(0)).add(u16(0x0021)).add(crc);
}

/// Fills up with an extra field that readers skip, so that what follows begins at a multiple of 64.
void add_padding(Record& r, std::uint64_t position) {
  const auto fill = 63 - (position + r.text.size() + 3) % 64;
  r.add(u16(0xD935)).add(u16(fill));
  r.text.append(fill, '\0');
}

struct Written {
  std::string name, header;
  Bytes elements;
  std::string local;
};

}  // namespace

void write_npz(const std::string& path, std::span<const Named> tensors) {
  std::vector<Written> members;
  members.reserve(tensors.size());
  Record directory;
  std::uint64_t position = 0;
  for (const auto& [name, tensor] : tensors) {
    const Tensor t = storable(tensor);
    auto& m = members.emplace_back(Written{name + ".npy", npy_header(t), npy_elements(t), {}});
    if (m.name.size() > 0xFFFF)
      fail(Code::E0002, "{}: the name of a tensor is too long for a zip archive", printable(path));
    const auto crc = crc_of(crc_of(0, std::as_bytes(std::span(m.header))), m.elements.view);
    const std::uint64_t size = m.header.size() + m.elements.size();
    const bool large = size >= kIn64, far = position >= kIn64;
    const std::uint16_t version = large || far ? 45 : 20;

    Record extra;  // zip64: both sizes where either is large
    if (large) extra.add(u16(1)).add(u16(16)).add(size).add(size);
    const auto before_padding = position + kLocalSize + m.name.size();
    add_padding(extra, before_padding);
    Record local;
    add_common(local.add(kLocal), version, crc);
    local.add(saturated(size)).add(saturated(size)).add(u16(m.name.size())).add(u16(extra.text.size()));
    m.local = local.text + m.name + extra.text;

    Record central_extra;
    if (large || far) {
      central_extra.add(u16(1)).add(u16((large ? 16 : 0) + (far ? 8 : 0)));
      if (large) central_extra.add(size).add(size);
      if (far) central_extra.add(position);
    }
    add_common(directory.add(kCentral).add(version), version, crc);
    directory.add(saturated(size)).add(saturated(size)).add(u16(m.name.size())).add(u16(central_extra.text.size()));
    directory.add(u16(0)).add(u16(0)).add(u16(0)).add(std::uint32_t{0}).add(saturated(position));
    directory.text += m.name + central_extra.text;
    position += m.local.size() + size;
  }

  const std::uint64_t entries = members.size(), length = directory.text.size();
  if (entries >= 0xFFFF || position >= kIn64 || length >= kIn64) {
    directory.add(kEnd64)
        .add(std::uint64_t{kEnd64Size - 12})
        .add(u16(45))
        .add(u16(45))
        .add(std::uint32_t{0})
        .add(std::uint32_t{0});
    directory.add(entries).add(entries).add(length).add(position);
    directory.add(kLocator64).add(std::uint32_t{0}).add(position + length).add(std::uint32_t{1});
  }
  const auto count = u16(std::min<std::uint64_t>(entries, 0xFFFF));
  directory.add(kEnd)
      .add(u16(0))
      .add(u16(0))
      .add(count)
      .add(count)
      .add(saturated(length))
      .add(saturated(position))
      .add(u16(0));

  std::vector<std::span<const std::byte>> parts;
  for (const auto& m : members) {
    parts.push_back(std::as_bytes(std::span(m.local)));
    parts.push_back(std::as_bytes(std::span(m.header)));
    parts.push_back(m.elements.view);
  }
  parts.push_back(std::as_bytes(std::span(directory.text)));
  save_file(path, parts);
}

}  // namespace ovir::io
