// Boxes by where they lie along one axis, so that another is compared with those near it only.
#pragma once
#include <array>

#include "base/int.hpp"

namespace ovir::fast {

struct LineTable;

/// Numbers of a box: y1, x1, y2, x2, area.
inline constexpr i64 kBox = 5;
using BoxNumbers = std::array<float, kBox>;

/// Cells along the axis on which boxes are the shortest beside what all of them cover. Each cell has those that reach
/// into it, sixteen together; boxes of many cells are in none.
class NearBoxes {
 public:
  /// Floats of the memory for at most so many boxes.
  static i64 size(i64 most);
  explicit NearBoxes(float* memory);

  /// What the cells cover, box by box.
  void measure(const BoxNumbers& box);
  /// After the last of these; false: cells are of no use, or what lies in different ones might overlap.
  bool divide();
  /// False: it has too many cells.
  bool add(const BoxNumbers& box);
  /// Whether one of those added overlaps the box by more than `most`, which is 0 or more.
  bool overlaps(const LineTable& table, const BoxNumbers& box, float most) const;

 private:
  static constexpr i64 kCells = 512, kMostCells = 4, kTogether = 16;

  /// Boxes side by side, and the group of the same cell before it; -1: none.
  struct Group {
    std::array<float, kBox * kTogether> numbers;
    i64 count, before;
  };
  struct Extent {
    float low, high;
    double lengths;
  };

  i64 cell(float at) const;

  Group* groups_;
  i64 used_ = 0;
  std::array<i64, kCells> last_;  ///< group of each cell
  std::array<Extent, 2> axes_;
  i64 boxes_ = 0;
  int axis_ = 0;
  i64 cells_ = 0;
  float scale_ = 0;
};

}  // namespace ovir::fast
