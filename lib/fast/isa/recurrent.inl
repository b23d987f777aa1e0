// What is left of a step of an LSTM once its products are there.

static void lstm_cell(const float* gates, const float* inputs, float* c, float* h, i64 n) {
  const auto pass = [=](i64 i, auto get, auto put) {
    const auto sum = [=](i64 gate) { return get(gates + gate * n + i) + get(inputs + gate * n + i); };
    const Vec kept = sigmoid(sum(0)) * get(c + i), added = sigmoid(sum(1)) * tanh(sum(2)), state = kept + added;
    put(c + i, state);
    put(h + i, tanh(state) * sigmoid(sum(3)));
  };
  i64 i = 0;
  for (; i + kWidth <= n; i += kWidth)
    pass(
        i, [](const float* p) { return load(p); }, [](float* p, Vec v) { store(p, v); });
  if (const i64 rest = n - i; rest > 0)
    pass(
        i, [=](const float* p) { return load_some(p, rest); }, [=](float* p, Vec v) { store_some(p, v, rest); });
}
