// Random small graphs through each pass alone and through the default plan: by the reference interpreter,
// they must compute the same as before, and they must stay valid.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "opt/driver.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

constexpr int kGraphs = 500;

// Grows a graph node by node: operators that passes look for, on values that are there. Nodes that
// inference refuses are left out.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {
    // Mostly images; channels in the multiples that horizontal fusion wants.
    const Shape shapes[] = {{1, 16, 4, 4}, {2, 3, 5, 4}, {2, 6}, {1, 2, 4, 4}, {2, 3, 9}, {2, 3, 4, 3, 3}};
    const Shape& shape = shapes[Pick(6)];
    values_.push_back(graph_.AddInput("x", TensorType(DType::kF32, shape)));
    values_.push_back(graph_.AddInput("y", TensorType(DType::kF32, shape)));
    indices_ = graph_.AddInput("i", TensorType(DType::kI64, Shape{2}));
    const size_t size = 4 + Pick(30);
    for (size_t i = 0; i < size * 4 && graph_.nodes().size() < size; ++i) AddNode();
    for (int i = 0; i < 3; ++i) {
      graph_.AddOutput(absl::StrCat("out", i), i == 0 ? values_.back() : values_[Pick(values_.size())]);
    }
  }

  Graph& graph() { return graph_; }

  std::vector<Tensor> Inputs() {
    std::vector<Tensor> inputs;
    for (const auto& input : graph_.inputs()) {
      const bool indexes = input.get() == indices_;
      inputs.push_back(indexes ? Tensor::FromInts(Ints{0, -1}) : RandomTensor(input->type().shape()));
    }
    return inputs;
  }

 private:
  size_t Pick(size_t size) { return static_cast<size_t>(random_.Integer(0, static_cast<int64_t>(size) - 1)); }

  Tensor RandomTensor(const Shape& shape, double low = -2, double high = 2) {
    Tensor tensor(DType::kF32, shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      tensor.SetDouble(i, low + (high - low) * random_.Uniform());
    return tensor;
  }

  Value* Constant(const Shape& shape, double low = -2, double high = 2) {
    return graph_.AddConstant(RandomTensor(shape, low, high));
  }

  // Mostly a recent value, so that long paths arise.
  Value* Operand() { return random_.Integer(0, 2) > 0 ? values_.back() : values_[Pick(values_.size())]; }

  void Add(Op op, std::vector<Value*> inputs, Attributes attributes = {}) {
    const absl::StatusOr<Node*> node = graph_.Add(op, std::move(inputs), std::move(attributes), "n");
    if (node.ok() && (*node)->output()->type().num_elements() < 4096) values_.push_back((*node)->output());
  }

  // A constant that broadcasts to `shape`: of its shape, per channel, along the last axis, or one number,
  // which may be neutral.
  Value* Factor(const Shape& shape) {
    Shape channel(shape.empty() ? 0 : shape.size() - 1, 1);
    if (!channel.empty()) channel[0] = shape[1];
    switch (Pick(5)) {
      case 0:
        return Constant(shape);
      case 1:
        return Constant(channel);
      case 2:
        return Constant(shape.empty() ? Shape{} : Shape{shape.back()});
      case 3:
        return graph_.AddConstant(Tensor::Scalar(DType::kF32, static_cast<double>(Pick(3))));
      default:
        return Constant({});
    }
  }

  void AddElementwise(Value* x, const Shape& shape) {
    const Op unary[] = {Op::kRelu, Op::kNeg, Op::kSigmoid, Op::kTanh, Op::kIdentity, Op::kAbs};
    const Op binary[] = {Op::kAdd, Op::kSub, Op::kMul, Op::kMax, Op::kMin};
    switch (Pick(4)) {
      case 0:
        return Add(unary[Pick(6)], {x});
      case 1:
        return Add(binary[Pick(5)], {x, Factor(shape)});
      case 2:
        return Add(Op::kDiv, {x, Constant(Pick(2) == 0 ? Shape{} : shape, 0.5, 2)});
      default:
        return Add(binary[Pick(5)], {x, Operand()});
    }
  }

  void AddMovement(Value* x, const Shape& shape) {
    const int64_t rank = std::ssize(shape);
    Ints perm(shape.size());
    for (int64_t i = 0; i < rank; ++i) perm[i] = i;
    switch (Pick(7)) {
      case 0:
        for (int64_t i = rank - 1; i > 0; --i) std::swap(perm[i], perm[Pick(static_cast<size_t>(i) + 1)]);
        return Add(Op::kTranspose, {x}, {{"perm", perm}});
      case 1:
        return Add(Op::kTranspose, {x}, {{"perm", Ints{0, 2, 3, 1}}});
      case 2:
        return Add(Op::kTranspose, {x}, {{"perm", Ints{0, 3, 1, 2}}});
      case 3:
        return Add(
            Op::kReshape, {x},
            {{"shape", Ints{shape.empty() ? 1 : shape[0],
                            x->type().num_elements() / std::max<int64_t>(shape.empty() ? 1 : shape[0], 1)}}});
      case 4: {
        Ints sizes = shape;
        Ints starts(shape.size(), 0);
        const size_t axis = shape.empty() ? 0 : Pick(shape.size());
        if (!shape.empty() && Pick(3) > 0 && sizes[axis] > 1) starts[axis] = 1, --sizes[axis];
        return Add(Op::kSlice, {x}, {{"starts", starts}, {"sizes", sizes}, {"steps", Ints(shape.size(), 1)}});
      }
      case 5:
        return Add(Op::kConcat, {x, Operand()}, {{"axis", static_cast<int64_t>(Pick(2))}});
      default: {
        Ints pads(shape.size() * 2, 0);
        for (size_t i = 2; i < pads.size(); ++i)
          pads[i] = i == shape.size() || i == shape.size() + 1 ? 0 : random_.Integer(0, 1);
        return Add(Op::kPad, {x}, {{"pads", pads}});
      }
    }
  }

  void AddContraction(Value* x, const Shape& shape) {
    const int64_t channels = shape.size() > 1 ? shape[1] : 1;
    const int64_t outputs = Pick(2) == 0 ? 16 : random_.Integer(1, 5);
    const int64_t kernel = random_.Integer(1, 3);
    Value* bias = Pick(2) == 0 ? nullptr : Constant({outputs});
    if (shape.size() == 5) return AddOverVolume(x, Constant({outputs, channels, kernel, 2, 1}), bias);
    if (shape.size() == 3 && Pick(2) == 0)
      return Add(Op::kConv, {x, Constant({outputs, channels, kernel}), bias}, {{"pads", Ints{1, 0}}});
    switch (Pick(4)) {
      case 0:
        return Add(Op::kConv, {x, Constant({outputs, channels, kernel, kernel}), bias},
                   {{"pads", Ints{1, 0, 1, 0}}});
      case 1:
        return Add(Op::kConv, {x, Constant({channels, 1, 1, kernel})}, {{"group", channels}});
      case 2:
        return AddConvTranspose(x, channels, bias);
      default:
        return Add(Op::kMatMul, {x, Constant({shape.empty() ? 1 : shape.back(), outputs})});
    }
  }

  void AddOverVolume(Value* x, Value* weights, Value* bias) {
    const int64_t stride = random_.Integer(1, 2), pad = random_.Integer(0, 1);
    const Ints strides = {stride, 1, 2}, pads = {pad, 0, 1, 1, 1, pad};
    if (Pick(2) == 0) {
      const int64_t channels = x->type().dims[1].size;
      return Add(Op::kConv, {x, Constant({channels, 1, 2, 1, 1})},
                 {{"strides", Ints{stride, 1, 1}}, {"pads", Ints{pad, 0, 0, 1, 0, 0}}, {"group", channels}});
    }
    if (Pick(2) == 0) return Add(Op::kConv, {x, weights, bias}, {{"strides", strides}, {"pads", pads}});
    const Op pool = Pick(2) == 0 ? Op::kMaxPool : Op::kAvgPool;
    Add(pool, {x}, {{"kernel", Ints{pool == Op::kMaxPool ? 2 : 1, 2, 2}}, {"strides", strides}});
  }

  // A group normalization as it is, or as exporters write it: of x reshaped to its groups.
  void AddGroupNorm(Value* x, const Shape& shape) {
    const int64_t groups = shape[1] % 2 == 0 ? shape[1] / 2 : 1;
    if (Pick(2) == 0) {
      return Add(Op::kGroupNorm, {x, Constant({shape[1]}), Constant({shape[1]})},
                 {{"groups", groups}, {"epsilon", 0.1}});
    }
    const int64_t elements = x->type().num_elements();
    Add(Op::kReshape, {x}, {{"shape", Ints{shape[0], groups, elements / shape[0] / groups}}});
    Add(Op::kGroupNorm, {values_.back(), Constant({groups}), Constant({groups})},
        {{"groups", groups}, {"epsilon", 0.1}});
    Add(Op::kReshape, {values_.back()}, {{"shape", shape}});
  }

  void AddConvTranspose(Value* x, int64_t channels, Value* bias) {
    const int64_t stride = random_.Integer(1, 3), group = bias == nullptr && Pick(3) == 0 ? channels : 1;
    const int64_t outputs = bias == nullptr ? random_.Integer(1, 5) : bias->type().dims[0].size;
    Ints kernel(2), pads(4), extra(2);
    for (int64_t& size : kernel) size = random_.Integer(1, 5);
    for (int64_t& pad : pads) pad = random_.Integer(0, 2);
    const Ints strides = {Pick(3) == 0 ? 1 : stride, stride};
    for (size_t i = 0; i < 2; ++i) extra[i] = random_.Integer(0, strides[i] - 1);
    Add(Op::kConvTranspose, {x, Constant({channels, outputs, kernel[0], kernel[1]}), bias},
        {{"strides", strides}, {"pads", pads}, {"output_padding", extra}, {"group", group}});
  }

  // Two contractions of one value, both with an offset and an activation.
  void AddParallel(Value* x, const Shape& shape) {
    const bool is_conv = shape.size() == 4 && Pick(2) == 0;
    for (int i = 0; i < 2; ++i) {
      const int64_t outputs = 16 * random_.Integer(1, 2);
      if (is_conv) {
        Add(Op::kConv, {x, Constant({outputs, shape[1], 1, 1})});
        Add(Op::kAdd, {values_.back(), Constant({outputs, 1, 1})});
      } else {
        Add(Op::kMatMul, {x, Constant({shape.empty() ? 1 : shape.back(), outputs})});
        Add(Op::kAdd, {values_.back(), Constant({outputs})});
      }
      Add(Op::kRelu, {values_.back()});
    }
  }

  void AddNode() {
    Value* x = Operand();
    const Shape shape = x->type().shape();
    // Some passes wait for these, which are rare otherwise.
    const Op before = x->producer() == nullptr ? Op::kIdentity : x->producer()->op();
    if (before == Op::kReshape && Pick(2) == 0) return AddElementwise(x, shape);
    if (before == Op::kPad && Pick(4) > 0) return AddContraction(x, shape);
    if (before == Op::kConv && shape.size() == 4 && Pick(4) == 0) return AddGroupNorm(x, shape);
    const int64_t channels = shape.size() > 1 ? shape[1] : 1;
    const int64_t last = std::max<int64_t>(std::ssize(shape) - 1, 0);
    switch (Pick(13)) {
      case 8:
        return AddParallel(x, shape);
      case 11:
        return Add(Op::kGather,
                   {x, graph_.nodes().size() % 3 == 0
                           ? indices_
                           : graph_.AddConstant(Tensor::FromInts(Ints{0, 0}, DType::kI64))},
                   {{"axis", last}});
      case 10:
        Add(Op::kTanh, {x});
        Add(Op::kTanh, {x});
        return Add(Op::kAdd, {x, values_.back()});
      case 9:
        return Add(Op::kMul, {Constant({3}), Constant({2, 3})});
      case 0:
      case 1:
        return AddElementwise(x, shape);
      case 2:
      case 3:
        return AddMovement(x, shape);
      case 4:
        return AddContraction(x, shape);
      case 5:
        return Add(Op::kBatchNorm,
                   {x, Constant({channels}), Constant({channels}), Constant({channels}),
                    Constant({channels}, 0.5, 2)},
                   {{"epsilon", 1e-3}});
      case 6:
        return Add(Pick(2) == 0 ? Op::kReduceMean : Op::kReduceMax, {x},
                   {{"axes", Ints{last}}, {"keepdims", static_cast<int64_t>(Pick(2))}});
      case 7:
        if (Pick(2) == 0) return Add(Op::kSoftmax, {x}, {{"axis", last}});
        if (Pick(2) == 0) Add(Op::kConv, {x, Constant({random_.Integer(1, 5), channels, 1, 1})});
        return Add(Pick(3) == 0 ? Op::kMaxPool : Op::kAvgPool, {values_.back()},
                   {{"kernel", Ints{2, 2}}, {"strides", Ints(2, random_.Integer(1, 2))}});
      default:
        return AddElementwise(values_.back(), values_.back()->type().shape());
    }
  }

  Random random_;
  Graph graph_{"random"};
  std::vector<Value*> values_;
  Value* indices_;  // into an axis of any size
};

