#include "pattern_examples.hpp"

namespace ovir::testing::patterns::strided {
namespace {

int broadcast(Net& n, int x, std::initializer_list<i64> to, std::string_view mode = "numpy") {
  return n.op("Broadcast-3", {x, n.indices(to)}, {{"mode", std::string(mode)}});
}
void columns(Net& n) { n.result(broadcast(n, relu(n, n.input({40, 1})), {3, 40, 70})); }
void rows(Net& n) { n.result(relu(n, broadcast(n, n.input({1, 1, 7}), {20, 5, 7}, "bidirectional"))); }
void named_axes(Net& n) {
  n.result(n.op("Broadcast-3", {n.input({3, 5}), n.indices({3, 4, 5, 6}), n.indices({0, 2})}, {{"mode", "explicit"}}));
}
/// How long it becomes only the run tells.
void to_lengths(Net& n) { n.result(n.op("Broadcast-3", {n.input({1, 1}), lengths(n)}, {{"mode", "numpy"}})); }
void bytes(Net& n) {
  n.result(broadcast(n, n.op("Convert-1", {n.input({6, 1, 5})}, {{"destination_type", "u8"}}), {6, 9, 5}));
}
void tile(Net& n) { n.result(n.op("Tile-1", {relu(n, n.input({2, 3, 5})), n.indices({3, 1, 2, 4})})); }
void tile_integers(Net& n) {
  const int x = n.op("Convert-1", {n.input({40, 3})}, {{"destination_type", "i64"}});
  n.result(n.op("Tile-1", {x, n.indices({1, 8})}));
}

int slice(Net& n, int x, std::initializer_list<i64> start, std::initializer_list<i64> stop,
          std::initializer_list<i64> step, std::initializer_list<i64> axes) {
  return n.op("Slice-8", {x, n.indices(start), n.indices(stop), n.indices(step), n.indices(axes)});
}
void every_other(Net& n) { n.result(relu(n, slice(n, n.input({3, 20, 30}), {1, 0}, {20, 30}, {2, 2}, {1, -1}))); }
void backwards(Net& n) { n.result(slice(n, n.input({5, 9, 70}), {-2, 100}, {0, -100}, {-3, -1}, {1, 2})); }
void of_several(Net& n) { n.result(slice(n, n.input({5, 9, 70}), {-3, 2}, {100, -1}, {1, 1}, {1, 2})); }

int strided(Net& n, int x, std::initializer_list<i64> begin, std::initializer_list<i64> end,
            std::initializer_list<i64> stride, const Texts& masks) {
  return n.op("StridedSlice-1", {x, n.indices(begin), n.indices(end), n.indices(stride)}, masks);
}
void focus(Net& n) {
  n.result(relu(n, strided(n, n.input({1, 3, 20, 30}), {0, 0, 1, 0}, {0, 0, 0, 0}, {1, 1, 2, 2},
                           {{"begin_mask", "1,1,0,1"}, {"end_mask", "1,1,1,1"}})));
}
void picked(Net& n) {
  n.result(strided(n, n.input({5, 9, 70}), {-2, 0, 60}, {0, 0, 3}, {1, 1, -7},
                   {{"begin_mask", "0,1,0"}, {"end_mask", "1,1,0"}, {"shrink_axis_mask", "1,0,0"}}));
}
void widened(Net& n) {
  n.result(strided(
      n, n.input({5, 9, 70}), {0, 0, 3}, {0, 0, -2}, {1, 1, 1},
      {{"begin_mask", "1,1,0"}, {"end_mask", "1,1,0"}, {"new_axis_mask", "1,0,0"}, {"ellipsis_mask", "0,1,0"}}));
}

void shuffle(Net& n, int x) { n.result(relu(n, n.op("ShuffleChannels-1", {x}, {{"axis", "-3"}, {"group", "4"}}))); }
void shuffled(Net& n) { shuffle(n, n.input({2, 12, 5, 7})); }
void shuffled_convolution(Net& n) { shuffle(n, convolution(n, n.input({1, 8, 5, 7}), {32, 8, 1, 1}, windows(2))); }

spec::AttributeTexts blocks(std::string_view mode) { return {{"mode", std::string(mode)}, {"block_size", "2"}}; }
void blocks_first(Net& n) { n.result(n.op("SpaceToDepth-1", {n.input({2, 3, 8, 12})}, blocks("blocks_first"))); }
void depth_first(Net& n) { n.result(n.op("SpaceToDepth-1", {n.input({2, 3, 4, 6, 8})}, blocks("depth_first"))); }
void space_of_blocks(Net& n) { n.result(n.op("DepthToSpace-1", {n.input({2, 12, 5, 9})}, blocks("blocks_first"))); }
void space_of_depth(Net& n) { n.result(n.op("DepthToSpace-1", {n.input({2, 16, 5, 3, 9})}, blocks("depth_first"))); }

// clang-format off
constexpr Example kExamples[] = {
    {"strided.broadcast", columns},
    {"strided.broadcast", columns, kOnce},
    {"strided.broadcast", rows},
    {"strided.broadcast", named_axes},
    {"strided.broadcast", to_lengths},
    {"strided.broadcast", bytes, kOften, kFixed, kF32Only},
    {"strided.tile", tile},
    {"strided.tile", tile, kOnce, kOpen},
    {"strided.tile", tile_integers, kOften, kFixed, kF32Only},
    {"strided.slice", every_other},
    {"strided.slice", every_other, kOnce, kOpen},
    {"strided.slice", backwards},
    {"strided.slice", of_several},
    {"strided.strided_slice", focus},
    {"strided.strided_slice", focus, kOnce, kOpen},
    {"strided.strided_slice", picked},
    {"strided.strided_slice", widened},
    {"strided.shuffle_channels", shuffled},
    {"strided.shuffle_channels", shuffled, kOften, kOpen},
    {"strided.shuffle_channels", shuffled_convolution},
    {"strided.space_to_depth", blocks_first},
    {"strided.space_to_depth", depth_first, kOnce, kOpen},
    {"strided.depth_to_space", space_of_blocks},
    {"strided.depth_to_space", space_of_depth, kOnce},
};
// clang-format on

}  // namespace

extern constinit const Examples examples{"strided", kExamples};

}  // namespace ovir::testing::patterns::strided
