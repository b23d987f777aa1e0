// Attributes of GroupNormalization; the fast tier reads them too.
#pragma once
#include "base/int.hpp"

namespace ovir {

struct GroupNormalizationAttrs {
  i64 num_groups = 1;
  double epsilon = 0;
};

}  // namespace ovir