void ExpectSame(const std::vector<Tensor>& expected, const std::vector<Tensor>& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    Tolerance tolerance = NetworkTolerance(expected[i]);
    tolerance.absolute *= 10;  // folded weights round differently
    const Comparison comparison = Compare(expected[i], actual[i], tolerance);
    EXPECT_TRUE(comparison.ok()) << "output " << i << ": " << comparison.ToString();
  }
}

// How many graphs the plan changed.
void TryPlan(const PassPlan& plan, int& changed) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Generator generator(seed);
    ASSERT_TRUE(Verify(generator.graph()).ok()) << Verify(generator.graph());
    const std::vector<Tensor> inputs = generator.Inputs();
    const auto expected = Interpreter().Run(generator.graph(), inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();

    const std::unique_ptr<Graph> graph = generator.graph().Clone();
    const auto reports = RunPlan(*graph, plan);
    ASSERT_TRUE(reports.ok()) << reports.status();
    changed += std::any_of(reports->begin(), reports->end(), [](const StepReport& r) { return r.changed; });
    const auto actual = Interpreter().Run(*graph, inputs);
    ASSERT_TRUE(actual.ok()) << actual.status();
    ExpectSame(*expected, *actual);
    if (::testing::Test::HasFailure()) {
      FAIL() << Print(generator.graph(), {.max_constant_elements = 16}) << "\nbecomes\n"
             << Print(*graph, {.max_constant_elements = 16});
    }
  }
}

