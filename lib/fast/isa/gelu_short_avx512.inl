// GELU where the result becomes bf16: 32 parabolas of Φ, whose coefficients an instruction picks by the argument.

// Interpolated at Chebyshev's points of [(i - ½)·h, (i + ½)·h], h = 4.2 / 31; beyond the last one Φ(-x) counts as 0.
alignas(64) constexpr float kGelu0[32] = {0.500000656f,   0.500132084f,   0.501178741f,   0.50375104f,
                                          0.507920623f,   0.513104737f,   0.518095434f,   0.521226585f,
                                          0.52064079f,    0.514600158f,   0.501777768f,   0.481476516f,
                                          0.453737944f,   0.419331819f,   0.379637301f,   0.336447716f,
                                          0.291738719f,   0.247440979f,   0.205250695f,   0.16649887f,
                                          0.132087186f,   0.102485687f,   0.0777791813f,  0.057745032f,
                                          0.041944582f,   0.0298131965f,  0.0207383856f,  0.0141200712f,
                                          0.00941141229f, 0.00614168029f, 0.00392455421f, 0};
alignas(64) constexpr float kGelu1[32] = {-0.399113715f,   -0.402324915f,   -0.41256988f,   -0.427769452f,
                                          -0.445404172f,   -0.462481678f,   -0.475959748f,  -0.483156264f,
                                          -0.482083648f,   -0.471662462f,   -0.451793283f,  -0.423291117f,
                                          -0.387708157f,   -0.347085238f,   -0.30367741f,   -0.259695709f,
                                          -0.217097566f,   -0.177444577f,   -0.141832873f,  -0.110889241f,
                                          -0.0848187953f,  -0.0634854436f,  -0.0465072878f, -0.033351358f,
                                          -0.0234168079f,  -0.016100321f,   -0.0108417748f, -0.00715133082f,
                                          -0.00462116254f, -0.00292581413f, -0.0018151924f, 0};
alignas(64) constexpr float kGelu2[32] = {0.00675095432f,  0.0267553348f,   0.0520582385f,  0.0745868906f,
                                          0.0932643637f,   0.107342817f,    0.116448566f,   0.120585084f,
                                          0.120096646f,    0.115600966f,    0.107902065f,   0.0978962183f,
                                          0.0864829943f,   0.074490644f,    0.0626221597f,  0.0514239706f,
                                          0.0412763581f,   0.0324018709f,   0.0248866342f,  0.0187090803f,
                                          0.0137710394f,   0.00992719643f,  0.00701024709f, 0.00485036615f,
                                          0.00328871794f,  0.00218553026f,  0.00142371911f, 0.000909246388f,
                                          0.000569344847f, 0.000349580834f, 0.0002104921f,  0};

/// x·Φ(x) within 3.4e-5 · |x|, as max(0, x) - |x|·Φ(-|x|).
[[gnu::always_inline]] inline Vec gelu_short(Vec x) {
  const Vec t = min(spread(4.2f), _mm512_abs_ps(x));
  // The number added has integers as its last bits, of which the instruction reads five.
  const auto part = _mm512_castps_si512(fma(t, spread(31 / 4.2f), spread(12582912.0f)));
  const auto pick = [&](const float* from) {
    return _mm512_permutex2var_ps(_mm512_load_ps(from), part, _mm512_load_ps(from + 16));
  };
  const Vec phi = fma(fma(pick(kGelu2), t, pick(kGelu1)), t, pick(kGelu0));
  return fma(-t, phi, max(spread(0.0f), x));
}
