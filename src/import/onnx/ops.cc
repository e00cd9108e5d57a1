#include "import/onnx/ops.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

struct Row {
  std::string_view op_type;
  Lowering* lower;
  int64_t since = 1;
  int64_t until = INT64_MAX;  // the last opset that contains it
  std::string_view domain = "";
};

constexpr std::string_view kMl = "ai.onnx.ml";
constexpr std::string_view kTraining = "ai.onnx.preview.training";

// Sorted by domain and name. A function that covers several versions of its operator checks the opset.
constexpr Row kRows[] = {
    {"Abs", Lower<Unary, Op::kAbs>},
    {"Acos", Lower<Unary, Op::kAcos>},
    {"Acosh", Lower<Unary, Op::kAcosh>},
    {"Add", Lower<Binary, Op::kAdd>},
    {"Affine", Affine, 1, 9},
    {"AffineGrid", AffineGrid},
    {"And", Lower<Binary, Op::kAnd>},
    {"ArgMax", ArgMax},
    {"ArgMin", ArgMin},
    {"Asin", Lower<Unary, Op::kAsin>},
    {"Asinh", Lower<Unary, Op::kAsinh>},
    {"Atan", Lower<Unary, Op::kAtan>},
    {"Atanh", Lower<Unary, Op::kAtanh>},
    {"Attention", Attention},
    {"AveragePool", AveragePool},
    {"BatchNormalization", BatchNormalization},
    {"Bernoulli", RandomNumbers},
    {"BitCast", BitCast},
    {"BitShift", BitShift},
    {"BitwiseAnd", Lower<Binary, Op::kAnd>},
    {"BitwiseNot", Lower<Unary, Op::kNot>},
    {"BitwiseOr", Lower<Binary, Op::kOr>},
    {"BitwiseXor", Lower<Binary, Op::kXor>},
    {"BlackmanWindow", BlackmanWindow},
    {"Cast", CastToType},
    {"CastLike", CastLike},
    {"Ceil", Lower<Unary, Op::kCeil>},
    {"Celu", Celu},
    {"CenterCropPad", CenterCropPad},
    {"Clip", Clip},
    {"Col2Im", Col2Im},
    {"Compress", Compress},
    {"Concat", Concat},
    {"ConcatFromSequence", ConcatFromSequence},
    {"Constant", Constant},
    {"ConstantOfShape", ConstantOfShape},
    {"Conv", Conv},
    {"ConvInteger", ConvInteger},
    {"ConvTranspose", ConvTranspose},
    {"Cos", Lower<Unary, Op::kCos>},
    {"Cosh", Lower<Unary, Op::kCosh>},
    {"Crop", CropImage, 1, 9},
    {"CumProd", CumProd},
    {"CumSum", CumSum},
    {"DeformConv", DeformConv},
    {"DepthToSpace", DepthToSpace},
    {"DequantizeLinear", DequantizeLinear},
    {"Det", Lower<Unary, Op::kDet>},
    {"DFT", Dft},
    {"Div", Lower<Binary, Op::kDiv>},
    {"Dropout", Dropout},
    {"DynamicQuantizeLinear", DynamicQuantizeLinear},
    {"Einsum", Einsum},
    {"Elu", Elu},
    {"Equal", Lower<Binary, Op::kEqual>},
    {"Erf", Lower<Unary, Op::kErf>},
    {"Exp", Lower<Unary, Op::kExp>},
    {"Expand", Expand},
    {"EyeLike", EyeLike},
    {"Flatten", Flatten},
    {"Floor", Lower<Unary, Op::kFloor>},
    {"Gather", Gather},
    {"GatherElements", GatherElements},
    {"GatherND", GatherNd},
    {"Gelu", Gelu},
    {"Gemm", Gemm},
    {"GlobalAveragePool", GlobalAveragePool},
    {"GlobalLpPool", GlobalLpPool},
    {"GlobalMaxPool", GlobalMaxPool},
    {"Greater", Lower<Binary, Op::kGreater>},
    {"GreaterOrEqual", Lower<Binary, Op::kGreaterEqual>},
    {"GridSample", GridSample},
    {"GroupNormalization", GroupNormalization},
    {"GRU", Gru},
    {"HammingWindow", HammingWindow},
    {"HannWindow", HannWindow},
    {"Hardmax", Hardmax},
    {"HardSigmoid", HardSigmoid},
    {"HardSwish", Lower<Unary, Op::kHardSwish>},
    {"Identity", Identity},
    {"If", If},
    {"ImageScaler", ImageScaler, 1, 9},
    {"InstanceNormalization", InstanceNormalization},
    {"IsInf", IsInf},
    {"IsNaN", Lower<Unary, Op::kIsNan>},
    {"LayerNormalization", LayerNormalization},
    {"LeakyRelu", LeakyRelu},
    {"Less", Lower<Binary, Op::kLess>},
    {"LessOrEqual", Lower<Binary, Op::kLessEqual>},
    {"Log", Lower<Unary, Op::kLog>},
    {"LogSoftmax", LogSoftmax},
    {"Loop", Loop},
    {"LpNormalization", LpNormalization},
    {"LpPool", LpPool},
    {"LRN", Lrn},
    {"LSTM", Lstm},
    {"MatMul", MatMul},
    {"MatMulInteger", MatMulInteger},
    {"Max", MaxAll},
    {"MaxPool", MaxPool},
    {"MaxUnpool", MaxUnpool},
    {"Mean", Mean},
    {"MeanVarianceNormalization", MeanVarianceNormalization},
    {"MelWeightMatrix", MelWeightMatrix},
    {"Min", MinAll},
    {"Mish", Mish},
    {"Mod", Mod},
    {"Mul", Lower<Binary, Op::kMul>},
    {"Multinomial", RandomNumbers},
    {"Neg", Lower<Unary, Op::kNeg>},
    {"NegativeLogLikelihoodLoss", NegativeLogLikelihoodLoss},
    {"NonMaxSuppression", NonMaxSuppression},
    {"NonZero", NonZero},
    {"Not", Lower<Unary, Op::kNot>},
    {"OneHot", OneHot},
    {"Optional", Optional},
    {"OptionalGetElement", OptionalGetElement},
    {"OptionalHasElement", OptionalHasElement},
    {"Or", Lower<Binary, Op::kOr>},
    {"Pad", Pad},
    {"ParametricSoftplus", ParametricSoftplus, 1, 9},
    {"Pow", Lower<Binary, Op::kPow>},
    {"PRelu", PRelu},
    {"QLinearConv", QLinearConv},
    {"QLinearMatMul", QLinearMatMul},
    {"QuantizeLinear", QuantizeLinear},
    {"RandomNormal", RandomNumbers},
    {"RandomNormalLike", RandomNumbers},
    {"RandomUniform", RandomNumbers},
    {"RandomUniformLike", RandomNumbers},
    {"Range", Range},
    {"Reciprocal", Reciprocal},
    {"ReduceL1", ReduceL1},
    {"ReduceL2", ReduceL2},
    {"ReduceLogSum", ReduceLogSum},
    {"ReduceLogSumExp", ReduceLogSumExp},
    {"ReduceMax", ReduceMax},
    {"ReduceMean", ReduceMean},
    {"ReduceMin", ReduceMin},
    {"ReduceProd", ReduceProd},
    {"ReduceSum", ReduceSum},
    {"ReduceSumSquare", ReduceSumSquare},
    {"Relu", Relu},
    {"Reshape", Reshape},
    {"Resize", Resize},
    {"ReverseSequence", ReverseSequence},
    {"RMSNormalization", RmsNormalization},
    {"RNN", Rnn},
    {"RoiAlign", RoiAlign},
    {"RotaryEmbedding", RotaryEmbedding},
    {"Round", Lower<Unary, Op::kRound>},
    {"ScaledTanh", ScaledTanh, 1, 9},
    {"Scan", ScanLoop},
    {"Scatter", ScatterElements},
    {"ScatterElements", ScatterElements},
    {"ScatterND", ScatterNd},
    {"Selu", Selu},
    {"SequenceAt", SequenceAt},
    {"SequenceConstruct", SequenceConstruct},
    {"SequenceEmpty", SequenceEmpty},
    {"SequenceErase", SequenceErase},
    {"SequenceInsert", SequenceInsert},
    {"SequenceLength", SequenceLength},
    {"SequenceMap", SequenceMap},
    {"Shape", ShapeOfInput},
    {"Shrink", Shrink},
    {"Sigmoid", Lower<Unary, Op::kSigmoid>},
    {"Sign", Lower<Unary, Op::kSign>},
    {"Sin", Lower<Unary, Op::kSin>},
    {"Sinh", Lower<Unary, Op::kSinh>},
    {"Size", SizeOfInput},
    {"Slice", Slice},
    {"Softmax", Softmax},
    {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLoss},
    {"Softplus", Lower<Unary, Op::kSoftplus>},
    {"Softsign", Softsign},
    {"SpaceToDepth", SpaceToDepth},
    {"Split", Split},
    {"SplitToSequence", SplitToSequence},
    {"Sqrt", Lower<Unary, Op::kSqrt>},
    {"Squeeze", Squeeze},
    {"STFT", Stft},
    {"Sub", Lower<Binary, Op::kSub>},
    {"Sum", Sum},
    {"Swish", Swish},
    {"Tan", Lower<Unary, Op::kTan>},
    {"Tanh", Lower<Unary, Op::kTanh>},
    {"TensorScatter", TensorScatter},
    {"ThresholdedRelu", ThresholdedRelu},
    {"Tile", Tile},
    {"TopK", TopK},
    {"Transpose", Transpose},
    {"Trilu", Trilu},
    {"Unique", Unique},
    {"Unsqueeze", Unsqueeze},
    {"Upsample", Upsample},
    {"Where", Where},
    {"Xor", Lower<Binary, Op::kXor>},
    {"ArrayFeatureExtractor", ArrayFeatureExtractor, 1, INT64_MAX, kMl},
    {"Binarizer", Binarizer, 1, INT64_MAX, kMl},
    {"Adagrad", Adagrad, 1, INT64_MAX, kTraining},
    {"Adam", Adam, 1, INT64_MAX, kTraining},
    {"Momentum", Momentum, 1, INT64_MAX, kTraining},
};

using Index = std::multimap<std::pair<std::string_view, std::string_view>, const Row*>;

const Index& RowsByName() {
  static const auto* index = [] {
    auto* rows = new Index;
    for (const Row& row : kRows) rows->emplace(std::pair(row.domain, row.op_type), &row);
    return rows;
  }();
  return *index;
}

}  // namespace

Lowering* FindLowering(std::string_view domain, std::string_view op_type, int64_t opset) {
  const auto [begin, end] = RowsByName().equal_range({domain, op_type});
  for (auto it = begin; it != end; ++it) {
    if (it->second->since <= opset && opset <= it->second->until) return it->second->lower;
  }
  return nullptr;
}

std::vector<ListedOperator> ListOperators() {
  std::vector<ListedOperator> listed;
  for (const Row& row : kRows) {
    listed.push_back({.name = std::string(row.op_type),
                      .domain = std::string(row.domain),
                      .until = row.until == INT64_MAX ? std::nullopt : std::optional(row.until),
                      .refused = std::string(row.lower == RandomNumbers ? kMakesRandomNumbers : "")});
  }
  return listed;
}

}  // namespace attune::onnx
