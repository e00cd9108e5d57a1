// Operators that move elements and compute nothing.
#include <algorithm>

#include "base/checked.h"
#include "graph/infer.h"
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

absl::StatusOr<int64_t> NumElements(const Shape& shape) {
  if (const auto product = CheckedProduct(shape)) return *product;
  return InvalidInput("the shape ", ToString(Dims(shape.begin(), shape.end())), " overflows");
}

// Puts the symbols of `from` into `to`, a shape of as many elements that has their bounds instead. A symbol
// goes to the axis that has as many elements before it, counted from the symbol before, as in `from`. False
// where there is no such axis.
bool CarrySymbols(const Dims& from, Dims& to) {
  int64_t before = 1;  // elements between the last symbol and here
  int64_t before_out = 1;
  size_t out = 0;
  for (const Dim& dim : from) {
    if (dim.is_constant()) {
      before *= dim.size;
      continue;
    }
    while (out < to.size() && !(before_out == before && to[out].size == dim.size))
      before_out *= to[out++].size;
    if (out == to.size()) return false;
    to[out++] = dim;
    before = before_out = 1;
  }
  // The sizes after the last symbol agree because the totals do, unless something else is 0.
  for (; out < to.size(); ++out) before_out *= to[out].size;
  return before == before_out;
}

}  // namespace

TypesOr Iota(const Node& node) {
  const Ints &shape = node.attrs().IntList("shape"), &steps = node.attrs().IntList("steps");
  if (steps.size() != shape.size())
    return InvalidInput("has ", steps.size(), " steps for ", shape.size(), " dimensions");
  return Types{TensorType(node.attrs().Type("to"), shape)};
}

TypesOr Reshape(const Node& node) {
  const TensorType& x = InputType(node);
  const Ints& shape = node.attrs().IntList("shape");
  const Shape from = x.shape();
  ASSIGN_OR_RETURN(const int64_t expected, NumElements(from));
  ASSIGN_OR_RETURN(const int64_t count, NumElements(shape));
  TensorType result(x.dtype, shape);
  if (count != expected) {
    return InvalidInput("cannot reshape ", ToString(x), " of ", expected, " elements to ",
                        ToString(result.dims), " of ", count);
  }
  if (!x.is_static() && !CarrySymbols(x.dims, result.dims)) {
    return NotSupported("reshaping ", ToString(x), " to ", ToString(result.dims),
                        " would mix a dynamic dimension with others");
  }
  return Types{result};
}

TypesOr Transpose(const Node& node) {
  const TensorType& x = InputType(node);
  const auto rank = static_cast<size_t>(x.rank());
  ASSIGN_OR_RETURN(const Ints perm, RequiredInts(node, "perm", rank, 0, x.rank() - 1));
  std::vector<bool> seen(rank);
  TensorType result(x.dtype, Dims());
  for (int64_t axis : perm) {
    if (seen[static_cast<size_t>(axis)]) return InvalidInput("perm names axis ", axis, " twice");
    seen[static_cast<size_t>(axis)] = true;
    result.dims.push_back(x.dims[static_cast<size_t>(axis)]);
  }
  return Types{result};
}

TypesOr Broadcast(const Node& node) {
  const TensorType& x = InputType(node);
  const Ints& shape = node.attrs().IntList("shape");
  RETURN_IF_ERROR(NumElements(shape).status());
  TensorType result(x.dtype, shape);
  if (shape.size() < x.dims.size()) {
    return InvalidInput("cannot broadcast ", ToString(x), " to ", ToString(result.dims));
  }
  const size_t shift = shape.size() - x.dims.size();
  for (size_t i = 0; i < x.dims.size(); ++i) {
    Dim& to = result.dims[i + shift];
    if (x.dims[i].size == to.size) {
      to = x.dims[i];
    } else if (!x.dims[i].is_constant()) {
      return NotSupported("whether ", ToString(x), " fits ", ToString(result.dims), " depends on data");
    } else if (x.dims[i] != Dim(1)) {
      return InvalidInput("cannot broadcast ", ToString(x), " to ", ToString(result.dims));
    }
  }
  return Types{result};
}

TypesOr Slice(const Node& node) {
  const TensorType& x = InputType(node);
  const auto rank = static_cast<size_t>(x.rank());
  constexpr int64_t kAny = int64_t{1} << 62;
  ASSIGN_OR_RETURN(const Ints starts, RequiredInts(node, "starts", rank, -1, kAny));
  ASSIGN_OR_RETURN(const Ints sizes, RequiredInts(node, "sizes", rank, 0, kAny));
  ASSIGN_OR_RETURN(const Ints steps, RequiredInts(node, "steps", rank, -kAny, kAny));
  TensorType result(x.dtype, Dims());
  for (size_t i = 0; i < rank; ++i) {
    if (steps[i] == 0) return InvalidInput("the step along axis ", i, " is 0");
    if (starts[i] == 0 && sizes[i] == x.dims[i].size && steps[i] == 1) {
      result.dims.push_back(x.dims[i]);
      continue;
    }
    ASSIGN_OR_RETURN(const int64_t dim, ConstantDim(x, static_cast<int>(i), "slice"));
    const auto span = CheckedMul(std::max<int64_t>(sizes[i] - 1, 0), steps[i]);
    const auto last = span ? CheckedAdd(starts[i], *span) : std::nullopt;
    const bool inside = sizes[i] == 0
                            ? starts[i] <= dim
                            : last && starts[i] >= 0 && starts[i] < dim && *last >= 0 && *last < dim;
    if (!inside) {
      return InvalidInput("the slice of ", sizes[i], " elements from ", starts[i], " by ", steps[i],
                          " leaves axis ", i, " of ", ToString(x));
    }
    result.dims.emplace_back(sizes[i]);
  }
  return Types{result};
}

