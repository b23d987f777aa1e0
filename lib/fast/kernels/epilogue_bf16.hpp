// The epilogue of products and convolutions in bf16: what epilogue.hpp says, on sums of narrow_isa(), stored as f32 or
// rounded to bf16.
#pragma once
#include "fast/isa/narrow.hpp"
#include "fast/kernels/buffer.hpp"
#include "fast/kernels/epilogue.hpp"

namespace ovir::fast {

/// A buffer's memory as words.
inline Word* words(const Buffer& buffer) { return reinterpret_cast<Word*>(buffer.data()); }

/// Where the 32 columns of a tile lie: those of pixel p at p·pixel, in f32 each 16 of them `block` apart, in bf16 side
/// by side. One of the pointers, or none.
struct Bf16Place {
  float* wide = nullptr;
  std::uint16_t* narrow = nullptr;
  i64 pixel = 0, block = kBlock;
  explicit operator bool() const { return wide || narrow; }
  Bf16Place after(i64 pixels) const {
    auto place = *this;
    if (wide) place.wide += pixels * pixel;
    if (narrow) place.narrow += pixels * pixel;
    return place;
  }
};

/// Functions that the loops compute of what becomes bf16 or levels. They are 0 of 0.
bool bf16_computes(Function f);
/// Whether the loops can do all of an epilogue as they store the columns of a panel, of which `valid` are stored, and
/// where `padded` zeros for the others: of f32 up to the next multiple of 16, which are all that lie there.
bool bf16_stores_all(i64 valid, bool padded, const Epilogue& e, const Bf16Place& residual, const Bf16Place& out);
/// Bounds of its activation: infinite where that is not one that the loops do.
void bf16_bounds(const Epilogue& e, float& low, float& high);

/// What is left of it for values that lie aside in f32, pixels of 32 columns; they are overwritten.
void bf16_finish(float* values, int pixels, i64 column, i64 valid, bool padded, const Epilogue& e,
                 const Bf16Place& residual, const Bf16Place& out);

/// Computes pixels by the 32 columns from `column` on, of which `valid` are stored, and where
/// `padded` zeros for the others. `e.residual` does not count, `residual` does, which may be `out`.
void bf16_tile(const NarrowSum& sum, int pixels, i64 column, i64 valid, bool padded, const Epilogue& e,
               const Bf16Place& residual, const Bf16Place& out);

}  // namespace ovir::fast
