// MulticlassNms and MatrixNms: the best boxes of all classes of an image, best first.
#pragma once
#include "base/int.hpp"
#include "tensor/view.hpp"

namespace ovir {
class ThreadPool;
}

namespace ovir::fast {

enum class DetectionOrder : std::uint8_t { as_kept, classes_of_image, classes, scores };

/// boxes[images][count][4], scores[images][classes][count].
struct Detections {
  i64 images, classes, count;
  i64 of_class;    ///< the most boxes of a class that are looked at, the best ones
  i64 of_image;    ///< the most that are kept
  i64 background;  ///< the class that is left out; -1: none
  bool normalized;
  DetectionOrder order;
  float score;           ///< what scores must be: at least that or, of MatrixNms, more
  bool matrix;           ///< MatrixNms
  float overlap, eta;    ///< MulticlassNms
  bool gaussian;         ///< MatrixNms, as is what follows
  float sigma, decayed;  ///< sigma is 0 or more
  i64 lists() const { return images * classes; }
  i64 most_of_image() const;
};

/// Scratch memory in floats: of all, and of each slot.
i64 detections_scratch(const Detections& d);
i64 detections_slot(const Detections& d);
int detections_slots(const Detections& d, const ThreadPool& pool);
/// Gives how many boxes all images have, which `scratch` then knows.
i64 detect(const Detections& d, const float* boxes, const float* scores, float* scratch, float* slots,
           ThreadPool& pool);
/// Writes rows (class, score, box), their places in all of the input, and how many each image has. `found` is what
/// detect() gave.
void put_detections(const Detections& d, i64 found, float* scratch, const float* boxes, const View& outputs,
                    const View& indices, const View& numbers);

}  // namespace ovir::fast
