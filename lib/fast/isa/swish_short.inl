// Swish where the result becomes bf16 or levels, for machines without AVX-512: no shorter.

inline Vec sigmoid(Vec x);

/// x·sigmoid(a·x).
[[gnu::always_inline]] inline Vec swish_short(Vec x, Vec a, Vec) { return x * sigmoid(a * x); }
