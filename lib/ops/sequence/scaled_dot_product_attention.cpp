// ScaledDotProductAttention: softmax(query · keyᵀ · scale + mask) · value. A sink is a score more of each query, which
// takes its share of the probabilities and has no value.
// Spec: operation-sets/operation-specs/sequence/scaled-dot-product-attention
#include "op/kit/accumulate.hpp"
#include "op/op.hpp"
#include "op/shared_attrs.hpp"
#include "op/work.hpp"

namespace ovir::ops::scaled_dot_product_attention {
namespace {

enum Input { query, key, value, attention_mask, scale, sink };

PartialShape batch_of(const PartialShape& s) {
  return s.has_rank() ? PartialShape(std::vector<Dim>(s.begin(), s.end() - 2)) : s;
}

bool mask_matters(const InferContext& c) {
  return c.has(attention_mask) && !c.attrs<ScaledDotProductAttentionAttrs>().causal;
}

/// A dim of what is broadcast to the scores [batch…, L, S], which it never enlarges.
bool fits(const Dim& dim, const Dim& scores) { return dim.contains(1) || intersect(dim, scores).has_value(); }

/// [batch…, L, 1] to which a sink, of the rank of "query", is broadcast.
void require_sink(InferContext& c, const PartialShape& batch, const Dim& length) {
  const auto& s = c.shape(sink);
  const auto& q = c.shape(query);
  if (!s.has_rank()) return;
  c.require(!q.has_rank() || s.rank() == q.rank(), sink, Code::E0504,
            "input \"sink\" of ScaledDotProductAttention must have the rank of \"query\", {}, but has {}", q.rank(),
            s.rank());
  if (!batch.has_rank()) return;
  auto scores = batch;
  scores.push_back(length);
  scores.push_back(1);
  bool is_sink = s.rank() <= scores.rank();
  for (int i = 1; is_sink && i <= s.rank(); ++i) is_sink = fits(s.dim(-i), scores.dim(-i));
  c.require(is_sink, sink, Code::E0505,
            "input \"sink\" of ScaledDotProductAttention must be broadcastable to {}, a score more of each query, but "
            "its shape is {}",
            to_string(scores), to_string(s));
}

void infer(InferContext& c) {
  for (const auto port : {query, key, value}) c.require_rank_at_least(port, 3);
  const auto &q = c.shape(query), &k = c.shape(key), &v = c.shape(value);
  c.require_same_dim(q.dim(-1), k.dim(-1), key, "the embedding dims of \"query\"", "those of \"key\"");
  const auto source =
      c.require_same_dim(k.dim(-2), v.dim(-2), value, "the source lengths of \"key\"", "those of \"value\"");
  // Ranks may differ, so one that is unknown leaves the output's unknown (OpenVINO goes by the others).
  auto out = broadcast(batch_of(q), batch_of(k));
  c.require(out.has_value(), key, Code::E0505,
            "ScaledDotProductAttention cannot broadcast the batch dims of \"query\" {} and \"key\" {}", to_string(q),
            to_string(k));
  auto with_value = broadcast(*out, batch_of(v));
  c.require(with_value.has_value(), value, Code::E0505,
            "ScaledDotProductAttention cannot broadcast the batch dims of \"query\" {} and \"value\" {}", to_string(q),
            to_string(v));
  out = std::move(with_value);
  auto length = q.dim(-2);
  if (mask_matters(c)) {
    c.require(c.type(attention_mask) == ElementType::boolean || c.type(attention_mask) == ElementType::dynamic ||
                  c.type(query) == ElementType::dynamic || c.type(attention_mask) == c.type(query),
              attention_mask, Code::E0503, "input \"attention_mask\" must be boolean or {} as \"query\" is, but is {}",
              name(c.type(query)), name(c.type(attention_mask)));
    // A mask may be broadcast to the scores [batch…, L, S], it never enlarges them beyond its own batch.
    const auto& m = c.shape(attention_mask);
    const bool is_row = m.has_rank() && m.rank() > 0, has_rows = m.has_rank() && m.rank() > 1;
    c.require((!is_row || fits(m.dim(-1), source)) && (!has_rows || fits(m.dim(-2), q.dim(-2))), attention_mask,
              Code::E0505,
              "the last dims of input \"attention_mask\" of ScaledDotProductAttention must be 1 or [{},{}], those of "
              "the scores, but its shape is {}",
              to_string(q.dim(-2)), to_string(source), to_string(m));
    if (has_rows) {
      auto with_mask = broadcast(*out, batch_of(m));
      c.require(with_mask.has_value(), attention_mask, Code::E0505,
                "ScaledDotProductAttention cannot broadcast the batch dims of \"attention_mask\" {} and \"query\" {}",
                to_string(m), to_string(q));
      out = std::move(with_mask);
      // A mask of several rows has one for each row of query.
      if (const auto rows_of_both = intersect(length, m.dim(-2)); rows_of_both && !m.dim(-2).contains(1))
        length = *rows_of_both;
    } else if (!m.has_rank()) {
      out = PartialShape::unknown_rank();
    }
  }
  if (c.has(scale)) c.require_single(scale);
  if (c.has(sink)) require_sink(c, *out, length);
  if (out->has_rank()) {
    out->push_back(length);
    out->push_back(v.dim(-1));
  }
  c.output(0, std::move(*out));
}

/// One matrix of a batch after the other, repeated where the batch is broadcast.
struct Matrices {
  Shape strides;
  i64 size;
  Matrices(const Tensor& t, const Shape& batch)
      : strides(broadcast_strides(Shape(t.shape().begin(), t.shape().end() - 2), batch)),
        size(t.dim(t.rank() - 2) * t.dim(t.rank() - 1)) {}
  i64 offset(const IndexWalker& at) const { return at.offset(strides) * size; }
};

/// What is added to the scores: 0 or -inf of a boolean mask, else the mask itself.
template <class T>
Tensor bias(EvalContext& c, ElementType type) {
  const auto& m = c.in(attention_mask);
  if (m.type() != ElementType::boolean) return m;
  auto t = c.scratch(type, m.shape());
  std::transform(m.values<std::uint8_t>().begin(), m.values<std::uint8_t>().end(), t.mutable_data<T>(),
                 [](std::uint8_t keep) { return keep ? T{} : -std::numeric_limits<T>::infinity(); });
  return t;
}

/// `sink`: a score beside these; null: none.
template <class T>
void softmax(T* row, i64 n, const T* sink) {
  T max = sink ? *sink : -std::numeric_limits<T>::infinity();
  for (i64 i = 0; i < n; ++i) max = std::max(max, row[i]);
  T sum = sink ? std::exp(*sink - max) : T{};
  for (i64 i = 0; i < n; ++i) sum += row[i] = std::exp(row[i] - max);
  for (i64 i = 0; i < n; ++i) row[i] /= sum;
}

template <class T>
void attend(EvalContext& c) {
  const auto &q = c.in(query), &k = c.in(key), &v = c.in(value);
  auto& out = c.out(0);
  const auto rank = out.rank();
  const auto targets = out.dim(rank - 2), width = out.dim(rank - 1), sources = k.dim(k.rank() - 2),
             depth = q.dim(q.rank() - 1);
  const bool causal = c.attrs<ScaledDotProductAttentionAttrs>().causal;
  auto factor = static_cast<T>(1 / std::sqrt(static_cast<double>(depth)));
  if (c.has(scale)) factor = c.in(scale).data<T>()[0];
  Tensor mask = causal || !c.has(attention_mask) ? Tensor() : bias<T>(c, out.type());
  // "A scalar zero value signals that applying an attention mask is not necessary"; a vector is a mask of one row.
  while (mask && mask.rank() < 2) {
    auto shape = mask.shape();
    shape.insert(shape.begin(), 1);
    mask = mask.reshaped(shape);
  }
  const Shape batch(out.shape().begin(), out.shape().end() - 2);
  const Matrices queries(q, batch), keys(k, batch), values(v, batch);
  std::optional<Matrices> masks, sinks;
  if (mask) masks.emplace(mask, batch);
  if (c.has(sink)) sinks.emplace(c.in(sink), batch);
  const auto mask_rows = mask ? mask.dim(mask.rank() - 2) : 0, mask_columns = mask ? mask.dim(mask.rank() - 1) : 0;

  std::pmr::vector<T> transposed(depth * sources, c.memory()), scores(sources, c.memory());
  std::pmr::vector<i64> key_rows(depth, c.memory()), value_rows(sources, c.memory());
  for (i64 i = 0; i < depth; ++i) key_rows[i] = i * sources;
  for (i64 i = 0; i < sources; ++i) value_rows[i] = i * width;
  auto* to = out.mutable_data<T>();
  std::fill_n(to, out.size(), T{});
  for (IndexWalker at(batch); !at.done(); at.next()) {
    const T* keys_here = k.data<T>() + keys.offset(at);
    for (i64 s = 0; s < sources; ++s)
      for (i64 e = 0; e < depth; ++e) transposed[e * sources + s] = keys_here[s * depth + e];
    for (i64 l = 0; l < targets; ++l, to += width) {
      // With causal, target l sees the sources up to l.
      const auto visible = causal ? std::min(sources, l + 1) : sources;
      std::fill_n(scores.begin(), visible, T{});
      accumulate(scores.data(), visible, transposed.data(), key_rows.data(), 1,
                 q.data<T>() + queries.offset(at) + l * depth, depth);
      const T* added = mask ? mask.data<T>() + masks->offset(at) + (mask_rows == 1 ? 0 : l * mask_columns) : nullptr;
      for (i64 s = 0; s < visible; ++s) {
        auto& score = scores[s];
        score *= factor;
        if (added) score += added[mask_columns == 1 ? 0 : s];
      }
      const T* beside = sinks ? c.in(sink).data<T>() + sinks->offset(at) + (sinks->size == 1 ? 0 : l) : nullptr;
      softmax(scores.data(), visible, beside);
      accumulate(to, width, v.data<T>() + values.offset(at), value_rows.data(), 1, scores.data(), visible);
    }
  }
}

void eval(EvalContext& c) {
  if (c.out_shape(0).to_shape().count() == 0) {  // a mask alone may have elements
    c.out(0);
    return;
  }
  dispatch(c.out_type(0), Floats{}, [&]<class T>() { attend<T>(c); });
}

/// Query [..., L, E], key [..., S, E], value [..., S, V]: every row of the query takes S * E and S * V.
i64 macs(const Version&, const void*, std::span<const Shape> in, std::span<const Shape> out) {
  const Shape rows(out[0].begin(), out[0].end() - 1);
  const auto width = saturating_add(in[query].back(), in[value].back());
  return saturating_mul(saturating_mul(saturating_count(rows), in[value][in[value].rank() - 2]), width);
}

constexpr TypeVar T{"T", kFloat}, TMask{"T_MASK", kFloat | kBoolean};
constexpr PortDef kInputs[] = {{"query", T},
                               {"key", T},
                               {"value", T},
                               {"attention_mask", TMask, Arity::optional},
                               {"scale", T, Arity::optional},
                               {"sink", T, Arity::optional}};
constexpr PortDef kOutputs[] = {{"output", T}};
constexpr auto kAttrs =
    attributes<ScaledDotProductAttentionAttrs, Attr<"causal", &ScaledDotProductAttentionAttrs::causal, kRequired>>;
constexpr Version kVersions[] = {{.since = 13,
                                  .spec = "sequence/scaled-dot-product-attention",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .eval = eval,
                                  .macs = macs}};

}  // namespace

extern constinit const OpDef def{
    .type = "ScaledDotProductAttention", .spec = "sequence/scaled-dot-product-attention", .versions = kVersions};

}  // namespace ovir::ops::scaled_dot_product_attention
