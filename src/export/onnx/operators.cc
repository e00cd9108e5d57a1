#include "export/onnx/operators.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "export/onnx/ops/writers.h"

namespace attune::onnx_export {
namespace {

// The types that ONNX allows for its operators.
constexpr unsigned kF32 = TypeBit(DType::kF32);
constexpr unsigned kFloats = kF32 | TypeBit(DType::kF64) | TypeBit(DType::kF16) | TypeBit(DType::kBF16);
constexpr unsigned kBytes = TypeBit(DType::kI8) | TypeBit(DType::kU8);
constexpr unsigned kWideSigned = TypeBit(DType::kI32) | TypeBit(DType::kI64);
constexpr unsigned kWideUnsigned = TypeBit(DType::kU32) | TypeBit(DType::kU64);
constexpr unsigned kSigned = TypeBit(DType::kI8) | TypeBit(DType::kI16) | kWideSigned;
constexpr unsigned kUnsigned = TypeBit(DType::kU8) | TypeBit(DType::kU16) | kWideUnsigned;
constexpr unsigned kBool = TypeBit(DType::kBool);
constexpr unsigned kIntegers = kSigned | kUnsigned;
constexpr unsigned kNumbers = kFloats | kIntegers;
constexpr unsigned kWide = kFloats | kWideSigned | kWideUnsigned;
constexpr unsigned kAll = kNumbers | kBool;
// For operators that no later opset has revised: none of them takes bf16.
constexpr unsigned kOld = kAll & ~TypeBit(DType::kBF16);
constexpr unsigned kQuantizable = kFloats & ~TypeBit(DType::kF64);
constexpr unsigned kQuantized = kBytes | TypeBit(DType::kI16) | TypeBit(DType::kU16) | TypeBit(DType::kI32);

constexpr std::string_view kWindow = "strides pads dilations group";

// An operator that is not here is not written.
constexpr OperatorRow kRows[] = {
    {Op::kConstant, "constants are initializers", kAll, nullptr},
    {Op::kIdentity, "Identity", kAll, WriteSame},

    {Op::kNeg, "Neg", kFloats | kSigned, WriteSame},
    {Op::kAbs, "Abs", kNumbers, WriteSame},
    {Op::kSign, "Sign", kNumbers, WriteSame},
    {Op::kFloor, "Floor", kFloats, WriteSame},
    {Op::kCeil, "Ceil", kFloats, WriteSame},
    {Op::kRound, "Round", kFloats, WriteSame},
    {Op::kSqrt, "Sqrt", kFloats, WriteSame},
    {Op::kExp, "Exp", kFloats, WriteSame},
    {Op::kLog, "Log", kFloats, WriteSame},
    {Op::kSin, "Sin", kFloats, WriteSame},
    {Op::kCos, "Cos", kFloats, WriteSame},
    {Op::kTan, "Tan", kFloats, WriteSame},
    {Op::kAsin, "Asin", kFloats, WriteSame},
    {Op::kAcos, "Acos", kFloats, WriteSame},
    {Op::kAtan, "Atan", kFloats, WriteSame},
    {Op::kSinh, "Sinh", kFloats, WriteSame},
    {Op::kCosh, "Cosh", kFloats, WriteSame},
    {Op::kTanh, "Tanh", kFloats, WriteSame},
    {Op::kAsinh, "Asinh", kFloats, WriteSame},
    {Op::kAcosh, "Acosh", kFloats, WriteSame},
    {Op::kAtanh, "Atanh", kFloats, WriteSame},
    {Op::kErf, "Erf", kNumbers, WriteSame},
    {Op::kSigmoid, "Sigmoid", kFloats, WriteSame},
    {Op::kRelu, "Relu", kFloats | kSigned, WriteSame},
    {Op::kLeakyRelu, "LeakyRelu", kFloats, WriteSame, "alpha"},
    {Op::kElu, "Elu", kFloats, WriteSame, "alpha"},
    {Op::kSoftplus, "Softplus", kFloats, WriteSame},
    {Op::kGelu, "Gelu", kFloats, WriteSame, "approximate", 20},
    {Op::kSilu, "Sigmoid", kFloats, WriteSilu},
    {Op::kHardSigmoid, "HardSigmoid", kFloats, WriteSame, "alpha beta"},
    {Op::kHardSwish, "HardSwish", kFloats, WriteSame},
    {Op::kClip, "Clip", kNumbers, WriteClip},
    {Op::kNot, "Not", kBool | kIntegers, WriteLogical},
    {Op::kIsNan, "IsNaN", kFloats, WriteSame},
    {Op::kIsInf, "IsInf", kFloats, WriteSame, "positive:detect_positive negative:detect_negative", 20},
    {Op::kCast, "Cast", kAll, WriteSame, "to"},

    {Op::kAdd, "Add", kNumbers, WriteSame},
    {Op::kSub, "Sub", kNumbers, WriteSame},
    {Op::kMul, "Mul", kNumbers, WriteSame},
    {Op::kDiv, "Div", kNumbers, WriteSame},
    {Op::kMod, "Mod", kNumbers, WriteMod},
    {Op::kPow, "Pow", kFloats | kWideSigned, WriteSame},
    {Op::kMin, "Min", kNumbers, WriteSame},
    {Op::kMax, "Max", kNumbers, WriteSame},
    {Op::kAnd, "And", kBool | kIntegers, WriteLogical},
    {Op::kOr, "Or", kBool | kIntegers, WriteLogical},
    {Op::kXor, "Xor", kBool | kIntegers, WriteLogical},
    {Op::kShiftLeft, "BitShift", kUnsigned, WriteShift},
    {Op::kShiftRight, "BitShift", kUnsigned, WriteShift},
    {Op::kMulHigh, "it is a step of rounding in fixed point, after passes", kAll, nullptr},
    {Op::kEqual, "Equal", kAll, WriteSame},
    {Op::kLess, "Less", kNumbers, WriteSame},
    {Op::kLessEqual, "LessOrEqual", kNumbers, WriteSame},
    {Op::kGreater, "Greater", kNumbers, WriteSame},
    {Op::kGreaterEqual, "GreaterOrEqual", kNumbers, WriteSame},
    {Op::kWhere, "Where", kAll, WriteSame, "", kLeastOpset, 1},

    {Op::kReshape, "Reshape", kAll, WriteReshape},
    {Op::kTranspose, "Transpose", kAll, WriteSame, "perm"},
    {Op::kBroadcast, "Expand", kAll, WriteBroadcast},
    {Op::kSlice, "Slice", kAll, WriteSlice},
    {Op::kConcat, "Concat", kAll, WriteSame, "axis"},
    {Op::kPad, "Pad", kAll, WritePad},
    {Op::kLayoutTransform, "it is about memory, which a model file does not describe", kAll, nullptr},
    {Op::kDepthToSpace, "DepthToSpace", kAll, WriteSame, "block:blocksize mode"},
    {Op::kSpaceToDepth, "SpaceToDepth", kAll, WriteSame, "block:blocksize"},
    {Op::kReverseSequence, "ReverseSequence", kOld, WriteReverseSequence, "batch_axis time_axis"},

    {Op::kGather, "Gather", kAll, WriteSame, "axis"},
    {Op::kGatherElements, "GatherElements", kAll, WriteSame, "axis"},
    {Op::kGatherNd, "GatherND", kAll, WriteWithLongIndices, "batch_dims"},
    {Op::kScatterElements, "ScatterElements", kAll, WriteSame, "axis reduction"},
    {Op::kScatterNd, "ScatterND", kAll, WriteWithLongIndices, "reduction"},
    // Runtimes of ONNX check indices themselves.
    {Op::kCheckIndex, "Identity", kWideSigned, WriteSame},

    {Op::kReduceSum, "ReduceSum", kWide, WriteReduce, "keepdims"},
    {Op::kReduceMean, "ReduceMean", kWide, WriteReduce, "keepdims"},
    {Op::kReduceProd, "ReduceProd", kWide, WriteReduce, "keepdims"},
    {Op::kReduceMax, "ReduceMax", kWide | kBytes | kBool, WriteReduce, "keepdims"},
    {Op::kReduceMin, "ReduceMin", kWide | kBytes | kBool, WriteReduce, "keepdims"},
    {Op::kArgMax, "ArgMax", kNumbers, WriteSame, "axis keepdims select_last:select_last_index"},
    {Op::kArgMin, "ArgMin", kNumbers, WriteSame, "axis keepdims select_last:select_last_index"},
    {Op::kCumSum, "CumSum", kWide, WriteScan, "exclusive reverse"},
    {Op::kCumProd, "CumProd", kWide, WriteScan, "exclusive reverse", 26},
    {Op::kTopK, "TopK", kNumbers, WriteTopK, "axis largest sorted"},

    {Op::kConv, "Conv", kFloats, WriteSame, kWindow},
    {Op::kConvTranspose, "ConvTranspose", kFloats, WriteSame, "strides pads dilations group output_padding"},
    {Op::kMatMul, "MatMul", kWide, WriteMatMul},
    {Op::kConvInteger, "ConvInteger", kBytes, WriteSame, kWindow},
    {Op::kMatMulInteger, "MatMulInteger", kBytes, WriteMatMul},
    {Op::kAttention, "MatMul", kFloats, WriteAttention},
    {Op::kDeformConv, "DeformConv", kFloats, WriteDeformConv, "strides pads dilations group offset_group",
     19},

    {Op::kQuantize, "QuantizeLinear", kQuantizable, WriteQuantize},
    {Op::kDequantize, "DequantizeLinear", kQuantized, WriteDequantize},
    {Op::kRequantize, "QuantizeLinear", TypeBit(DType::kI32), WriteRequantize},

    {Op::kMaxPool, "MaxPool", kFloats | kBytes, WriteSame,
     "kernel:kernel_shape strides pads dilations ceil_mode"},
    {Op::kAvgPool, "AveragePool", kFloats, WriteSame,
     "kernel:kernel_shape strides pads dilations ceil_mode count_include_pad", 19},
    {Op::kLrn, "LRN", kFloats, WriteSame, "size alpha beta bias"},
    {Op::kCol2Im, "Col2Im", kAll, WriteCol2Im, "strides pads dilations"},

    {Op::kBatchNorm, "BatchNormalization", kFloats, WriteSame, "epsilon"},
    {Op::kLayerNorm, "LayerNormalization", kFloats, WriteLayerNorm, "axis epsilon"},
    {Op::kRmsNorm, "ReduceMean", kFloats, WriteRmsNorm},
    {Op::kGroupNorm, "GroupNormalization", kFloats, WriteGroupNorm, "groups:num_groups epsilon"},
    {Op::kSoftmax, "Softmax", kFloats, WriteSame, "axis"},
    {Op::kLogSoftmax, "LogSoftmax", kFloats, WriteSame, "axis"},

    {Op::kResize, "Resize", kAll, WriteResize,
     "mode coordinate_mode:coordinate_transformation_mode nearest_mode cubic_coeff:cubic_coeff_a "
     "exclude_outside antialias extrapolation_value"},
    {Op::kGridSample, "GridSample", kAll, WriteSame, "mode padding_mode align_corners", 20},
    {Op::kRoiAlign, "RoiAlign", kFloats, WriteRoiAlign,
     "mode coordinate_mode:coordinate_transformation_mode height:output_height width:output_width "
     "sampling_ratio spatial_scale"},

    {Op::kNonZero, "NonZero", kAll, WriteSame},
    {Op::kNonMaxSuppression, "NonMaxSuppression", kF32, WriteNonMaxSuppression, "center_point_box"},
    {Op::kCompress, "Compress", kOld, WriteSame, "axis"},
    {Op::kUnique, "Unique", kOld, WriteSame, "sorted"},

    {Op::kDet, "Det", kFloats, WriteSame},

    {Op::kIf, "If", kBool, WriteIf},
    {Op::kLoop, "Loop", kAll, WriteLoop},
    {Op::kFused, "a region", kAll, WriteFused},
};

}  // namespace

const OperatorRow& FindRow(Op op) {
  static constexpr OperatorRow kNoRow = {{}, "ONNX has no such operator", kAll, nullptr};
  const auto* const row = std::ranges::find(kRows, op, &OperatorRow::op);
  return row == std::end(kRows) ? kNoRow : *row;
}

Attributes HandedOn(const NodeContext& context, const OperatorRow& row) {
  Attributes result;
  for (absl::string_view pair : absl::StrSplit(row.attributes, ' ', absl::SkipEmpty())) {
    const std::vector<std::string> names = absl::StrSplit(pair, ':');
    for (const auto& [name, value] : context.attrs()) {
      if (name == names.front()) result.Set(names.back(), value);
    }
  }
  return result;
}

absl::Status WriteSame(NodeContext& context, const OperatorRow& row) {
  context.Finish(row.name, context.AllIn(), HandedOn(context, row));
  return absl::OkStatus();
}

}  // namespace attune::onnx_export
