// Convolutions and matrix products.
#include <algorithm>

#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

Ints CheckedAll(Ints values, std::string_view what, int64_t low) {
  for (int64_t value : values) CheckedSize(value, what, low);
  return values;
}

// "same" gives as many outputs as inputs, with an odd pad at the end; "valid" does not pad. Returns all
// begins, then all ends.
Ints NamedPads(const std::string& mode, const Ints& kernel, const Ints& dilations) {
  const size_t rank = kernel.size();
  Ints pads(2 * rank, 0);
  if (mode == "valid") return pads;
  if (mode != "same") Invalid("its padding is '", mode, "'");
  for (size_t i = 0; i < rank; ++i) {
    const int64_t total = Multiply(kernel[i] - 1, dilations[i]);
    pads[i] = total / 2;
    pads[i + rank] = total - total / 2;
  }
  return pads;
}

// The product of two matrices, or stacks of matrices, of the same type.
Value* Product2(OpContext& c, const char* a, const char* b) {
  if (c.InType(a) != c.InType(b)) {
    Invalid("it multiplies ", ToString(c.In(a)->type()), " with ", ToString(c.In(b)->type()));
  }
  return c.MatMul(c.In(a), c.In(b));
}

// beta addend + alpha product
Value* Scaled(OpContext& c, Value* product) {
  const ExactNumber beta = c.Exact("beta", 1);
  product = c.Mul(product, c.Exact("alpha", 1));
  if (beta == 0) return product;
  Value* sum = c.Add(product, c.Mul(c.In("self"), beta));
  if (sum->type().dims != product->type().dims) {
    Invalid("it adds ", ToString(c.In("self")->type()), " to ", ToString(product->type()));
  }
  return sum;
}

}  // namespace

// All of PyTorch's convolutions have the same arguments. An input without a batch temporarily gets a batch
// of 1.
Outputs Convolution(OpContext& c, bool transposed) {
  Value* x = c.In("input");
  Value* weight = c.In("weight");
  const Shape kernel_shape = c.ShapeOf(weight);
  if (kernel_shape.size() < 3) Invalid("its weight is ", ToString(weight->type()));
  const size_t rank = kernel_shape.size() - 2;
  const bool batched = static_cast<size_t>(x->type().rank()) == rank + 2;
  if (!batched) x = c.Unsqueeze(x, {0});
  const Ints kernel(kernel_shape.begin() + 2, kernel_shape.end());
  const Ints dilations = CheckedAll(c.PerDimension("dilation", rank, {1}), "dilation", 1);
  Ints pads;
  if (c.node().target.ends_with(".padding")) {
    pads = NamedPads(c.String("padding", "valid"), kernel, dilations);
  } else {
    pads = CheckedAll(c.PerDimension("padding", rank, {0}), "padding", 0);
    pads.insert(pads.end(), pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  }
  Attributes attrs = {{"strides", CheckedAll(c.PerDimension("stride", rank, {1}), "stride", 1)},
                      {"pads", pads},
                      {"dilations", dilations},
                      {"group", c.Int("groups", 1)}};
  if (transposed) {
    attrs.Set("output_padding", CheckedAll(c.PerDimension("output_padding", rank, {0}), "output padding", 0));
  }
  std::vector<Value*> inputs = {x, weight};
  if (c.Has("bias")) inputs.push_back(c.In("bias"));
  Value* y = c.Emit(transposed ? Op::kConvTranspose : Op::kConv, std::move(inputs), std::move(attrs));
  return {batched ? y : c.Squeeze(y, {0})};
}

Outputs GeneralConvolution(OpContext& c) { return Convolution(c, c.Bool("transposed", false)); }

Outputs Linear(OpContext& c) {
  Value* x = c.In("input");
  Value* weight = c.In("weight");
  if (weight->type().rank() != 2) Unsupported("a weight of rank ", weight->type().rank());
  const bool vector = x->type().rank() == 1;
  if (vector) x = c.Unsqueeze(x, {0});
  Value* y = c.MatMul(x, weight, false, true);
  if (vector) y = c.Squeeze(y, {0});
  return {c.Has("bias") ? c.Add(y, c.In("bias")) : y};
}

// An operand of rank 1 is a row on the left and a column on the right, and its axis is removed from the
// result.
Outputs MatMul(OpContext& c) {
  Value* a = c.In("self");
  Value* b = c.In("other");
  const bool row = a->type().rank() == 1;
  const bool column = b->type().rank() == 1;
  if (row) a = c.Unsqueeze(a, {0});
  if (column) b = c.Unsqueeze(b, {1});
  Value* y = c.MatMul(a, b);
  if (column) y = c.Squeeze(y, {-1});
  if (row) y = c.Squeeze(y, {column ? -1 : -2});
  return {y};
}

Outputs MatrixProduct(OpContext& c) { return {Product2(c, "self", "mat2")}; }
Outputs AddMm(OpContext& c) { return {Scaled(c, Product2(c, "mat1", "mat2"))}; }
Outputs AddBmm(OpContext& c) { return {Scaled(c, Product2(c, "batch1", "batch2"))}; }

Outputs MatrixVector(OpContext& c) {
  return {c.Squeeze(c.MatMul(c.In("self"), c.Unsqueeze(c.In("vec"), {1})), {1})};
}

Outputs Dot(OpContext& c) {
  return {c.Reduce(Op::kReduceSum, c.Mul(c.In("self"), c.In("tensor")), {0}, false)};
}

}  // namespace attune::pytorch
