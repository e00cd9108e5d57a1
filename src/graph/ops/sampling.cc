// Operators that read an image between its pixels.
#include <algorithm>
#include <cmath>

#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

absl::Status CheckResizeModes(const Node& node) {
  const TensorType& x = InputType(node);
  ASSIGN_OR_RETURN(const std::string mode, ChoiceAttribute(node, "mode", {"nearest", "linear", "cubic"}));
  if (mode != "nearest") RETURN_IF_ERROR(CheckNumber(x, "the input"));
  ASSIGN_OR_RETURN(
      const std::string coordinates,
      ChoiceAttribute(node, "coordinate_mode",
                      {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                       "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
  RETURN_IF_ERROR(
      ChoiceAttribute(node, "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
          .status());
  RETURN_IF_ERROR(BoolAttribute(node, "exclude_outside", false).status());
  RETURN_IF_ERROR(BoolAttribute(node, "antialias", false).status());
  const size_t rois = node.attrs().Has("roi") ? node.attrs().FloatList("roi").size() : 0;
  const size_t expected = coordinates == "tf_crop_and_resize" ? 2 * x.dims.size() : rois;
  if (rois != expected) return InvalidInput("roi has ", rois, " values, needs ", expected);
  return absl::OkStatus();
}

absl::Status CheckScales(const Node& node, size_t rank) {
  const Floats& scales = node.attrs().FloatList("scales");
  if (scales.size() != rank) return InvalidInput("scales has ", scales.size(), " values, needs ", rank);
  for (double scale : scales) {
    if (!(scale > 0) || !std::isfinite(scale)) return InvalidInput("cannot scale by ", scale);
  }
  return absl::OkStatus();
}

}  // namespace

TypesOr Resize(const Node& node) {
  const TensorType& x = InputType(node);
  const size_t rank = x.dims.size();
  RETURN_IF_ERROR(CheckResizeModes(node));
  RETURN_IF_ERROR(CheckScales(node, rank));
  ASSIGN_OR_RETURN(const Ints sizes, RequiredInts(node, "sizes", rank, 0));
  TensorType result(x.dtype, Dims());
  for (size_t i = 0; i < rank; ++i) {
    if (sizes[i] == x.dims[i].size && node.attrs().FloatList("scales")[i] == 1) {
      result.dims.push_back(x.dims[i]);
      continue;
    }
    ASSIGN_OR_RETURN(const int64_t size, ConstantDim(x, static_cast<int>(i), "resize"));
    if (size == 0 && sizes[i] > 0)
      return InvalidInput("nothing to sample along axis ", i, " of ", ToString(x));
    result.dims.emplace_back(sizes[i]);
  }
  return Types{result};
}

TypesOr GridSample(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& grid = InputType(node, 1);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckMinRank(x, "the input", 3));
  RETURN_IF_ERROR(CheckConstantFrom(x, 2, "sample from"));
  RETURN_IF_ERROR(ChoiceAttribute(node, "padding_mode", {"zeros", "border", "reflection"}).status());
  RETURN_IF_ERROR(BoolAttribute(node, "align_corners", false).status());
  ASSIGN_OR_RETURN(const std::string mode, ChoiceAttribute(node, "mode", {"linear", "nearest", "cubic"}));
  if (mode == "cubic") RETURN_IF_ERROR(CheckRank(x, "the input of cubic sampling", 4));
  RETURN_IF_ERROR(CheckSameDType(grid, "the grid", x, "the input"));
  RETURN_IF_ERROR(CheckRank(grid, "the grid", x.rank()));
  if (grid.dims[0] != x.dims[0] || grid.dims.back() != Dim(x.rank() - 2)) {
    return InvalidInput("the grid ", ToString(grid), " does not hold ", x.rank() - 2,
                        " coordinates a point for each batch of ", ToString(x));
  }
  TensorType result(x.dtype, {x.dims[0], x.dims[1]});
  result.dims.insert(result.dims.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  return Types{result};
}

TypesOr RoiAlign(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& rois = InputType(node, 1);
  const TensorType& batch_indices = InputType(node, 2);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckRank(x, "the input", 4));
  RETURN_IF_ERROR(CheckConstantFrom(x, 0, "align regions in"));
  RETURN_IF_ERROR(ChoiceAttribute(node, "mode", {"avg", "max"}).status());
  RETURN_IF_ERROR(ChoiceAttribute(node, "coordinate_mode", {"half_pixel", "output_half_pixel"}).status());
  RETURN_IF_ERROR(IntAttribute(node, "sampling_ratio", 0, 0).status());
  ASSIGN_OR_RETURN(const int64_t height, IntAttribute(node, "height", 0, 1));
  ASSIGN_OR_RETURN(const int64_t width, IntAttribute(node, "width", 0, 1));
  if (const double scale = node.attrs().Float("spatial_scale", 1); !(scale > 0) || !std::isfinite(scale)) {
    return InvalidInput("cannot scale by ", scale);
  }
  RETURN_IF_ERROR(CheckSameDType(rois, "the regions tensor", x, "the input"));
  RETURN_IF_ERROR(CheckRank(rois, "the regions tensor", 2));
  RETURN_IF_ERROR(CheckDims(rois, "the regions tensor", {rois.dims[0], 4}));
  RETURN_IF_ERROR(CheckDType(batch_indices, "the batch indices tensor", {DType::kI32, DType::kI64}));
  RETURN_IF_ERROR(CheckDims(batch_indices, "the batch indices tensor", {rois.dims[0]}));
  return Types{TensorType(x.dtype, Dims{rois.dims[0], x.dims[1], height, width})};
}

}  // namespace attune::infer
