// Source: the attribute lists of Model Optimizer 2020.1 to 2024.6 (backend_attrs of its operations and the list for
// operations without one in front/extractor.py), less what the specifications name.
#include "op/leftovers.hpp"

#include <algorithm>
#include <iterator>

#include "base/text.hpp"

namespace ovir {
namespace {

struct Leftover {
  std::string_view type, attribute;
};

constexpr Leftover kOfType[] = {
    {"AvgPool", "axis"},
    {"AvgPool", "dilations"},
    {"Convolution", "begin"},
    {"Convolution", "end"},
    {"Convolution", "mode"},
    {"Convolution", "pad_value"},
    {"DetectionOutput", "eta"},
    {"DetectionOutput", "height"},
    {"DetectionOutput", "pad_mode"},
    {"DetectionOutput", "pad_value"},
    {"DetectionOutput", "width"},
    {"GRUCell", "activation_alpha"},
    {"GRUCell", "activation_beta"},
    {"Gather", "axis"},
    {"LSTMCell", "activation_alpha"},
    {"LSTMCell", "activation_beta"},
    {"LSTMSequence", "batch_dim"},
    {"LSTMSequence", "blobs_wrb"},
    {"LSTMSequence", "format"},
    {"LSTMSequence", "has_num_directions"},
    {"LSTMSequence", "sequence_dim"},
    {"MaxPool", "axis"},
    {"MaxPool", "dilations"},
    {"MaxPool", "index_element_type"},
    {"PriorBox", "step_h"},
    {"PriorBox", "step_w"},
    {"PriorBoxClustered", "flip"},
    {"RNNCell", "activation_alpha"},
    {"RNNCell", "activation_beta"},
    {"RNNSequence", "activation_alpha"},
    {"RNNSequence", "activation_beta"},
    {"RNNSequence", "axis"},
    {"RNNSequence", "linear_before_reset"},
    {"Split", "axis"},
    {"Tile", "axis"},
    {"Tile", "tiles"},
    {"Unique", "return_counts"},
    {"Unique", "return_inverse"},
    {"VariadicSplit", "axis"},
};

/// Of any type, sorted. None of them is close to an attribute of an operation.
constexpr std::string_view kOfAny[] = {"channel_shared",
                                       "engine",
                                       "exclude-pad",
                                       "height_scale",
                                       "img_h",
                                       "img_size",
                                       "img_w",
                                       "input_nodes_names",
                                       "interp_mode",
                                       "knorm",
                                       "label_map_file",
                                       "name_size_file",
                                       "negative_slope",
                                       "num_axes",
                                       "num_filter",
                                       "num_test_image",
                                       "output_directory",
                                       "output_format",
                                       "output_name_prefix",
                                       "output_padding",
                                       "output_tensors_names",
                                       "prob",
                                       "protobuf",
                                       "real_input_dims",
                                       "resize_mode",
                                       "save_file",
                                       "visualize",
                                       "visualize_threshold",
                                       "width_scale"};
static_assert(std::is_sorted(std::begin(kOfAny), std::end(kOfAny)));

}  // namespace

bool is_leftover(std::string_view type, std::string_view attribute) {
  return std::binary_search(std::begin(kOfAny), std::end(kOfAny), attribute) ||
         std::any_of(std::begin(kOfType), std::end(kOfType), [&](const Leftover& known) {
           return known.attribute == attribute && equals_ignoring_case(known.type, type);
         });
}

}  // namespace ovir
