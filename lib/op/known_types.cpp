// The operation types of opset1 to opset17, so that a type that ovir does not have is told from one that nobody has.
#include "op/known_types.hpp"

#include "base/text.hpp"

namespace ovir {

std::span<const KnownType> known_types() {
  // Type, the opset that introduced it, the last opset that holds it where that is not the newest.
  static constexpr KnownType table[] = {
    {"Abs", 1}, {"Acos", 1}, {"Acosh", 4}, {"AdaptiveAvgPool", 8}, {"AdaptiveMaxPool", 8}, {"Add", 1}, {"Asin", 1}, {"Asinh", 4},
    {"Assign", 3}, {"Atan", 1}, {"Atanh", 4}, {"AvgPool", 1}, {"BGRtoNV12", 17}, {"BatchNormInference", 1}, {"BatchToSpace", 2},
    {"BinaryConvolution", 1}, {"BitwiseAnd", 13}, {"BitwiseLeftShift", 15}, {"BitwiseNot", 13}, {"BitwiseOr", 13},
    {"BitwiseRightShift", 15}, {"BitwiseXor", 13}, {"Broadcast", 1}, {"Bucketize", 3}, {"CTCGreedyDecoder", 1},
    {"CTCGreedyDecoderSeqLen", 6}, {"CTCLoss", 4}, {"Ceiling", 1}, {"Clamp", 1}, {"Col2Im", 15}, {"Concat", 1}, {"Constant", 1},
    {"Convert", 1}, {"ConvertLike", 1}, {"ConvertPromoteTypes", 14}, {"Convolution", 1}, {"ConvolutionBackpropData", 1}, {"Cos", 1},
    {"Cosh", 1}, {"CumSum", 3}, {"DFT", 7}, {"DeformableConvolution", 1}, {"DeformablePSROIPooling", 1}, {"DepthToSpace", 1},
    {"DetectionOutput", 1}, {"Divide", 1}, {"Einsum", 7}, {"Elu", 1}, {"EmbeddingBagOffsets", 15}, {"EmbeddingBagOffsetsSum", 3},
    {"EmbeddingBagPacked", 15}, {"EmbeddingBagPackedSum", 3}, {"EmbeddingSegmentsSum", 3}, {"Equal", 1}, {"Erf", 1}, {"ErfInv", 17},
    {"Exp", 1}, {"ExperimentalDetectronDetectionOutput", 6}, {"ExperimentalDetectronGenerateProposalsSingleImage", 6},
    {"ExperimentalDetectronPriorGridGenerator", 6}, {"ExperimentalDetectronROIFeatureExtractor", 6}, {"ExperimentalDetectronTopKROIs", 6},
    {"ExtractImagePatches", 3}, {"Eye", 9}, {"FakeConvert", 13}, {"FakeQuantize", 1}, {"Floor", 1}, {"FloorMod", 1}, {"GRN", 1},
    {"GRUCell", 3}, {"GRUSequence", 5}, {"Gather", 1}, {"GatherElements", 6}, {"GatherND", 5}, {"GatherTree", 1}, {"Gelu", 2},
    {"GenerateProposals", 9}, {"Greater", 1}, {"GreaterEqual", 1}, {"GridSample", 9}, {"GroupConvolution", 1},
    {"GroupConvolutionBackpropData", 1}, {"GroupNormalization", 12}, {"GroupedMatMul", 17}, {"HSigmoid", 5}, {"HSwish", 4},
    {"HardSigmoid", 1}, {"I420toBGR", 8}, {"I420toRGB", 8}, {"IDFT", 7}, {"IRDFT", 9}, {"ISTFT", 16}, {"Identity", 16}, {"If", 8},
    {"Interpolate", 1}, {"Inverse", 14}, {"IsFinite", 10}, {"IsInf", 10}, {"IsNaN", 10}, {"LRN", 1}, {"LSTMCell", 1}, {"LSTMSequence", 5},
    {"Less", 1}, {"LessEqual", 1}, {"Log", 1}, {"LogSoftmax", 5}, {"LogicalAnd", 1}, {"LogicalNot", 1}, {"LogicalOr", 1}, {"LogicalXor", 1},
    {"Loop", 5}, {"MVN", 2}, {"MatMul", 1}, {"MatrixNms", 8}, {"MaxPool", 1}, {"Maximum", 1}, {"Minimum", 1}, {"Mish", 4}, {"Mod", 1},
    {"MulticlassNms", 8}, {"Multinomial", 13}, {"Multiply", 1}, {"NMSRotated", 13}, {"NV12toBGR", 8}, {"NV12toRGB", 8}, {"Negative", 1},
    {"NonMaxSuppression", 1}, {"NonZero", 3}, {"NormalizeL2", 1}, {"NotEqual", 1}, {"OneHot", 1}, {"PRelu", 1}, {"PSROIPooling", 1},
    {"Pad", 1}, {"Parameter", 1}, {"Power", 1}, {"PriorBox", 1}, {"PriorBoxClustered", 1}, {"Proposal", 1}, {"RDFT", 9}, {"RGBtoNV12", 17},
    {"RNNCell", 1}, {"RNNSequence", 5}, {"ROIAlign", 3}, {"ROIAlignRotated", 15}, {"ROIPooling", 2}, {"RandomUniform", 8}, {"Range", 1},
    {"ReadValue", 3}, {"ReduceL1", 4}, {"ReduceL2", 4}, {"ReduceLogicalAnd", 1}, {"ReduceLogicalOr", 1}, {"ReduceMax", 1},
    {"ReduceMean", 1}, {"ReduceMin", 1}, {"ReduceProd", 1}, {"ReduceSum", 1}, {"RegionYolo", 1}, {"Relu", 1}, {"ReorgYolo", 2},
    {"Reshape", 1}, {"Result", 1}, {"Reverse", 1, 3}, {"ReverseSequence", 1}, {"Roll", 7}, {"Round", 5}, {"STFT", 15},
    {"ScaledDotProductAttention", 13}, {"ScatterElementsUpdate", 3}, {"ScatterNDUpdate", 4}, {"ScatterUpdate", 3}, {"SearchSorted", 15},
    {"SegmentMax", 16}, {"Select", 1}, {"Selu", 1}, {"ShapeOf", 1}, {"ShuffleChannels", 1}, {"Sigmoid", 1}, {"Sign", 1}, {"Sin", 1},
    {"Sinh", 1}, {"Slice", 8}, {"SliceScatter", 15}, {"SoftPlus", 4}, {"SoftSign", 9}, {"Softmax", 1}, {"SpaceToBatch", 2},
    {"SpaceToDepth", 1}, {"SparseFillEmptyRows", 16}, {"Split", 1}, {"Sqrt", 1}, {"SquaredDifference", 1}, {"Squeeze", 1},
    {"StridedSlice", 1}, {"StringTensorPack", 15}, {"StringTensorUnpack", 15}, {"Subtract", 1}, {"Swish", 4}, {"Tan", 1}, {"Tanh", 1},
    {"TensorIterator", 1}, {"Tile", 1}, {"TopK", 1}, {"Transpose", 1}, {"Unique", 10}, {"Unsqueeze", 1}, {"VariadicSplit", 1},
    {"Xor", 1, 3},
  };
  return table;
}

const KnownType* known_type(std::string_view type) {
  for (const auto& known : known_types())
    if (equals_ignoring_case(known.type, type)) return &known;
  return nullptr;
}

}  // namespace ovir
