#include "fast/kit/compressed_matrices.hpp"

namespace ovir::fast {

CompressedMatrices::CompressedMatrices(const Decompression& d, int scale, int zero, bool once)
    : codes_(d.codes_to_read()), levels_(d.levels), dims_(d.dims), scale_(scale), zero_(zero) {
  if (once) file_ = {codes_.file_part(), codes_.type()};
  const bool nibbles = bit_width(codes_.type()) == 4;
  const auto groups = d.columns() / d.group;
  b_.rows = d.rows();
  b_.columns = d.columns();
  b_.first = {.codes = reinterpret_cast<const unsigned char*>(codes_.bytes()),
              .row = nibbles ? d.columns() / 2 : d.columns(),
              .groups = groups,
              .group = d.group,
              .bits = nibbles ? 4 : 8,
              .kind = d.kind,
              .levels = nullptr,
              .zero = nullptr,
              .scale = nullptr,
              .zero_row = d.one_zero ? 0 : groups,
              .zero_group = d.one_zero ? 0 : 1,
              .scale_row = d.one_scale ? 0 : groups,
              .scale_group = d.one_scale ? 0 : 1};
}

Codes CompressedMatrices::with(std::span<const View> in) const {
  auto b = b_;
  b.first.levels = levels_.data();
  b.first.scale = in[scale_].as<const float>();
  if (zero_ >= 0) b.first.zero = in[zero_].as<const float>();
  if (file_) b.file = &file_;
  return b;
}

}  // namespace ovir::fast
