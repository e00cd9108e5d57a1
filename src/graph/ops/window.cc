// Operators on windows over [N,C,D1…].
#include <algorithm>

#include "base/checked.h"
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"
#include "graph/ops/spatial.h"

namespace attune::infer {
namespace {

// The output of a pool over `x`, as x's dtype.
absl::StatusOr<TensorType> Pool(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckMinRank(x, "the input", 3));
  RETURN_IF_ERROR(CheckConstantFrom(x, 2, "pool over"));
  const size_t rank = x.dims.size() - 2;
  ASSIGN_OR_RETURN(Ints kernel, RequiredInts(node, "kernel", rank, 1));
  ASSIGN_OR_RETURN(const Window window, ReadWindow(node, std::move(kernel)));
  ASSIGN_OR_RETURN(const bool ceil_mode, BoolAttribute(node, "ceil_mode", false));
  TensorType result(x.dtype, {x.dims[0], x.dims[1]});
  for (size_t i = 0; i < rank; ++i) {
    if (const int64_t pad = std::max(window.begin(i), window.end(i)); pad >= window.extent(i)) {
      return InvalidInput("a pad of ", pad, " holds the whole window of ", window.extent(i), " elements");
    }
    ASSIGN_OR_RETURN(const int64_t count, NumWindows(window, i, x.dims[i + 2].size, ceil_mode));
    result.dims.emplace_back(count);
  }
  return result;
}

}  // namespace

TypesOr MaxPool(const Node& node) {
  RETURN_IF_ERROR(CheckNumber(InputType(node), "the input"));
  ASSIGN_OR_RETURN(const TensorType maxima, Pool(node));
  if (node.num_outputs() < 2) return Types{maxima};
  RETURN_IF_ERROR(CheckConstantFrom(InputType(node), 0, "count positions in"));
  return Types{maxima, TensorType(DType::kI64, maxima.dims)};
}

TypesOr AvgPool(const Node& node) {
  RETURN_IF_ERROR(CheckFloat(InputType(node), "the input"));
  RETURN_IF_ERROR(BoolAttribute(node, "count_include_pad", false).status());
  ASSIGN_OR_RETURN(const TensorType means, Pool(node));
  return Types{means};
}

TypesOr Lrn(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckMinRank(x, "the input", 2));
  RETURN_IF_ERROR(ConstantDim(x, 1, "normalize over").status());
  RETURN_IF_ERROR(IntAttribute(node, "size", 0, 1).status());
  return Types{TensorType(x.dtype, x.dims)};
}

TypesOr Col2Im(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckNumber(x, "the input"));
  RETURN_IF_ERROR(CheckRank(x, "the input", 3));
  RETURN_IF_ERROR(CheckConstantFrom(x, 1, "place windows of"));
  const size_t rank = node.attrs().IntList("image").size();
  if (rank == 0) return InvalidInput("the image has no dimension");
  ASSIGN_OR_RETURN(const Ints image, RequiredInts(node, "image", rank, 0));
  ASSIGN_OR_RETURN(const Ints block, RequiredInts(node, "block", rank, 1));
  ASSIGN_OR_RETURN(const Window window, ReadWindow(node, block));
  int64_t windows = 1;
  for (size_t i = 0; i < rank; ++i) {
    ASSIGN_OR_RETURN(const int64_t count, NumWindows(window, i, image[i]));
    ASSIGN_OR_RETURN(windows, Product({windows, count}, "the number of windows"));
  }
  const auto area = CheckedProduct(block);
  if (!area || x.dims[1].size % *area != 0) {
    return InvalidInput("dimension 1 of ", ToString(x),
                        " is not a multiple of the block's number of elements");
  }
  if (x.dims[2].size != windows) {
    return InvalidInput("the input ", ToString(x), " has ", x.dims[2].size, " windows, the image ",
                        ToString(Dims(image.begin(), image.end())), " has ", windows);
  }
  TensorType result(x.dtype, {x.dims[0], x.dims[1].size / *area});
  result.dims.insert(result.dims.end(), image.begin(), image.end());
  return Types{result};
}

}  // namespace attune::infer
