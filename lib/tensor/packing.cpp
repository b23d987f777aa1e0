// Elements narrower than a byte, as they lie in a .bin file.
//   u1: most significant bit first. u2: least significant pair first. u4, i4, nf4, f4e2m1: low nibble first.
//   u3: eight elements in three bytes: two bytes hold the low two bits of four elements each, the first element
// highest,
//       the third their top bits, first element highest. u6: four elements in three bytes: two bytes hold the low four
//       bits of two elements each, first element high, the third their top two bits.
#include <algorithm>
#include <utility>

#include "tensor/tensor.hpp"

namespace ovir {

namespace {

/// Where the bits of an element are: `low` bits at `shift` of `byte`, and for split planes the others in `top_byte`.
struct BitPlace {
  int byte, shift, top_byte = 0, top_shift = 0;
};

/// Whatever the layout, eight elements take as many bytes as one has bits: this is element k of such a group.
template <int Bits>
constexpr BitPlace place(int k) {
  if constexpr (Bits == 1) return {0, 7 - k};
  else if constexpr (Bits == 2) return {k / 4, 2 * (k % 4)};
  else if constexpr (Bits == 3) return {k / 4, 6 - 2 * (k % 4), 2, 7 - k};
  else if constexpr (Bits == 4) return {k / 2, 4 * (k % 2)};
  else return {k / 4 * 3 + k % 4 / 2, 4 - 4 * (k % 2), k / 4 * 3 + 2, 6 - 2 * (k % 4)};
}

template <int Bits>
struct SplitBits {
  static constexpr bool split = Bits == 3 || Bits == 6;
  static constexpr int low = split ? Bits / 3 * 2 : Bits;
  static constexpr unsigned low_mask = (1u << low) - 1, top_mask = (1u << (Bits - low)) - 1;
};

template <int Bits>
unsigned get(const std::uint8_t* group, int k) {
  using S = SplitBits<Bits>;
  const auto at = place<Bits>(k);
  const unsigned low = (static_cast<unsigned>(group[at.byte]) >> at.shift) & S::low_mask;
  if constexpr (S::split)
    return low | ((static_cast<unsigned>(group[at.top_byte]) >> at.top_shift) & S::top_mask) << S::low;
  else return low;
}

template <int Bits>
void put(std::uint8_t* group, int k, unsigned value) {
  using S = SplitBits<Bits>;
  const auto at = place<Bits>(k);
  group[at.byte] = static_cast<std::uint8_t>(group[at.byte] | (value & S::low_mask) << at.shift);
  if constexpr (S::split)
    group[at.top_byte] =
        static_cast<std::uint8_t>(group[at.top_byte] | ((value >> S::low) & S::top_mask) << at.top_shift);
}

/// `flip` is the sign bit of a signed type: (x ^ flip) - flip extends it.
template <int Bits>
void unpack(const std::uint8_t* from, std::uint8_t* to, i64 n, unsigned flip) {
  for (; n >= 8; n -= 8, from += Bits, to += 8)
    for (int k = 0; k < 8; ++k) to[k] = static_cast<std::uint8_t>((get<Bits>(from, k) ^ flip) - flip);
  for (int k = 0; k < static_cast<int>(n); ++k) to[k] = static_cast<std::uint8_t>((get<Bits>(from, k) ^ flip) - flip);
}

template <int Bits>
void pack(const std::uint8_t* from, std::uint8_t* to, i64 n) {
  for (; n > 0; n -= 8, from += 8, to += Bits)
    for (int k = 0; k < 8 && k < n; ++k) put<Bits>(to, k, from[k]);
}

template <class F>
void with_bits(ElementType type, F&& f) {
  switch (bit_width(type)) {
    case 1: return f.template operator()<1>();
    case 2: return f.template operator()<2>();
    case 3: return f.template operator()<3>();
    case 4: return f.template operator()<4>();
    default: return f.template operator()<6>();
  }
}

}  // namespace

Tensor Tensor::unpacked() const {
  if (!packed_) return *this;
  Tensor out(type_, shape_);
  const auto* const from = reinterpret_cast<const std::uint8_t*>(data_);
  auto* const to = out.mutable_data<std::uint8_t>();
  with_bits(type_, [&]<int Bits>() { unpack<Bits>(from, to, size_, type_ == ElementType::i4 ? 8 : 0); });
  return out;
}

Tensor pack(const Tensor& t) {
  const int bits = bit_width(t.type());
  if (t.packed() || bits >= 8 || bits == 0) return t;
  const auto size = packed_size(t.type(), t.size());
  auto storage = allocate(*size);
  auto* const to = reinterpret_cast<std::uint8_t*>(storage.get());
  std::fill_n(to, *size, std::uint8_t{0});
  with_bits(t.type(), [&]<int Bits>() { pack<Bits>(t.data<std::uint8_t>(), to, t.size()); });
  const auto* const data = storage.get();
  return {t.type(), t.shape(), std::move(storage), data, true};
}

}  // namespace ovir
