// Floats of 8 bits, 16 bytes at a time, by way of those of 16. Behind `read_halves`.

inline void from_f8e5m2(const unsigned char* from, Vec (&to)[2]) {
  const auto halves = [](const unsigned char* p) {
    const auto bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_slli_epi16(bytes, 8);
  };
  read_halves(from, halves, to);
}
inline void from_f8e4m3(const unsigned char* from, Vec (&to)[2]) {
  const auto halves = [](const unsigned char* p) {
    const auto bytes = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const auto bits = _mm256_and_si256(_mm256_slli_epi16(bytes, 7), _mm256_set1_epi16(static_cast<short>(0xbf80)));
    const auto nan = _mm256_cmpeq_epi16(_mm256_and_si256(bytes, _mm256_set1_epi16(127)), _mm256_set1_epi16(127));
    return _mm256_or_si256(bits, nan);
  };
  read_halves(from, halves, to);
  for (auto& v : to) v *= spread(256.0f);  // of exponents that are 8 below those of 16 bits
}
