// What the reference kernel and the fast tier of MatMul share.
#pragma once

namespace ovir {

/// Of MatMul-1. Ignored for an operand of rank 1.
struct MatMulAttrs {
  bool transpose_a = false, transpose_b = false;
};

}  // namespace ovir
