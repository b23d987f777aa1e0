// Vectors of words (narrow.hpp), in terms of kWidth.

using Words = Word __attribute__((vector_size(4 * kWidth)));
using Ints = int __attribute__((vector_size(4 * kWidth)));

inline Words load_words(const Word* p) {
  Words w;
  __builtin_memcpy(&w, p, sizeof w);
  return w;
}
inline void store_words(Word* p, Words w) { __builtin_memcpy(p, &w, sizeof w); }
