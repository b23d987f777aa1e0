// Floats as integers, and bytes as floats. Plain loops: the compiler makes vectors of them.

template <class T>
static void truncate_to(const float* x, T* y, i64 n) {
  for (i64 i = 0; i < n; ++i) y[i] = static_cast<T>(static_cast<std::int32_t>(x[i]));
}

static bool truncate(const float* x, int bytes, void* y, i64 n) {
  constexpr float kLimit = 0x1p31f;
  int inside = 1;
  for (i64 i = 0; i < n; ++i) inside &= static_cast<int>(x[i] < kLimit) & static_cast<int>(x[i] > -kLimit);
  if (!inside) return false;
  switch (bytes) {
    case 1: truncate_to(x, static_cast<std::int8_t*>(y), n); break;
    case 2: truncate_to(x, static_cast<std::int16_t*>(y), n); break;
    case 4: truncate_to(x, static_cast<std::int32_t*>(y), n); break;
    default: truncate_to(x, static_cast<i64*>(y), n); break;
  }
  return true;
}

static void floats_of_bytes(const std::uint8_t* x, float* y, i64 n) {
  for (i64 i = 0; i < n; ++i) y[i] = x[i];
}
