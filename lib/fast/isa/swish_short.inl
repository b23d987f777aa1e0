// Swish where the result becomes bf16 or levels, for machines without AVX-512: no shorter.

inline Vec swish(Vec x, Vec b);

/// x·sigmoid(a·x).
[[gnu::always_inline]] inline Vec swish_short(Vec x, Vec a, Vec) { return swish(x, spread(-1.44269504f) * a); }
