// NumPy's .npz: a zip archive of .npy files.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "io/files.hpp"

namespace ovir::io {

/// An archive opened for reading: members stored or deflated, zip64 included.
class Npz {
 public:
  Npz(Bytes file, std::string where);
  static Npz open(const std::string& path);

  /// The keys (member names without ".npy") in the archive's order.
  const std::vector<std::string>& keys() const { return keys_; }
  /// "a" and "b": the names, for a message; of many the first.
  std::string contents() const;
  bool contains(std::string_view key) const;
  /// E0705 where there is no such key or the member is damaged, E0003 where it is more than the memory holds.
  Tensor read(std::string_view key) const;
  /// From the first bytes of the member: no more than its header is unpacked.
  TensorInfo info(std::string_view key) const;

 private:
  struct Member {
    std::uint16_t flags = 0, method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0, offset = 0;
  };
  /// The first `limit` bytes of a member.
  Bytes content(const Member& m, std::string_view key, std::uint64_t limit) const;
  const Member& member(std::string_view key) const;

  Bytes file_;
  std::string where_;
  std::vector<std::string> keys_;
  std::vector<Member> members_;
  std::unordered_map<std::string, std::size_t> index_;  ///< of the first member that has the key
};

std::vector<Named> read_npz(const std::string& path);
/// Stored, not compressed, without the time of day: the same tensors give the same bytes. Elements lie aligned, so that
/// they can be used where they are mapped.
void write_npz(const std::string& path, std::span<const Named> tensors);

}  // namespace ovir::io
