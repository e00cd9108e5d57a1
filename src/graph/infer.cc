#include "graph/infer.h"

#include <algorithm>
#include <iterator>

#include "base/checked.h"
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 40;
constexpr int kMaxRank = 64;

struct Rule {
  Op op;
  infer::InferenceRule* infer;
};

// In the order of op_table.inc.
constexpr Rule kRules[] = {
    {Op::kConstant, infer::Constant},
    {Op::kIdentity, infer::Identity},
    {Op::kNeg, infer::UnaryNumber},
    {Op::kAbs, infer::UnaryNumber},
    {Op::kSign, infer::UnaryNumber},
    {Op::kFloor, infer::UnaryFloat},
    {Op::kCeil, infer::UnaryFloat},
    {Op::kRound, infer::UnaryFloat},
    {Op::kSqrt, infer::UnaryFloat},
    {Op::kExp, infer::UnaryFloat},
    {Op::kLog, infer::UnaryFloat},
    {Op::kSin, infer::UnaryFloat},
    {Op::kCos, infer::UnaryFloat},
    {Op::kTan, infer::UnaryFloat},
    {Op::kAsin, infer::UnaryFloat},
    {Op::kAcos, infer::UnaryFloat},
    {Op::kAtan, infer::UnaryFloat},
    {Op::kSinh, infer::UnaryFloat},
    {Op::kCosh, infer::UnaryFloat},
    {Op::kTanh, infer::UnaryFloat},
    {Op::kAsinh, infer::UnaryFloat},
    {Op::kAcosh, infer::UnaryFloat},
    {Op::kAtanh, infer::UnaryFloat},
    {Op::kErf, infer::UnaryFloat},
    {Op::kSigmoid, infer::UnaryFloat},
    {Op::kRelu, infer::UnarySigned},
    {Op::kLeakyRelu, infer::UnaryFloat},
    {Op::kElu, infer::UnaryFloat},
    {Op::kSoftplus, infer::UnaryFloat},
    {Op::kGelu, infer::Gelu},
    {Op::kSilu, infer::UnaryFloat},
    {Op::kHardSigmoid, infer::UnaryFloat},
    {Op::kHardSwish, infer::UnaryFloat},
    {Op::kClip, infer::UnaryNumber},
    {Op::kNot, infer::Not},
    {Op::kIsNan, infer::UnaryTest},
    {Op::kIsInf, infer::UnaryTest},
    {Op::kCast, infer::Cast},
    {Op::kAdd, infer::BinaryNumber},
    {Op::kSub, infer::BinaryNumber},
    {Op::kMul, infer::BinaryNumber},
    {Op::kDiv, infer::BinaryNumber},
    {Op::kMod, infer::BinaryNumber},
    {Op::kPow, infer::Pow},
    {Op::kMin, infer::BinaryNumber},
    {Op::kMax, infer::BinaryNumber},
    {Op::kAnd, infer::BinaryLogical},
    {Op::kOr, infer::BinaryLogical},
    {Op::kXor, infer::BinaryLogical},
    {Op::kShiftLeft, infer::Shift},
    {Op::kShiftRight, infer::Shift},
    {Op::kMulHigh, infer::MulHigh},
    {Op::kEqual, infer::Equal},
    {Op::kLess, infer::Compare},
    {Op::kLessEqual, infer::Compare},
    {Op::kGreater, infer::Compare},
    {Op::kGreaterEqual, infer::Compare},
    {Op::kWhere, infer::Where},
    {Op::kReshape, infer::Reshape},
    {Op::kTranspose, infer::Transpose},
    {Op::kBroadcast, infer::Broadcast},
    {Op::kSlice, infer::Slice},
    {Op::kConcat, infer::Concat},
    {Op::kPad, infer::Pad},
    {Op::kLayoutTransform, infer::LayoutTransform},
    {Op::kDepthToSpace, infer::DepthToSpace},
    {Op::kSpaceToDepth, infer::SpaceToDepth},
    {Op::kReverseSequence, infer::ReverseSequence},
    {Op::kGather, infer::Gather},
    {Op::kGatherElements, infer::GatherElements},
    {Op::kGatherNd, infer::GatherNd},
    {Op::kScatterElements, infer::ScatterElements},
    {Op::kScatterNd, infer::ScatterNd},
    {Op::kCheckIndex, infer::CheckIndex},
    {Op::kReduceSum, infer::ReduceNumber},
    {Op::kReduceMean, infer::ReduceNumber},
    {Op::kReduceProd, infer::ReduceNumber},
    {Op::kReduceMax, infer::ReduceExtreme},
    {Op::kReduceMin, infer::ReduceExtreme},
    {Op::kArgMax, infer::ArgExtreme},
    {Op::kArgMin, infer::ArgExtreme},
    {Op::kCumSum, infer::Scan},
    {Op::kCumProd, infer::Scan},
    {Op::kTopK, infer::TopK},
    {Op::kConv, infer::Conv},
    {Op::kConvTranspose, infer::ConvTranspose},
    {Op::kMatMul, infer::MatMul},
    {Op::kConvInteger, infer::ConvInteger},
    {Op::kMatMulInteger, infer::MatMulInteger},
    {Op::kAttention, infer::Attention},
    {Op::kDeformConv, infer::DeformConv},
    {Op::kQuantize, infer::Quantize},
    {Op::kDequantize, infer::Dequantize},
    {Op::kRequantize, infer::Requantize},
    {Op::kMaxPool, infer::MaxPool},
    {Op::kAvgPool, infer::AvgPool},
    {Op::kLrn, infer::Lrn},
    {Op::kCol2Im, infer::Col2Im},
    {Op::kBatchNorm, infer::BatchNorm},
    {Op::kLayerNorm, infer::LayerNorm},
    {Op::kRmsNorm, infer::RmsNorm},
    {Op::kGroupNorm, infer::GroupNorm},
    {Op::kSoftmax, infer::Softmax},
    {Op::kLogSoftmax, infer::Softmax},
    {Op::kResize, infer::Resize},
    {Op::kGridSample, infer::GridSample},
    {Op::kRoiAlign, infer::RoiAlign},
    {Op::kNonZero, infer::NonZero},
    {Op::kNonMaxSuppression, infer::NonMaxSuppression},
    {Op::kCompress, infer::Compress},
    {Op::kUnique, infer::Unique},
    {Op::kDet, infer::Det},
    {Op::kIf, infer::If},
    {Op::kLoop, infer::Loop},
    {Op::kFused, infer::Fused},
};

