// Rotary embedding against the formula in double precision.
#include <cmath>

#include "fast/kernels/elementwise/rotary.hpp"
#include "kernels.hpp"

namespace ovir::fast {
namespace {

TEST_CASE("rotary embedding: halves and neighbors, some columns, heads inside, tables that are broadcast") {
  ThreadPool one(1), four(4);
  for_each_isa([&] {
    for (const bool neighbors : {false, true})
      for (const i64 turned : {2, 22, 64, 66})
        for (const i64 rest : {0, 5})
          for (const bool inside : {false, true}) {
            const i64 heads = 3, rows = 70, columns = turned + rest;
            const RotaryShape s{2, heads, rows, columns, turned, neighbors};
            const auto x = random_floats(2 * heads * rows * columns, 1);
            const auto cosine = random_floats(2 * rows * turned, 2), sine = random_floats(rows * turned, 3);
            const RowsOfHeads from{x.data(), heads * rows * columns, inside ? columns : rows * columns,
                                   inside ? heads * columns : columns};
            const RowsOfHeads c{cosine.data(), rows * turned, 0, turned}, t{sine.data(), 0, 0, turned};
            Floats y(x.size()), again(x.size());
            rotary(s, from, c, t, y.data(), four);
            for (i64 b = 0; b < 2; ++b)
              for (i64 h = 0; h < heads; ++h)
                for (i64 r = 0; r < rows; ++r)
                  for (i64 i = 0; i < columns; ++i) {
                    const auto* row = from.at(b, h, r);
                    const auto half = turned / 2, other = neighbors ? i ^ 1 : (i < half ? i + half : i - half);
                    double expected = row[i];
                    if (i < turned) {
                      const bool minus = neighbors ? i % 2 == 0 : i < half;
                      const double turn = static_cast<double>(row[other]) * t.at(b, h, r)[i];
                      expected = expected * c.at(b, h, r)[i] + (minus ? -turn : turn);
                    }
                    REQUIRE(std::abs(y[at(((b * heads + h) * rows + r) * columns + i)] - expected) < 3e-7);
                  }
            rotary(s, from, c, t, again.data(), one);
            CHECK(again == y);
          }
  });
}

}  // namespace
}  // namespace ovir::fast
