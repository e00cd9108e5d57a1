// Convolutions: (x [N,C,D1…], w [M,C/group,K1…]) and their relatives.
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"
#include "graph/ops/spatial.h"

namespace attune::infer {
namespace {

// Checks that x and w have the same rank, of at least one spatial dimension; only the batch may be dynamic.
absl::Status CheckOperands(const TensorType& x, const TensorType& w) {
  RETURN_IF_ERROR(CheckMinRank(x, "the input", 3));
  if (x.rank() != w.rank()) {
    return InvalidInput("the input ", ToString(x), " and the weight ", ToString(w), " differ in rank");
  }
  RETURN_IF_ERROR(CheckConstantFrom(x, 1, "convolve over"));
  return CheckConstantFrom(w, 0, "convolve with");
}

absl::Status CheckBias(const Node& node, int i, int64_t channels) {
  if (node.input(i) == nullptr) return absl::OkStatus();
  const TensorType& bias = InputType(node, i);
  if (node.attrs().Has("to")) {
    RETURN_IF_ERROR(CheckDType(bias, "the bias", {node.attrs().Type("to")}));
  } else {
    RETURN_IF_ERROR(CheckSameDType(bias, "the bias", InputType(node), "the input"));
  }
  return CheckDims(bias, "the bias", {channels});
}

Ints SpatialDims(const TensorType& type) {
  const Shape shape = type.shape();
  return Ints(shape.begin() + 2, shape.end());
}

// Checks that the input's channels are `group` times the weight's, and that the groups divide the output's.
absl::Status CheckGroups(const TensorType& x, const TensorType& w, int64_t group) {
  if (x.dims[1].size % group != 0 || x.dims[1].size / group != w.dims[1].size) {
    return InvalidInput("input ", ToString(x), " has ", x.dims[1].size, " channels, the weight ", ToString(w),
                        " expects ", w.dims[1].size, " x group ", group);
  }
  if (w.dims[0].size % group != 0) {
    return InvalidInput("the ", w.dims[0].size, " output channels of the weight ", ToString(w),
                        " do not divide into ", group, " groups");
  }
  return absl::OkStatus();
}

// The output of a convolution of `x` with `w`, as `dtype`.
absl::StatusOr<TensorType> ConvolutionType(const Node& node, const TensorType& x, const TensorType& w,
                                           DType dtype) {
  RETURN_IF_ERROR(CheckOperands(x, w));
  ASSIGN_OR_RETURN(const int64_t group, IntAttribute(node, "group", 1, 1));
  RETURN_IF_ERROR(CheckGroups(x, w, group));
  ASSIGN_OR_RETURN(const Window window, ReadWindow(node, SpatialDims(w)));
  TensorType result(dtype, {x.dims[0], w.dims[0]});
  for (size_t i = 0; i < window.rank(); ++i) {
    ASSIGN_OR_RETURN(const int64_t count, NumWindows(window, i, x.dims[i + 2].size));
    result.dims.emplace_back(count);
  }
  return result;
}

}  // namespace

TypesOr Conv(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& w = InputType(node, 1);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckSameDType(w, "the weight", x, "the input"));
  ASSIGN_OR_RETURN(const DType dtype, SumType(node, x.dtype));
  ASSIGN_OR_RETURN(const TensorType result, ConvolutionType(node, x, w, dtype));
  RETURN_IF_ERROR(CheckBias(node, 2, w.dims[0].size));
  return Types{result};
}

