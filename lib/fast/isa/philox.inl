// Random words of Philox 4x32-10: a block of four words a lane, whose upper half may hold anything.

static void philox(std::uint64_t key, std::uint64_t counter, std::uint64_t first, std::uint32_t* words, i64 blocks) {
  constexpr i64 kLanes = kVectorBytes / 8;
  constexpr int kRounds = 10, kVectors = 2;  // vectors whose steps do not wait for each other
  Pairs lane, front, back;
  for (i64 i = 0; i < kLanes; ++i) {
    lane[i] = static_cast<std::uint64_t>(i);
    front[i] = static_cast<std::uint64_t>(i / 2 + i % 2 * kLanes);
  }
  back = front + kLanes / 2;
  const Pairs zero{}, mask = zero + 0xffffffff;
  Pairs keys[kRounds][2];
  for (unsigned round = 0; round < kRounds; ++round) {
    keys[round][0] = zero + (key + round * std::uint64_t{0x9E3779B9});
    keys[round][1] = zero + ((key >> 32) + round * std::uint64_t{0xBB67AE85});
  }
  for (i64 b = 0; b < blocks; b += kVectors * kLanes) {
    Pairs a0[kVectors], a1[kVectors], c0[kVectors], c1[kVectors], to[kVectors][2];
    for (int v = 0; v < kVectors; ++v) {
      a0[v] = lane + (first + static_cast<std::uint64_t>(b + v * kLanes));
      a1[v] = a0[v] >> 32;
      c0[v] = zero + counter;
      c1[v] = zero + (counter >> 32);
    }
    for (const auto& k : keys)
      for (int v = 0; v < kVectors; ++v) {
        const Pairs of_a = low_products(a0[v], zero + 0xD2511F53), of_c = low_products(c0[v], zero + 0xCD9E8D57);
        a0[v] = (of_c >> 32) ^ a1[v] ^ k[0];
        a1[v] = of_c;
        c0[v] = (of_a >> 32) ^ c1[v] ^ k[1];
        c1[v] = of_a;
      }
    for (int v = 0; v < kVectors; ++v) {
      const Pairs a = (a0[v] & mask) | (a1[v] << 32), c = (c0[v] & mask) | (c1[v] << 32);
      to[v][0] = __builtin_shuffle(a, c, front);
      to[v][1] = __builtin_shuffle(a, c, back);
    }
    const i64 left = blocks - b, count = left < kVectors * kLanes ? left : kVectors * kLanes;
    __builtin_memcpy(words + 4 * b, to, static_cast<unsigned long>(count) * 4 * sizeof *words);
  }
}

/// y[i] = the lowest 23 bits of words[i] as a fraction · range + least
static void uniform(const std::uint32_t* words, float range, float least, float* y, i64 n) {
  for (i64 i = 0; i < n; ++i)
    y[i] = static_cast<float>(static_cast<std::int32_t>(words[i] & 0x7fffff)) * 0x1p-23f * range + least;
}