class EveryPass : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPass, KeepsWhatRandomGraphsCompute) {
  int changed = 0;
  TryPlan({{{GetParam(), {}}}}, changed);
  // Exported patterns, branches and integers do not arise at random; they have tests of their own.
  static const std::set<std::string> kRare = {
      "inline_branches",    "narrow",      "sink_dequantize",        "integer_products",
      "fold_zero_points",   "fold_scales", "decompose_quantization", "round_weights",
      "linearize_integers", "swap_planes", "split_products"};
  const bool is_rare = GetParam().starts_with("recognize_") || kRare.contains(GetParam());
  EXPECT_GE(changed, is_rare ? 0 : 5);
}

std::vector<std::string> PassNames() {
  std::set<std::string> names;
  for (const PassInfo& info : PassTable()) names.emplace(info.name);
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(, EveryPass, ::testing::ValuesIn(PassNames()),
                         [](const auto& test) { return test.param; });

TEST(Equivalence, DefaultPlan) {
  int changed = 0;
  TryPlan(DefaultPlan(), changed);
  EXPECT_EQ(changed, kGraphs);
}

TEST(Equivalence, DefaultPlanTwiceWithoutFusion) {
  PassPlan plan = DefaultPlan();
  plan.steps.pop_back();
  const PassPlan once = plan;
  plan.steps.insert(plan.steps.end(), once.steps.begin(), once.steps.end());
  int changed = 0;
  TryPlan(plan, changed);
  EXPECT_GT(changed, kGraphs / 2);
}

}  // namespace
}  // namespace attune
