// Attributes of BatchNormInference; the fast tier reads them too.
#pragma once

namespace ovir {

struct BatchNormalizationAttrs {
  double epsilon = 0;
};

}  // namespace ovir
