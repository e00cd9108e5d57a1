#include "import/tflite/ops.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

using Code = schema::BuiltinOperator;

constexpr std::string_view kVariables = "resource variables";
constexpr std::string_view kHashtables = "hash tables";
constexpr std::string_view kComplex = "complex numbers";
constexpr std::string_view kStrings = "strings";
constexpr std::string_view kRandom = kMakesRandomNumbers;

constexpr Numbers kReal = Numbers::kReal;
constexpr Numbers kEither = Numbers::kEither;
constexpr Numbers kStored = Numbers::kStored;

// Sorted by code. Operators that only move elements use the stored integers; operators whose definition is
// in integers are lowered from these, and all others use the numbers that the integers represent.
constexpr Row kRows[] = {
    {Code::ADD, Add},
    {Code::AVERAGE_POOL_2D, AveragePool},
    {Code::CONCATENATION, Concatenation},
    {Code::CONV_2D, Conv2d},
    {Code::DEPTHWISE_CONV_2D, DepthwiseConv2d},
    {Code::DEPTH_TO_SPACE, DepthToSpace},
    {Code::DEQUANTIZE, DequantizeTensor},
    {Code::EMBEDDING_LOOKUP, EmbeddingLookup, kEither},
    {Code::FLOOR, Unary<Op::kFloor>, kReal},
    {Code::FULLY_CONNECTED, FullyConnected},
    {Code::HASHTABLE_LOOKUP, nullptr, kStored, kHashtables},
    {Code::L2_NORMALIZATION, L2Normalization},
    {Code::L2_POOL_2D, L2Pool, kReal},
    {Code::LOCAL_RESPONSE_NORMALIZATION, LocalResponseNormalization, kReal},
    {Code::LOGISTIC, Logistic},
    {Code::LSH_PROJECTION, nullptr, kStored, kHashtables},
    {Code::LSTM, Lstm, kReal},
    {Code::MAX_POOL_2D, MaxPool},
    {Code::MUL, Mul},
    {Code::RELU, Relu},
    {Code::RELU_N1_TO_1, ReluMinus1To1},
    {Code::RELU6, Relu6},
    {Code::RESHAPE, Reshape},
    {Code::RESIZE_BILINEAR, ResizeBilinear},
    {Code::RNN, Rnn, kReal},
    {Code::SOFTMAX, Softmax},
    {Code::SPACE_TO_DEPTH, SpaceToDepth},
    {Code::SVDF, Svdf},
    {Code::TANH, Tanh},
    {Code::SKIP_GRAM, nullptr, kStored, kStrings},
    {Code::CALL, Call},
    {Code::PAD, Pad},
    {Code::UNIDIRECTIONAL_SEQUENCE_RNN, SequenceRnn, kReal},
    {Code::GATHER, Gather},
    {Code::BATCH_TO_SPACE_ND, BatchToSpace},
    {Code::SPACE_TO_BATCH_ND, SpaceToBatch},
    {Code::TRANSPOSE, Transpose},
    {Code::MEAN, Mean},
    {Code::SUB, Sub},
    {Code::DIV, Div},
    {Code::SQUEEZE, Squeeze},
    {Code::UNIDIRECTIONAL_SEQUENCE_LSTM, SequenceLstm, kReal},
    {Code::STRIDED_SLICE, StridedSlice},
    {Code::BIDIRECTIONAL_SEQUENCE_RNN, BidirectionalRnn, kReal},
    {Code::EXP, Exp},
    {Code::TOPK_V2, TopK},
    {Code::SPLIT, Split},
    {Code::LOG_SOFTMAX, LogSoftmax, kReal},
    {Code::DELEGATE, nullptr, kStored, "it belongs to another runtime"},
    {Code::BIDIRECTIONAL_SEQUENCE_LSTM, BidirectionalLstm, kReal},
    {Code::CAST, CastToType},
    {Code::PRELU, PRelu},
    {Code::MAXIMUM, Binary<Op::kMax>, kEither},
    {Code::ARG_MAX, ArgMax},
    {Code::MINIMUM, Binary<Op::kMin>, kEither},
    {Code::LESS, Less, kEither},
    {Code::NEG, Unary<Op::kNeg>, kReal},
    {Code::PADV2, Pad},
    {Code::GREATER, Greater, kEither},
    {Code::GREATER_EQUAL, GreaterEqual, kEither},
    {Code::LESS_EQUAL, LessEqual, kEither},
    {Code::SELECT, Select, kEither},
    {Code::SLICE, Slice},
    {Code::SIN, Unary<Op::kSin>, kReal},
    {Code::TRANSPOSE_CONV, TransposeConv},
    {Code::SPARSE_TO_DENSE, SparseToDense},
    {Code::TILE, Tile},
    {Code::EXPAND_DIMS, ExpandDims},
    {Code::EQUAL, Equal, kEither},
    {Code::NOT_EQUAL, NotEqual, kEither},
    {Code::LOG, Log},
    {Code::SUM, Sum},
    {Code::SQRT, Sqrt},
    {Code::RSQRT, Rsqrt},
    {Code::SHAPE, ShapeOfInput},
    {Code::POW, Binary<Op::kPow>, kReal},
    {Code::ARG_MIN, ArgMin},
    {Code::FAKE_QUANT, FakeQuant, kReal},
    {Code::REDUCE_PROD, ReduceProd, kReal},
    {Code::REDUCE_MAX, ReduceMax, kEither},
    {Code::PACK, Pack, kEither},
    {Code::LOGICAL_OR, Binary<Op::kOr>},
    {Code::ONE_HOT, OneHot},
    {Code::LOGICAL_AND, Binary<Op::kAnd>},
    {Code::LOGICAL_NOT, Unary<Op::kNot>},
    {Code::UNPACK, Unpack},
    {Code::REDUCE_MIN, ReduceMin, kEither},
    {Code::FLOOR_DIV, FloorDivide, kReal},
    {Code::REDUCE_ANY, ReduceMax},
    {Code::SQUARE, Square, kReal},
    {Code::ZEROS_LIKE, ZerosLike},
    {Code::FILL, Fill},
    {Code::FLOOR_MOD, Binary<Op::kMod>, kReal},
    {Code::RANGE, Range},
    {Code::RESIZE_NEAREST_NEIGHBOR, ResizeNearest},
    {Code::LEAKY_RELU, LeakyRelu},
    {Code::SQUARED_DIFFERENCE, SquaredDifference},
    {Code::MIRROR_PAD, MirrorPad},
    {Code::ABS, Abs},
    {Code::SPLIT_V, SplitV},
    {Code::UNIQUE, Unique},
    {Code::CEIL, Unary<Op::kCeil>, kReal},
    {Code::REVERSE_V2, Reverse},
    {Code::ADD_N, AddN, kReal},
    {Code::GATHER_ND, GatherNd},
    {Code::COS, Unary<Op::kCos>, kReal},
    {Code::WHERE, WhereTrue},
    {Code::RANK, RankOfInput},
    {Code::ELU, Elu},
    {Code::REVERSE_SEQUENCE, ReverseSequence},
    {Code::MATRIX_DIAG, MatrixDiag},
    {Code::QUANTIZE, QuantizeTensor},
    {Code::MATRIX_SET_DIAG, MatrixSetDiag},
    {Code::ROUND, Unary<Op::kRound>, kReal},
    {Code::HARD_SWISH, HardSwish},
    {Code::IF, If},
    {Code::WHILE, While},
    {Code::NON_MAX_SUPPRESSION_V4, NonMaxSuppressionV4},
    {Code::NON_MAX_SUPPRESSION_V5, NonMaxSuppressionV5},
    {Code::SCATTER_ND, ScatterNd},
    {Code::SELECT_V2, SelectV2, kEither},
    {Code::DENSIFY, Identity},
    {Code::SEGMENT_SUM, SegmentSum},
    {Code::BATCH_MATMUL, BatchMatMul},
    {Code::CUMSUM, CumSum, kReal},
    {Code::CALL_ONCE, nullptr, kStored, kVariables},
    {Code::BROADCAST_TO, BroadcastTo},
    {Code::RFFT2D, nullptr, kStored, kComplex},
    {Code::CONV_3D, Conv3d},
    {Code::IMAG, nullptr, kStored, kComplex},
    {Code::REAL, nullptr, kStored, kComplex},
    {Code::COMPLEX_ABS, nullptr, kStored, kComplex},
    {Code::HASHTABLE, nullptr, kStored, kHashtables},
    {Code::HASHTABLE_FIND, nullptr, kStored, kHashtables},
    {Code::HASHTABLE_IMPORT, nullptr, kStored, kHashtables},
    {Code::HASHTABLE_SIZE, nullptr, kStored, kHashtables},
    {Code::REDUCE_ALL, ReduceMin},
    {Code::CONV_3D_TRANSPOSE, Conv3dTranspose},
    {Code::VAR_HANDLE, nullptr, kStored, kVariables},
    {Code::READ_VARIABLE, nullptr, kStored, kVariables},
    {Code::ASSIGN_VARIABLE, nullptr, kStored, kVariables},
    {Code::BROADCAST_ARGS, BroadcastArgs},
    {Code::RANDOM_STANDARD_NORMAL, nullptr, kStored, kRandom},
    {Code::RANDOM_UNIFORM, nullptr, kStored, kRandom},
    {Code::MULTINOMIAL, nullptr, kStored, kRandom},
    {Code::GELU, Gelu},
    {Code::DYNAMIC_UPDATE_SLICE, DynamicUpdateSlice},
    {Code::RELU_0_TO_1, Relu0To1},
    {Code::UNSORTED_SEGMENT_PROD, UnsortedSegmentProd},
    {Code::UNSORTED_SEGMENT_MAX, UnsortedSegmentMax},
    {Code::UNSORTED_SEGMENT_SUM, UnsortedSegmentSum},
    {Code::ATAN2, Atan2},
    {Code::UNSORTED_SEGMENT_MIN, UnsortedSegmentMin},
    {Code::SIGN, Unary<Op::kSign>},
    {Code::BITWISE_XOR, Binary<Op::kXor>},
    {Code::RIGHT_SHIFT, RightShift},
    {Code::STABLEHLO_COMPOSITE, Composite},
    {Code::CUSTOM, DetectionPostProcess, kReal, "", "TFLite_Detection_PostProcess"},
    {Code::CUSTOM, TransposeConvBias, kStored, "", "Convolution2DTransposeBias"},
};

