// Products of 8 bits in all types, with each of their zero points there or absent: they must stay what they
// compute, to the bit.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "graph/verify.h"
#include "opt/rewrite.h"
#include "opt/testing.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

enum class Zero { kAbsent, kOfAll, kOfEach };

struct ProductCase {
  Op op;
  DType x, w;
  Zero x_zero, w_zero;
};

int64_t Lowest(DType dtype) { return dtype == DType::kI8 ? -128 : 0; }

// Of the whole range.
Tensor RandomBytes(Random& random, DType dtype, const Shape& shape) {
  int64_t size = 1;
  for (const int64_t dim : shape) size *= dim;
  std::vector<double> numbers;
  for (int64_t i = 0; i < size; ++i)
    numbers.push_back(static_cast<double>(Lowest(dtype) + static_cast<int64_t>(random.Next() % 256)));
  return FromDoubles(dtype, shape, numbers);
}

Value* ZeroPoint(Graph& graph, Random& random, DType dtype, Zero zero, int64_t outputs) {
  if (zero == Zero::kAbsent) return nullptr;
  return graph.AddConstant(RandomBytes(random, dtype, zero == Zero::kOfEach ? Shape{outputs} : Shape{}));
}

void ExpectUnchangedResult(const ProductCase& c) {
  SCOPED_TRACE(absl::StrCat(OpName(c.op), " ", DTypeName(c.x), " ", DTypeName(c.w), " zero points ",
                            static_cast<int>(c.x_zero), " ", static_cast<int>(c.w_zero)));
  constexpr int64_t kOutputs = 3;
  Random random(1);
  Graph graph("product");
  const bool is_conv = c.op == Op::kConvInteger;
  const Shape x_shape = is_conv ? Shape{1, 2, 4, 4} : Shape{4, 5};
  const Shape w_shape = is_conv ? Shape{kOutputs, 2, 3, 3} : Shape{5, kOutputs};
  Value* x = graph.AddInput("x", TensorType(c.x, x_shape));
  Value* w = graph.AddConstant(RandomBytes(random, c.w, w_shape));
  std::vector<Value*> inputs = {x, w, ZeroPoint(graph, random, c.x, c.x_zero, 1),
                                ZeroPoint(graph, random, c.w, c.w_zero, kOutputs)};
  while (inputs.back() == nullptr) inputs.pop_back();
  Attributes attributes;
  if (is_conv) attributes.Set("pads", Ints{1, 0, 1, 1});
  graph.AddOutput("y", graph.Make(c.op, std::move(inputs), std::move(attributes)));
  ASSERT_TRUE(Verify(graph).ok()) << Verify(graph);
  const std::vector<Tensor> operands = {RandomBytes(random, c.x, x_shape)};
  const auto expected = Interpreter().Run(graph, operands);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto reports = RunPlan(graph, *ParsePassPlan("fold_zero_points"));
  ASSERT_TRUE(reports.ok()) << reports.status();
  const auto actual = Interpreter().Run(graph, operands);
  ASSERT_TRUE(actual.ok()) << actual.status();
  for (int64_t i = 0; i < expected->front().num_elements(); ++i)
    ASSERT_EQ(actual->front().ToDouble(i), expected->front().ToDouble(i)) << i << "\n" << Print(graph);
}

TEST(FoldZeroPoints, ZeroPointsMayBeAbsent) {
  for (const Op op : {Op::kConvInteger, Op::kMatMulInteger}) {
    for (const DType x : {DType::kU8, DType::kI8}) {
      for (const DType w : {DType::kU8, DType::kI8}) {
        for (const Zero x_zero : {Zero::kAbsent, Zero::kOfAll}) {
          for (const Zero w_zero : {Zero::kAbsent, Zero::kOfAll, Zero::kOfEach})
            ExpectUnchangedResult({op, x, w, x_zero, w_zero});
        }
      }
    }
  }
}

}  // namespace
}  // namespace attune