TypesOr Concat(const Node& node) {
  const TensorType& first = InputType(node);
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, first.rank()));
  TensorType result(first.dtype, first.dims);
  for (int i = 1; i < node.num_inputs(); ++i) {
    const TensorType& x = InputType(node, i);
    RETURN_IF_ERROR(CheckSameDType(x, absl::StrCat("input ", i), first, "input 0"));
    Dims expected = first.dims;
    if (x.rank() == first.rank()) expected[static_cast<size_t>(axis)] = x.dims[static_cast<size_t>(axis)];
    if (x.dims != expected) {
      return InvalidInput("input ", i, " is ", ToString(x), ", which does not continue input 0, ",
                          ToString(first), ", along axis ", axis);
    }
    RETURN_IF_ERROR(ConstantDim(first, axis, "concatenate").status());
    ASSIGN_OR_RETURN(const int64_t size, ConstantDim(x, axis, "concatenate"));
    const auto total = CheckedAdd(result.dims[static_cast<size_t>(axis)].size, size);
    if (!total) return InvalidInput("the size along axis ", axis, " overflows");
    result.dims[static_cast<size_t>(axis)] = *total;
  }
  return Types{result};
}

TypesOr Pad(const Node& node) {
  const TensorType& x = InputType(node);
  const auto rank = static_cast<size_t>(x.rank());
  ASSIGN_OR_RETURN(const Ints pads, RequiredInts(node, "pads", 2 * rank, 0, int64_t{1} << 40));
  ASSIGN_OR_RETURN(const std::string mode,
                   ChoiceAttribute(node, "mode", {"constant", "reflect", "edge", "wrap"}));
  TensorType result(x.dtype, x.dims);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t begin = pads[i];
    const int64_t end = pads[i + rank];
    if (begin == 0 && end == 0) continue;
    ASSIGN_OR_RETURN(const int64_t dim, ConstantDim(x, static_cast<int>(i), "pad"));
    if (mode == "reflect" && std::max(begin, end) >= dim) {
      return InvalidInput("cannot reflect ", std::max(begin, end), " elements along axis ", i, " of ",
                          ToString(x));
    }
    if (mode != "constant" && dim == 0)
      return InvalidInput("nothing to repeat along axis ", i, " of ", ToString(x));
    const auto size = CheckedAdd(dim, begin + end);
    if (!size) return InvalidInput("the size along axis ", i, " overflows");
    result.dims[i] = *size;
  }
  return Types{result};
}

TypesOr LayoutTransform(const Node& node) {
  TensorType result = InputType(node);
  const int64_t axis = node.attrs().Int("blocked_axis");
  if (axis == -1) {
    result.layout = Layout();
    return Types{result};
  }
  ASSIGN_OR_RETURN(result.layout.blocked_axis, AxisAttribute(node, "blocked_axis", result.rank()));
  ASSIGN_OR_RETURN(const int64_t block, IntAttribute(node, "block", 0, 2));
  RETURN_IF_ERROR(ConstantDim(result, result.layout.blocked_axis, "block").status());
  result.layout.block = static_cast<int>(block);
  return Types{result};
}

TypesOr DepthToSpace(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckRank(x, "the input", 4));
  RETURN_IF_ERROR(CheckConstantFrom(x, 1, "rearrange"));
  RETURN_IF_ERROR(ChoiceAttribute(node, "mode", {"DCR", "CRD"}).status());
  ASSIGN_OR_RETURN(const int64_t block, IntAttribute(node, "block", 0, 1));
  if (x.dims[1].size % (block * block) != 0) {
    return InvalidInput("the ", x.dims[1].size, " channels of ", ToString(x), " are not a multiple of block ",
                        block, " squared");
  }
  ASSIGN_OR_RETURN(const int64_t height, Product({x.dims[2].size, block}, "the height"));
  ASSIGN_OR_RETURN(const int64_t width, Product({x.dims[3].size, block}, "the width"));
  return Types{TensorType(x.dtype, Dims{x.dims[0], x.dims[1].size / (block * block), height, width})};
}

TypesOr SpaceToDepth(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckRank(x, "the input", 4));
  RETURN_IF_ERROR(CheckConstantFrom(x, 1, "rearrange"));
  ASSIGN_OR_RETURN(const int64_t block, IntAttribute(node, "block", 0, 1));
  if (x.dims[2].size % block != 0 || x.dims[3].size % block != 0) {
    return InvalidInput("the height and width of ", ToString(x), " are not multiples of block ", block);
  }
  ASSIGN_OR_RETURN(const int64_t channels, Product({x.dims[1].size, block, block}, "the number of channels"));
  return Types{
      TensorType(x.dtype, Dims{x.dims[0], channels, x.dims[2].size / block, x.dims[3].size / block})};
}

TypesOr ReverseSequence(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& lengths = InputType(node, 1);
  ASSIGN_OR_RETURN(const int batch_axis, AxisAttribute(node, "batch_axis", x.rank()));
  ASSIGN_OR_RETURN(const int time_axis, AxisAttribute(node, "time_axis", x.rank()));
  if (batch_axis == time_axis) return InvalidInput("batch_axis and time_axis are both ", batch_axis);
  RETURN_IF_ERROR(ConstantDim(x, time_axis, "reverse").status());
  RETURN_IF_ERROR(CheckDType(lengths, "the lengths tensor", {DType::kI32, DType::kI64}));
  RETURN_IF_ERROR(CheckDims(lengths, "the lengths tensor", {x.dims[static_cast<size_t>(batch_axis)]}));
  return Types{TensorType(x.dtype, x.dims)};
}

}  // namespace attune::infer