TypesOr ConvTranspose(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& w = InputType(node, 1);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckSameDType(w, "the weight", x, "the input"));
  RETURN_IF_ERROR(CheckOperands(x, w));
  ASSIGN_OR_RETURN(const int64_t group, IntAttribute(node, "group", 1, 1));
  if (x.dims[1] != w.dims[0] || x.dims[1].size % group != 0) {
    return InvalidInput("input ", ToString(x), " has ", x.dims[1].size, " channels, the weight ", ToString(w),
                        " expects ", w.dims[0].size, " in ", group, " groups");
  }
  ASSIGN_OR_RETURN(const Window window, ReadWindow(node, SpatialDims(w)));
  ASSIGN_OR_RETURN(const Ints extra, IntsAttribute(node, "output_padding", window.rank(), 0, 0));
  ASSIGN_OR_RETURN(const int64_t channels, Product({w.dims[1].size, group}, "the number of output channels"));
  RETURN_IF_ERROR(CheckBias(node, 2, channels));
  TensorType result(x.dtype, {x.dims[0], channels});
  for (size_t i = 0; i < window.rank(); ++i) {
    ASSIGN_OR_RETURN(const int64_t scaled, Product({x.dims[i + 2].size, window.strides[i]}, "a dimension"));
    const int64_t size =
        scaled - window.strides[i] + window.extent(i) - window.begin(i) - window.end(i) + extra[i];
    if (size < 0) {
      return InvalidInput("spatial dimension ", i, " of the output would have ", size, " elements: input ",
                          ToString(x), ", weight ", ToString(w));
    }
    result.dims.emplace_back(size);
  }
  return Types{result};
}

TypesOr ConvInteger(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& w = InputType(node, 1);
  RETURN_IF_ERROR(CheckDType(x, "the input", {DType::kU8, DType::kI8, DType::kI16}));
  RETURN_IF_ERROR(CheckDType(w, "the weight", {DType::kU8, DType::kI8, DType::kI16}));
  ASSIGN_OR_RETURN(const TensorType result, ConvolutionType(node, x, w, DType::kI32));
  if (node.input(2) != nullptr) {
    RETURN_IF_ERROR(CheckSameDType(InputType(node, 2), "the input's zero point", x, "the input"));
    RETURN_IF_ERROR(CheckDims(InputType(node, 2), "the input's zero point", {}));
  }
  if (node.input(3) != nullptr) {
    const TensorType& zero = InputType(node, 3);
    RETURN_IF_ERROR(CheckSameDType(zero, "the weight's zero point", w, "the weight"));
    if (zero.rank() != 0) RETURN_IF_ERROR(CheckDims(zero, "the weight's zero point", {w.dims[0]}));
  }
  return Types{result};
}

TypesOr DeformConv(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& offset = InputType(node, 1);
  const TensorType& w = InputType(node, 2);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckRank(x, "the input", 4));
  RETURN_IF_ERROR(CheckSameDType(offset, "the offset", x, "the input"));
  RETURN_IF_ERROR(CheckSameDType(w, "the weight", x, "the input"));
  ASSIGN_OR_RETURN(const TensorType result, ConvolutionType(node, x, w, x.dtype));
  RETURN_IF_ERROR(CheckBias(node, 3, w.dims[0].size));
  ASSIGN_OR_RETURN(const int64_t offset_group, IntAttribute(node, "offset_group", 1, 1));
  if (x.dims[1].size % offset_group != 0) {
    return InvalidInput("the ", x.dims[1].size, " channels of ", ToString(x), " do not divide into ",
                        offset_group, " offset groups");
  }
  ASSIGN_OR_RETURN(const int64_t taps,
                   Product({offset_group, w.dims[2].size, w.dims[3].size}, "the number of samples"));
  ASSIGN_OR_RETURN(const int64_t coordinates, Product({2, taps}, "the number of offsets"));
  RETURN_IF_ERROR(CheckDims(offset, "the offset", {x.dims[0], coordinates, result.dims[2], result.dims[3]}));
  if (node.input(4) != nullptr) {
    RETURN_IF_ERROR(CheckSameDType(InputType(node, 4), "the mask", x, "the input"));
    RETURN_IF_ERROR(
        CheckDims(InputType(node, 4), "the mask", {x.dims[0], taps, result.dims[2], result.dims[3]}));
  }
  return Types{result};
}

}  // namespace attune::infer
