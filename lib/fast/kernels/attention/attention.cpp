#include "fast/kernels/attention/attention.hpp"

#include <array>
#include <span>

#include "fast/kernels/attention/blocks.hpp"
#include "fast/kernels/attention/few.hpp"
#include "fast/kernels/attention/whole.hpp"

namespace ovir::fast {
namespace {

/// Then packing keys and values would cost more than it saves.
bool reads_in_place(const AttentionShape& s, bool plain) {
  return plain && s.queries <= 4 && !s.level_scores && !s.level_values;
}

/// Memory of a thread that computes a few queries.
i64 few_size(const AttentionShape& s) { return std::min(kMostFew, s.heads / s.kv_heads * s.queries) * few_row(s); }

bool is_whole(const AttentionShape& s) { return s.keys <= block_keys(s) && !s.sunk; }
i64 chunk_size(const AttentionShape& s) { return is_whole(s) ? whole_size(s) : blocks_size(s); }

/// Memory of a thread that packs the keys and values of a head itself.
i64 own_size(const AttentionShape& s) { return packed_head_size(s) + chunk_size(s); }

/// Whether keys may be left out, for which their squares are needed.
bool may_hide(const AttentionShape& s, const MaskView& mask) {
  return !s.bf16 && (s.causal || mask.added || mask.seen);
}

/// Block `block` of the keys and values that some heads share, `pair` of them.
void pack_block(const AttentionShape& s, const HeadView& k, const HeadView& v, i64 pair, i64 block,
                const PackedHead& to) {
  const auto batch = pair / s.kv_heads, head = pair % s.kv_heads, k0 = block * block_keys(s);
  pack_keys(s, k.at(batch, head), v.at(batch, head), k0, std::min(block_keys(s), s.keys - k0), to);
}
void pack_all(const AttentionShape& s, const HeadView& k, const HeadView& v, i64 pair, const PackedHead& to) {
  for (i64 block = 0; block < ceil_div(s.keys, block_keys(s)); ++block) pack_block(s, k, v, pair, block, to);
}

/// Chunks of `n` items of `cost` nanoseconds: of what takes some microseconds at least two.
i64 chunks_of(i64 n, double cost) {
  constexpr double kLeast = 2'500;
  return std::clamp<i64>(static_cast<i64>(static_cast<double>(n) * cost / kLeast), 1, n);
}

}  // namespace

i64 attention_scratch_size(const AttentionShape& s, bool plain, int threads) {
  if (reads_in_place(s, plain)) return threads * few_size(s);
  return s.batch * s.kv_heads * packed_head_size(s) + threads * chunk_size(s);
}

void attention(const AttentionShape& s, const HeadView& q, const HeadView& k, const HeadView& v, const MaskView& mask,
               const HeadPlace& out, float* scratch, ThreadPool& pool) {
  if (s.batch * s.heads * s.queries * s.value_depth == 0) return;
  const auto shared = s.heads / s.kv_heads;
  const auto key_cost = static_cast<double>(s.keys * (s.depth + s.value_depth));
  if (reads_in_place(s, q.data && k.data && v.data && out.wide && q.column == 1 && k.column == 1)) {
    // Parts of the queries that share keys: as few as keep all threads busy.
    const auto pairs = s.batch * s.kv_heads, queries = shared * s.queries;
    const auto parts = pairs % pool.threads() == 0 ? 1 : std::min(queries, ceil_div(4 * pool.threads(), pairs));
    Slots slots(scratch, few_size(s), slots_for(pool));
    const auto cost = key_cost * static_cast<double>(queries) / static_cast<double>(8 * parts);
    return parallel_ranges(pool, pairs * parts, cost, [&](i64 begin, i64 end) {
      const Slots::Lease room(slots);
      std::array<Few, kMostFew> few;
      for (auto i = begin; i < end; ++i) {
        const auto batch = i / parts / s.kv_heads, pair = i / parts % s.kv_heads;
        const Part part(queries, parts, i % parts);
        for (auto first = part.begin; first < part.end; first += kMostFew) {
          const auto count = std::min(kMostFew, part.end - first);
          for (i64 j = 0; j < count; ++j) {
            const auto head = pair * shared + (first + j) / s.queries, query = (first + j) % s.queries;
            few[j] = {q.at(batch, head).from(query).data, mask.at(batch, head, query), query, of_head(s, head).scale,
                      out.at(batch, head, query).wide};
          }
          attend_few(s, std::span(few).first(count), k.at(batch, pair), v.at(batch, pair), room.data());
        }
      }
    });
  }
  const bool hides = may_hide(s, mask);
  const auto head_size = packed_head_size(s), blocks = ceil_div(s.keys, block_keys(s)), pairs = s.batch * s.kv_heads,
             parts = ceil_div(s.queries, kQueries);
  const auto run = [&](i64 batch, i64 head, i64 i, const PackedHead& packed, float* memory) {
    const Part part(s.queries, parts, i);
    const auto attend = is_whole(s) ? attend_whole : attend_blocks;
    attend(of_head(s, head), packed, q.at(batch, head).from(part.begin), mask.at(batch, head, part.begin), part.begin,
           part.size(), out.at(batch, head, part.begin), memory);
  };
  if (pairs % pool.threads() == 0 || pairs >= 4 * pool.threads()) {
    // Heads enough for all threads: each packs what it uses.
    Slots slots(scratch, own_size(s), slots_for(pool));
    const auto cost = static_cast<double>(s.queries * shared) * (key_cost / 60 + 2) + key_cost / 16 + 100;
    const auto chunks = chunks_of(pairs, cost);
    return parallel(pool, chunks, [&](i64 chunk) {
      const Slots::Lease room(slots);
      const auto packed = packed_head(s, hides, room.data());
      const Part part(pairs, chunks, chunk);
      for (auto pair = part.begin; pair < part.end; ++pair) {
        pack_all(s, k, v, pair, packed);
        for (i64 j = 0; j < shared * parts; ++j)
          run(pair / s.kv_heads, pair % s.kv_heads * shared + j / parts, j % parts, packed, room.data() + head_size);
      }
    });
  }
  const auto packed = [&](i64 pair) { return packed_head(s, hides, scratch + pair * head_size); };
  parallel_ranges(pool, pairs * blocks, key_cost / static_cast<double>(blocks) / 4, [&](i64 begin, i64 end) {
    for (auto i = begin; i < end; ++i) pack_block(s, k, v, i / blocks, i % blocks, packed(i / blocks));
  });
  Slots slots(scratch + pairs * head_size, chunk_size(s), slots_for(pool));
  parallel(pool, s.batch * s.heads * parts, [&](i64 chunk) {
    const auto head = chunk / parts % s.heads, batch = chunk / parts / s.heads;
    const Slots::Lease room(slots);
    run(batch, head, chunk % parts, packed(batch * s.kv_heads + head / shared), room.data());
  });
}

i64 attention_pieces(const AttentionShape& s, bool plain, int threads) {
  const auto pairs = s.batch * s.kv_heads;
  return reads_in_place(s, plain) || pairs < threads ? 0 : s.batch * s.heads * s.queries;
}

void attention_alone(const AttentionShape& s, const HeadView& q, const HeadView& k, const HeadView& v,
                     const MaskView& mask, const HeadPlace& out, float* scratch, i64 begin, i64 end, int thread) {
  const auto shared = s.heads / s.kv_heads;
  auto* memory = scratch + thread * own_size(s);
  const auto packed = packed_head(s, may_hide(s, mask), memory);
  auto* rest = memory + packed_head_size(s);
  const auto attend = is_whole(s) ? attend_whole : attend_blocks;
  i64 last = -1;
  while (begin < end) {
    const auto head = begin / s.queries % s.heads, batch = begin / s.queries / s.heads, first = begin % s.queries;
    const auto count = std::min({end - begin, s.queries - first, kQueries});
    if (const auto pair = batch * s.kv_heads + head / shared; pair != last) {
      pack_all(s, k, v, pair, packed);
      last = pair;
    }
    attend(of_head(s, head), packed, q.at(batch, head).from(first), mask.at(batch, head, first), first, count,
           out.at(batch, head, first), rest);
    begin += count;
  }
}

}  // namespace ovir::fast
