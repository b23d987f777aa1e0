// Swish where the result becomes bf16 or levels: 32 parabolas of the sigmoid, whose coefficients an instruction picks
// by the argument.

// Interpolated at Chebyshev's points of [(i - ½)·h, (i + ½)·h], h = 10.5 / 31; beyond the last one it counts as 0.
alignas(64) constexpr float kSwish0[32] = {0.5f,           0.500612557f,   0.504648805f,   0.511028528f,
                                           0.514067411f,   0.507213414f,   0.486766696f,   0.453062654f,
                                           0.409410238f,   0.360289603f,   0.309920549f,   0.261533469f,
                                           0.217206463f,   0.178014085f,   0.144286484f,   0.115865357f,
                                           0.0923106074f,  0.0730482265f,  0.0574672893f,  0.044978153f,
                                           0.0350437127f,  0.0271930546f,  0.02102427f,    0.0162011683f,
                                           0.0124468477f,  0.00953602139f, 0.0072872336f,  0.00555554917f,
                                           0.00422602054f, 0.00320804282f, 0.00243057753f, 0};
alignas(64) constexpr float kSwish1[32] = {-0.249552816f,    -0.256324589f,    -0.272337019f,    -0.287685066f,
                                           -0.293088853f,    -0.284293145f,    -0.262446135f,    -0.231859162f,
                                           -0.1974767f,      -0.163317263f,    -0.131967753f,    -0.104716808f,
                                           -0.0819225907f,   -0.0633813962f,   -0.0486080125f,   -0.0370181575f,
                                           -0.0280329827f,   -0.0211309008f,   -0.0158672743f,   -0.0118764145f,
                                           -0.00886485074f,  -0.00660117203f,  -0.00490525644f,  -0.00363827939f,
                                           -0.00269406242f,  -0.00199189153f,  -0.00147071318f,  -0.00108453527f,
                                           -0.000798830937f, -0.000587757502f, -0.000432021829f, 0};
alignas(64) constexpr float kSwish2[32] = {-1.69736996e-15f, 0.0203093812f,   0.0363373756f,   0.0455959924f,
                                           0.0479961447f,    0.0451728553f,   0.0393332057f,   0.0323902555f,
                                           0.0256174933f,    0.0196770038f,   0.0147979315f,   0.0109603731f,
                                           0.0080295587f,    0.00583639508f,  0.00421845261f,  0.00303677958f,
                                           0.00217983755f,   0.00156150374f,  0.00111692841f,  0.000798093155f,
                                           0.000569846598f,  0.000406659994f, 0.00029009502f,  0.00020688631f,
                                           0.000147516155f,  0.000105169005f, 7.49710307e-05f, 5.34402971e-05f,
                                           3.80910278e-05f,  2.71494555e-05f, 1.93503383e-05f, 0};

/// x·sigmoid(a·x) within 3.4e-5 · |x|, for a > 0, as max(0, x) - |x|·sigmoid(-|a·x|); `by` is 1 / a.
[[gnu::always_inline]] inline Vec swish_short(Vec x, Vec a, Vec by) {
  const Vec t = min(spread(10.5f), a * _mm512_abs_ps(x));
  // The number added has integers as its last bits, of which the instruction reads five.
  const auto part = _mm512_castps_si512(fma(t, spread(31 / 10.5f), spread(12582912.0f)));
  const auto pick = [&](const float* from) {
    return _mm512_permutex2var_ps(_mm512_load_ps(from), part, _mm512_load_ps(from + 16));
  };
  const Vec s = fma(fma(pick(kSwish2), t, pick(kSwish1)), t, pick(kSwish0));
  return fma(-t * by, s, max(spread(0.0f), x));
}
