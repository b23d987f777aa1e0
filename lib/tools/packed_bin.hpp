// PackedBin: a .bin that holds the bytes of some Constants and no others.
#pragma once
#include <memory>
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

/// First keep() what stays, then place() it, then add() what is new.
class PackedBin {
 public:
  /// `old` may be null: the model has no .bin.
  explicit PackedBin(std::shared_ptr<const Bytes> old) : old_(std::move(old)) {}

  /// The bytes of a Constant, and of those in the bodies of a layer. Throws Failure E0302 where they are not in the old
  /// .bin.
  void keep(const Model& model, const Node& node);
  /// Closes the gaps; what overlapped stays together. Each stretch stays as aligned as it was, up to 64 bytes. Returns
  /// the changes of the offsets in the text.
  std::vector<Replacement> place();
  /// Puts a value behind all others.
  ByteRange add(const Tensor& value);

  /// The .bin in pieces, of which those that it had before are views of the old one.
  std::vector<Bytes> pieces() const { return pieces_; }

 private:
  struct Stored {
    ByteRange bytes;
    const Layer* layer;
  };
  std::shared_ptr<const Bytes> old_;
  std::vector<Stored> stored_;
  std::vector<Bytes> pieces_;
  i64 end_ = 0;

  void align(i64 to);
  void append(Bytes piece);
};

}  // namespace ovir::tools
