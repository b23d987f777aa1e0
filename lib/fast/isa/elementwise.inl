// Functions of one and two operands over rows.

/// Calls use(apply) with the function of a vector that `u` names: the choice is made once, outside of the loops.
template <class Use>
static inline __attribute__((always_inline)) void with_function(const Unary& u, Use use) {
  const Vec a = spread(u.a), b = spread(u.b), zero = spread(0.0f), one = spread(1.0f);
  switch (u.f) {
    case Function::identity: return use([](Vec x) { return x; });
    case Function::clamp: return use([=](Vec x) { return min(b, max(a, x)); });
    case Function::prelu: return use([=](Vec x) { return x < zero ? a * x : x; });
    case Function::sigmoid: return use([](Vec x) { return sigmoid(x); });
    case Function::swish: return use([b = spread(-1.44269504f) * a](Vec x) { return swish(x, b); });
    case Function::swish_short: return use([=, by = one / a](Vec x) { return swish_short(x, a, by); });
    case Function::hswish:
      return use([=](Vec x) { return x * (min(spread(6.0f), max(zero, x + spread(3.0f))) * spread(1.0f / 6)); });
    case Function::hsigmoid:
      return use([=](Vec x) { return min(spread(6.0f), max(zero, x + spread(3.0f))) * spread(1.0f / 6); });
    case Function::hard_sigmoid: return use([=](Vec x) { return min(one, max(zero, a * x + b)); });
    case Function::gelu_erf: return use([](Vec x) { return gelu(x); });
    case Function::gelu_short: return use([](Vec x) { return gelu_short(x); });
    case Function::gelu_tanh:
      return use([=](Vec x) {
        // (1 + tanh(y)) / 2 = sigmoid(2y)
        return over_one_plus_power(x, x * fma(x * x, spread(-0.102943240f), spread(-2.30220819f)));
      });
    case Function::tanh: return use([](Vec x) { return tanh(x); });
    case Function::elu: return use([=](Vec x) { return x < zero ? a * expm1_of_negative(min(zero, x)) : x; });
    case Function::selu: return use([=](Vec x) { return b * (x > zero ? x : a * expm1_of_negative(min(zero, x))); });
    case Function::mish: return use([](Vec x) { return mish(x); });
    case Function::softplus: return use([](Vec x) { return softplus(x); });
    case Function::softsign: return use([=](Vec x) { return x / (one + magnitude(x)); });
    case Function::exp: return use([](Vec x) { return exp_of_any(x); });
    case Function::log: return use([](Vec x) { return log(x); });
    case Function::erf: return use([](Vec x) { return erf(x); });
    case Function::sqrt: return use([](Vec x) { return root(x); });
    case Function::abs: return use([](Vec x) { return magnitude(x); });
    case Function::negative: return use([](Vec x) { return -x; });
    case Function::square: return use([](Vec x) { return x * x; });
    case Function::reciprocal: return use([=](Vec x) { return one / x; });
    case Function::floor: return use([](Vec x) { return floor(x); });
    case Function::ceiling: return use([](Vec x) { return ceiling(x); });
    case Function::round_even: return use([](Vec x) { return round_even(x); });
    case Function::round_away: return use([](Vec x) { return round_away(x); });
    case Function::sign: return use([=](Vec x) { return x > zero ? one : (x < zero ? -one : x); });
    case Function::sin: return use([](Vec x) { return sin(x); });
    case Function::cos: return use([](Vec x) { return cos(x); });
    case Function::tan: return use([](Vec x) { return tan(x); });
    case Function::sinh: return use([](Vec x) { return sinh(x); });
    case Function::cosh: return use([](Vec x) { return cosh(x); });
    case Function::asin: return use([](Vec x) { return asin(x); });
    case Function::acos: return use([](Vec x) { return acos(x); });
    case Function::atan: return use([](Vec x) { return atan(x); });
    case Function::asinh: return use([](Vec x) { return asinh(x); });
    case Function::acosh: return use([](Vec x) { return acosh(x); });
    case Function::atanh: return use([](Vec x) { return atanh(x); });
    case Function::linear: return use([=](Vec x) { return a * x + b; });
  }
}

