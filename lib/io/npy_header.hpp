// The header of an .npy file: a Python dictionary of three entries.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/dim.hpp"

namespace ovir::io {

struct NpyHeader {
  std::string descr;  ///< "<f4"
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
};

/// Far more than any dtype and 64 dims take.
inline constexpr std::size_t kLongestHeader = std::size_t{1} << 16;

/// Throws Failure E0705 unless the file begins with a whole, well-formed header.
NpyHeader parse_npy_header(std::string_view file, std::string_view where);
/// Magic to the closing newline, padded to a multiple of 64 bytes.
std::string format_npy_header(std::string_view descr, const Shape& shape);

}  // namespace ovir::io