constexpr bool InOrder() {
  for (size_t i = 1; i < std::size(kRows) && kRows[i].code != Code::CUSTOM; ++i) {
    if (kRows[i - 1].code >= kRows[i].code) return false;
  }
  return true;
}
static_assert(InOrder(), "rows are by code, custom operators last");

}  // namespace

const Row* FindRow(schema::BuiltinOperator code, std::string_view name) {
  if (code == Code::CUSTOM) {
    const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                   [&](const Row& r) { return r.code == Code::CUSTOM && r.custom == name; });
    return row != std::end(kRows) ? row : nullptr;
  }
  const auto* end = std::find_if(std::begin(kRows), std::end(kRows),
                                 [](const Row& row) { return row.code == Code::CUSTOM; });
  const auto* row =
      std::lower_bound(std::begin(kRows), end, code,
                       [](const Row& r, schema::BuiltinOperator wanted) { return r.code < wanted; });
  return row != end && row->code == code ? row : nullptr;
}

std::vector<ListedOperator> ListOperators() {
  std::vector<ListedOperator> listed;
  for (const Code code : schema::EnumValuesBuiltinOperator()) {
    if (code == Code::CUSTOM || code == Code::PLACEHOLDER_FOR_GREATER_OP_CODES) continue;
    const Row* row = FindRow(code, "");
    const std::string_view refused = row == nullptr          ? "it is not implemented"
                                     : row->lower == nullptr ? row->refused
                                                             : "";
    listed.push_back({.name = schema::EnumNameBuiltinOperator(code), .refused = std::string(refused)});
  }
  for (const Row& row : kRows) {
    if (row.code == Code::CUSTOM) listed.push_back({.name = std::string(row.custom)});
  }
  return listed;
}

}  // namespace attune::tflite
