// Products of 8 bits in all types, with each of their zero points there or absent: their results must stay
// the same, to the bit.
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
  // Which of (x_zero, w, w_zero) are known only at run time.
  bool x_zero_is_input = false, w_is_input = false, w_zero_is_input = false;
  // Matrices are in stacks, [2,4,5] and [2,5,3], or transposed.
  bool batched = false, transposed = false;
};

int64_t Lowest(DType dtype) { return dtype == DType::kI8 ? -128 : 0; }

// Random bytes of the whole range.
Tensor RandomBytes(Random& random, DType dtype, const Shape& shape) {
  int64_t size = 1;
  for (const int64_t dim : shape) size *= dim;
  std::vector<double> numbers;
  for (int64_t i = 0; i < size; ++i)
    numbers.push_back(static_cast<double>(Lowest(dtype) + static_cast<int64_t>(random.Next() % 256)));
  return FromDoubles(dtype, shape, numbers);
}

// A product of a case, and tensors for its inputs.
class Product {
 public:
  explicit Product(const ProductCase& c) : random_(1), graph_("product") {
    constexpr int64_t kRows = 4, kOutputs = 3;
    const bool is_conv = c.op == Op::kConvInteger;
    const Shape batch = c.batched ? Shape{2} : Shape{};
    Shape x_shape = is_conv ? Shape{1, 2, 4, 4} : Shape{kRows, 5};
    Shape w_shape = is_conv        ? Shape{kOutputs, 2, 3, 3}
                    : c.transposed ? Shape{kOutputs, 5}
                                   : Shape{5, kOutputs};
    x_shape.insert(x_shape.begin(), batch.begin(), batch.end());
    w_shape.insert(w_shape.begin(), batch.begin(), batch.end());
    std::vector<Value*> inputs = {Make(c.x, x_shape, true), Make(c.w, w_shape, c.w_is_input),
                                  MakeZero(c.x, c.x_zero, kRows, c.x_zero_is_input),
                                  MakeZero(c.w, c.w_zero, kOutputs, c.w_zero_is_input)};
    while (inputs.back() == nullptr) inputs.pop_back();
    Attributes attributes;
    if (is_conv) attributes.Set("pads", Ints{1, 0, 1, 1});
    if (c.transposed) attributes.Set("transpose_b", true);
    graph_.AddOutput("y", graph_.Make(c.op, std::move(inputs), std::move(attributes)));
  }

  Graph& graph() { return graph_; }
  const std::vector<Tensor>& operands() const { return operands_; }

 private:
  Value* Make(DType dtype, const Shape& shape, bool is_input) {
    Tensor bytes = RandomBytes(random_, dtype, shape);
    if (!is_input) return graph_.AddConstant(std::move(bytes));
    operands_.push_back(std::move(bytes));
    return graph_.AddInput(absl::StrCat("x", operands_.size()), TensorType(dtype, shape));
  }
  Value* MakeZero(DType dtype, Zero zero, int64_t size, bool is_input) {
    return zero == Zero::kAbsent ? nullptr
                                 : Make(dtype, zero == Zero::kOfEach ? Shape{size} : Shape{}, is_input);
  }

  Random random_;
  Graph graph_;
  std::vector<Tensor> operands_;
};

// Expects the same result, and that only products of u8 by i8 without zero points are left.
void ExpectUnchangedResult(const ProductCase& c) {
  SCOPED_TRACE(absl::StrCat(OpName(c.op), " ", DTypeName(c.x), " ", DTypeName(c.w), " zero points ",
                            static_cast<int>(c.x_zero), c.x_zero_is_input ? " given " : " ",
                            static_cast<int>(c.w_zero), c.w_zero_is_input ? " given" : "",
                            c.w_is_input ? ", weights given" : ""));
  Product product(c);
  Graph& graph = product.graph();
  ASSERT_TRUE(Verify(graph).ok()) << Verify(graph);
  const auto expected = Interpreter().Run(graph, product.operands());
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto reports = RunPlan(graph, *ParsePassPlan("fold_zero_points"));
  ASSERT_TRUE(reports.ok()) << reports.status();
  for (const auto& node : graph.nodes()) {
    if (!IsIntegerProduct(node->op())) continue;
    EXPECT_EQ(node->num_inputs(), 2) << Print(graph);
    EXPECT_EQ(node->input(0)->type().dtype, DType::kU8);
    EXPECT_EQ(node->input(1)->type().dtype, DType::kI8);
  }
  const auto actual = Interpreter().Run(graph, product.operands());
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

TEST(FoldZeroPoints, TheRunMayDecide) {
  for (const Op op : {Op::kConvInteger, Op::kMatMulInteger}) {
    for (const DType x : {DType::kU8, DType::kI8}) {
      for (const DType w : {DType::kU8, DType::kI8}) {
        for (const Zero w_zero : {Zero::kAbsent, Zero::kOfAll, Zero::kOfEach}) {
          for (const int given : {1, 2, 3, 4, 5, 6, 7}) {
            ExpectUnchangedResult({op, x, w, Zero::kOfAll, w_zero, (given & 1) != 0, (given & 2) != 0,
                                   (given & 4) != 0 && w_zero != Zero::kAbsent});
          }
        }
      }
    }
  }
}

TEST(FoldZeroPoints, MatricesMayBeStackedAndTransposed) {
  for (const bool batched : {false, true}) {
    for (const bool transposed : {false, true}) {
      for (const bool given : {false, true}) {
        for (const Zero x_zero : {Zero::kOfAll, Zero::kOfEach}) {
          ExpectUnchangedResult({Op::kMatMulInteger, DType::kI8, DType::kU8, x_zero, Zero::kOfEach, given,
                                 given, given, batched, transposed});
        }
      }
    }
  }
}

}  // namespace
}  // namespace attune