static_assert(IsInOrderOfOps(kRules), "one rule for each operator, in the table's order");

absl::StatusOr<std::vector<TensorType>> InferChecked(const Node& node) {
  for (const Value* input : node.inputs()) {
    if (input != nullptr) RETURN_IF_ERROR(CheckType(input->type()));
  }
  ASSIGN_OR_RETURN(std::vector<TensorType> types, kRules[static_cast<size_t>(node.op())].infer(node));
  for (const TensorType& type : types) RETURN_IF_ERROR(CheckType(type));
  return types;
}

}  // namespace

absl::Status CheckType(const TensorType& type) {
  if (type.rank() > kMaxRank) {
    return InvalidInput("a tensor has ", type.rank(), " dimensions, at most ", kMaxRank, " are possible");
  }
  const Layout& layout = type.layout;
  if (!layout.is_plain() && (layout.blocked_axis >= type.rank() || layout.block < 2)) {
    return InvalidInput("a tensor of ", type.rank(), " dimensions cannot be blocked by ", layout.block,
                        " along axis ", layout.blocked_axis);
  }
  int64_t bytes = DTypeSize(type.dtype);
  for (int i = 0; i < type.rank(); ++i) {
    int64_t size = type.dims[static_cast<size_t>(i)].size;
    if (size < 0) return InvalidInput("a dimension of ", ToString(type), " is negative");
    if (i == layout.blocked_axis && size <= kMaxBytes) size = RoundUp(size, layout.block);
    // A dimension of 0 empties the tensor, but does not excuse the others.
    const auto product = CheckedMul(bytes, std::max<int64_t>(size, 1));
    if (!product || *product > kMaxBytes) return InvalidInput(ToString(type), " is larger than 2^40 bytes");
    bytes = *product;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TensorType>> InferTypes(const Node& node) {
  absl::StatusOr<std::vector<TensorType>> types = InferChecked(node);
  if (!types.ok()) return Annotate(types.status(), OpName(node.op()));
  return types;
}

absl::StatusOr<std::vector<Dim>> BroadcastDims(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const std::vector<Dim>& longer = a.size() < b.size() ? b : a;
  const std::vector<Dim>& shorter = a.size() < b.size() ? a : b;
  const size_t shift = longer.size() - shorter.size();
  std::vector<Dim> result = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    const Dim& dim = longer[i + shift];
    const Dim& other = shorter[i];
    if (dim == other || other == Dim(1)) continue;
    if (dim != Dim(1)) {
      const std::string both = absl::StrCat(infer::ToString(a), " and ", infer::ToString(b));
      if (dim.is_constant() && other.is_constant()) return InvalidInput("cannot broadcast ", both);
      return NotSupported("whether ", both, " fit depends on data");
    }
    result[i + shift] = other;
  }
  return result;
}

}  // namespace attune