static void unary(const Unary& f, const float* x, float* y, i64 n) {
  with_function(f, [=](auto apply) {
    i64 i = 0;
    for (; i + kWidth <= n; i += kWidth) store(y + i, apply(load(x + i)));
    if (i < n) store_some(y + i, apply(load_some(x + i, n - i)), n - i);
  });
}

static void activate(const Unary& f, const float* slopes, float* y, i64 row, const float* residual, i64 residual_row,
                     i64 rows, i64 n) {
  const auto pass = [=](auto apply) {
    for (i64 r = 0; r < rows; ++r) {
      float* to = y + r * row;
      const float* plus = residual ? residual + r * residual_row : nullptr;
      i64 i = 0;
      for (; i + kWidth <= n; i += kWidth) {
        const Vec v = apply(load(to + i), i, kWidth);
        store(to + i, plus ? v + load(plus + i) : v);
      }
      if (i < n) {
        const Vec v = apply(load_some(to + i, n - i), i, n - i);
        store_some(to + i, plus ? v + load_some(plus + i, n - i) : v, n - i);
      }
    }
  };
  if (f.f == Function::prelu && slopes)
    return pass([=](Vec x, i64 column, i64 lanes) {
      const Vec slope = lanes == kWidth ? load(slopes + column) : load_some(slopes + column, lanes);
      return x < spread(0.0f) ? slope * x : x;
    });
  with_function(f, [=](auto apply) { pass([=](Vec x, i64, i64) { return apply(x); }); });
}

template <class Apply>
static inline __attribute__((always_inline)) void binary_loop(const float* a, i64 a_step, const float* b, i64 b_step,
                                                              float* y, i64 n, Apply apply) {
  const auto loop = [=](auto left, auto right) {
    i64 i = 0;
    for (; i + kWidth <= n; i += kWidth) store(y + i, apply(left(i, kWidth), right(i, kWidth)));
    if (i < n) store_some(y + i, apply(left(i, n - i), right(i, n - i)), n - i);
  };
  const auto row = [](const float* p) {
    return [p](i64 i, i64 lanes) { return lanes == kWidth ? load(p + i) : load_some(p + i, lanes); };
  };
  const auto one = [](const float* p) { return [v = spread(*p)](i64, i64) { return v; }; };
  if (a_step && b_step) return loop(row(a), row(b));
  if (a_step) return loop(row(a), one(b));
  if (b_step) return loop(one(a), row(b));
  loop(one(a), one(b));
}

static void binary(Binary f, const float* a, i64 a_step, const float* b, i64 b_step, float* y, i64 n) {
  const auto go = [=](auto apply) { binary_loop(a, a_step, b, b_step, y, n, apply); };
  const auto nan_or = [](Vec p, Vec q, Vec result) { return p == p ? (q == q ? result : q) : p; };
  switch (f) {
    case Binary::add: return go([](Vec p, Vec q) { return p + q; });
    case Binary::subtract: return go([](Vec p, Vec q) { return p - q; });
    case Binary::multiply: return go([](Vec p, Vec q) { return p * q; });
    case Binary::divide: return go([](Vec p, Vec q) { return p / q; });
    case Binary::maximum: return go([=](Vec p, Vec q) { return nan_or(p, q, max(p, q)); });
    case Binary::minimum: return go([=](Vec p, Vec q) { return nan_or(p, q, min(p, q)); });
    case Binary::squared_difference: return go([](Vec p, Vec q) { return (p - q) * (p - q); });
    case Binary::prelu: return go([](Vec p, Vec q) { return p < spread(0.0f) ? p * q : p; });
    case Binary::mod: return go([](Vec p, Vec q) { return mod(p, q); });
    case Binary::floor_mod: return go([](Vec p, Vec q) { return floor_mod(p, q); });
    case Binary::power: return go([](Vec p, Vec q) { return power(p, q); });
  }
}

static void select(const unsigned char* mask, i64 mask_step, const float* a, i64 a_step, const float* b, i64 b_step,
                   float* y, i64 n) {
  i64 i = 0;
  if (mask_step == 1 && a_step == 1 && b_step == 0) {
    const Vec other = spread(*b);
    for (; i + kWidth <= n; i += kWidth) store(y + i, widened(mask + i) != 0 ? load(a + i) : other);
  }
  for (; i < n; ++i) y[i] = mask[i * mask_step] ? a[i * a_step] : b[i * b_step];
}
