// Attributes of STFT and ISTFT; the fast tier reads them too.
#pragma once

namespace ovir {

struct StftAttrs {
  bool transpose_frames = false;
};

struct IstftAttrs {
  bool center = false, normalized = false;
};

}  // namespace ovir
