// For every operator, exports a small graph and imports it again: it must compute the same.
#include "export/onnx/operators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "export/onnx/round_trip_for_test.h"

namespace attune {
namespace {

// An operand of a test case: absent, an input of the graph, or a constant.
struct Operand {
  bool is_present = true;
  TensorType type;
  std::optional<Tensor> constant;
};

Operand In(DType dtype, const Shape& shape) { return {true, TensorType(dtype, shape), std::nullopt}; }
Operand In(const Shape& shape) { return In(DType::kF32, shape); }
Operand Is(Tensor tensor) {
  TensorType type(tensor.dtype(), tensor.shape());
  return {true, std::move(type), std::move(tensor)};
}
Operand None() { return {false, TensorType(), std::nullopt}; }
// Like RandomValue, but positive.
Operand Positive(const Shape& shape) {
  Tensor tensor = RandomValue(TensorType(DType::kF32, shape), 99);
  for (float& x : tensor.as_mutable<float>()) x = 0.1f + std::abs(x);
  return Is(std::move(tensor));
}

struct Case {
  Op op;
  std::vector<Operand> operands;
  Attributes attributes = {};
  int outputs = -1;
};

constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kBF16 = DType::kBF16, kI8 = DType::kI8,
                kU8 = DType::kU8, kI16 = DType::kI16, kI32 = DType::kI32, kI64 = DType::kI64,
                kU32 = DType::kU32, kBool = DType::kBool;
constexpr int64_t kOne = 1, kTwo = 2;

std::vector<Case> ElementwiseCases() {
  std::vector<Case> cases = {
      {Op::kIdentity, {In({2, 3})}},
      {Op::kNeg, {In(kI8, {2, 3})}},
      {Op::kLeakyRelu, {In({2, 3})}, {{"alpha", 0.25}}},
      {Op::kElu, {In({2, 3})}, {{"alpha", 0.5}}},
      {Op::kGelu, {In({2, 3})}, {{"approximate", std::string("tanh")}}},
      {Op::kGelu, {In({2, 3})}},
      {Op::kHardSigmoid, {In({2, 3})}, {{"alpha", 0.25}, {"beta", 0.5}}},
      {Op::kClip, {In({2, 3})}, {{"min", ExactNumber(-0.5)}, {"max", ExactNumber(0.5)}}},
      {Op::kClip, {In({2, 3})}, {{"max", ExactNumber(0.5)}}},
      {Op::kClip, {In(kI32, {2, 3})}, {{"min", ExactNumber(1.0)}}},
      {Op::kClip, {In(kI32, {2, 3})}, {{"min", ExactNumber(-1.5)}, {"max", ExactNumber(1.5)}}},
      {Op::kNot, {In(kBool, {2, 3})}},
      {Op::kNot, {In(kI32, {2, 3})}},
      {Op::kIsNan, {In({2, 3})}},
      {Op::kIsInf, {In({2, 3})}, {{"negative", int64_t{0}}}},
      {Op::kCast, {In({2, 3})}, {{"to", kI32}}},
      {Op::kCast, {In(kBF16, {2, 3})}, {{"to", kF32}}},
      {Op::kMod, {In({2, 3}), In({2, 3})}},
      {Op::kMod, {In({2, 3}), In({2, 3})}, {{"truncate", kOne}}},
      {Op::kMod, {In(kI32, {2, 3}), In(kI32, {3})}},
      {Op::kPow, {Positive({2, 3}), In({3})}},
      {Op::kShiftLeft, {In(kU32, {2, 3}), In(kU32, {2, 3})}},
      {Op::kShiftRight, {In(kU8, {2, 3}), In(kU8, {2, 3})}},
      {Op::kEqual, {In(kBool, {2, 3}), In(kBool, {2, 3})}},
      {Op::kWhere, {In(kBool, {2, 3}), In({3}), In({2, 1})}},
  };
  for (Op op : {Op::kNeg,  Op::kAbs,  Op::kSign, Op::kFloor,   Op::kCeil,     Op::kRound,    Op::kSqrt,
                Op::kExp,  Op::kLog,  Op::kSin,  Op::kCos,     Op::kTan,      Op::kAsin,     Op::kAcos,
                Op::kAtan, Op::kSinh, Op::kCosh, Op::kTanh,    Op::kAsinh,    Op::kAcosh,    Op::kAtanh,
                Op::kErf,  Op::kRelu, Op::kSilu, Op::kSigmoid, Op::kSoftplus, Op::kHardSwish}) {
    cases.push_back({op, {In({2, 3})}});
    cases.push_back({op, {In(kF16, {2, 3})}});
  }
  for (Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMin, Op::kMax, Op::kLess, Op::kLessEqual,
                Op::kGreater, Op::kGreaterEqual}) {
    cases.push_back({op, {In({2, 3}), In({3})}});
    cases.push_back({op, {In(kI64, {2, 3}), In(kI64, {2, 1})}});
  }
  for (Op op : {Op::kAnd, Op::kOr, Op::kXor}) {
    cases.push_back({op, {In(kBool, {2, 3}), In(kBool, {3})}});
    cases.push_back({op, {In(kI32, {2, 3}), In(kI32, {3})}});
  }
  return cases;
}

std::vector<Case> MovementCases() {
  return {
      {Op::kReshape, {In({2, 3})}, {{"shape", Ints{3, 2}}}},
      {Op::kReshape, {In({0, 3})}, {{"shape", Ints{3, 0}}}},
      {Op::kTranspose, {In({2, 3, 4})}, {{"perm", Ints{2, 0, 1}}}},
      {Op::kBroadcast, {In({3, 1})}, {{"shape", Ints{2, 3, 4}}}},
      {Op::kSlice, {In({5, 4})}, {{"starts", Ints{1, 0}}, {"sizes", Ints{2, 4}}, {"steps", Ints{2, 1}}}},
      {Op::kSlice, {In({5, 4})}, {{"starts", Ints{4, 3}}, {"sizes", Ints{5, 2}}, {"steps", Ints{-1, -2}}}},
      {Op::kSlice, {In({5, 4})}, {{"starts", Ints{2, 0}}, {"sizes", Ints{0, 4}}, {"steps", Ints{1, 1}}}},
      {Op::kSlice, {In({5, 4})}, {{"starts", Ints{0, 0}}, {"sizes", Ints{5, 4}}, {"steps", Ints{1, 1}}}},
      {Op::kConcat, {In({2, 3}), In({2, 1})}, {{"axis", kOne}}},
      {Op::kPad, {In({2, 3})}, {{"pads", Ints{0, 1, 1, 2}}, {"value", ExactNumber(1.5)}}},
      {Op::kPad, {In({2, 3})}, {{"pads", Ints{0, 1, 1, 2}}, {"mode", std::string("reflect")}}},
      {Op::kPad, {In({2, 3})}, {{"pads", Ints{0, 1, 1, 2}}, {"mode", std::string("wrap")}}},
      {Op::kDepthToSpace, {In({1, 8, 2, 3})}, {{"block", kTwo}, {"mode", std::string("CRD")}}},
      {Op::kSpaceToDepth, {In({1, 2, 4, 6})}, {{"block", kTwo}}},
      {Op::kReverseSequence, {In({3, 4}), In(kI32, {3})}, {{"batch_axis", int64_t{0}}, {"time_axis", kOne}}},
      {Op::kGather, {In({3, 4}), In(kI32, {2})}, {{"axis", kOne}}},
      {Op::kGatherElements, {In({3, 4}), In(kI64, {2, 4})}, {{"axis", int64_t{0}}}},
      {Op::kGatherNd, {In({3, 4}), In(kI32, {2, 2})}},
      {Op::kScatterElements,
       {In({3, 4}), In(kI64, {1, 4}), In({1, 4})},
       {{"axis", int64_t{0}}, {"reduction", std::string("add")}}},
      {Op::kScatterNd, {In({3, 4}), Is(Tensor::FromInts(Ints{1, 2}, kI32).Reshaped({2, 1})), In({2, 4})}},
      {Op::kCheckIndex, {In(kI32, {2, 2})}, {{"sizes", Ints{100}}, {"reader", std::string("gather")}}},
  };
}

std::vector<Case> ReductionCases() {
  std::vector<Case> cases = {
      {Op::kReduceSum, {In({2, 3})}, {{"axes", Ints{}}}},
      {Op::kReduceMax, {In(kBool, {2, 3})}, {{"axes", Ints{1}}}},
      {Op::kReduceMin, {In(kU8, {2, 3})}, {{"axes", Ints{1}}}},
      {Op::kArgMax, {In({2, 3})}, {{"axis", kOne}}},
      {Op::kArgMin,
       {In(kI8, {2, 3})},
       {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}, {"select_last", kOne}}},
      {Op::kCumSum, {In({2, 3})}, {{"axis", kOne}, {"exclusive", kOne}}},
      {Op::kCumProd, {In({2, 3})}, {{"axis", kOne}, {"reverse", kOne}}},
      {Op::kTopK, {In({2, 5})}, {{"axis", kOne}, {"k", kTwo}, {"largest", int64_t{0}}}},
  };
  for (Op op : {Op::kReduceSum, Op::kReduceMean, Op::kReduceProd, Op::kReduceMax, Op::kReduceMin}) {
    cases.push_back({op, {In({2, 3, 4})}, {{"axes", Ints{0, 2}}, {"keepdims", int64_t{0}}}});
  }
  return cases;
}

std::vector<Case> ContractionCases() {
  const Attributes window = {{"strides", Ints{2, 1}}, {"pads", Ints{1, 0, 1, 2}}, {"dilations", Ints{1, 2}}};
  Attributes grouped = window;
  grouped.Set("group", kTwo);
  return {
      {Op::kConv, {In({1, 4, 6, 6}), In({3, 4, 3, 2}), In({3})}, window},
      {Op::kConv, {In(kF16, {1, 4, 6, 6}), In(kF16, {4, 2, 3, 2})}, grouped},
      {Op::kConv, {In(kBF16, {1, 2, 6}), In(kBF16, {4, 2, 3})}},
      {Op::kConvTranspose,
       {In({1, 2, 4, 4}), In({2, 3, 3, 3})},
       {{"output_padding", Ints{1, 0}}, {"strides", Ints{2, 2}}}},
      {Op::kMatMul, {In({2, 3}), In({3, 4})}},
      {Op::kMatMul, {In({3, 2}), In({4, 3})}, {{"transpose_a", kOne}, {"transpose_b", kOne}}},
      {Op::kMatMul, {In({2, 2, 3}), In({2, 4, 3})}, {{"transpose_b", kOne}}},
      {Op::kConvInteger,
       {In(kU8, {1, 2, 4, 4}), In(kI8, {3, 2, 3, 3}), In(kU8, {}), In(kI8, {3})},
       {{"pads", Ints{1, 1, 1, 1}}}},
      {Op::kMatMulInteger, {In(kU8, {2, 3}), In(kI8, {4, 3}), In(kU8, {})}, {{"transpose_b", kOne}}},
      {Op::kAttention, {In({1, 2, 3, 4}), In({1, 2, 5, 4}), In({1, 2, 5, 4}), In({3, 5})}, {{"scale", 0.5}}},
      {Op::kAttention, {In({1, 2, 3, 4}), In({1, 2, 5, 4}), In({1, 2, 5, 4})}, {{"scale", 0.5}}},
      {Op::kDeformConv, {In({1, 2, 5, 5}), In({1, 8, 4, 4}), In({3, 2, 2, 2}), None(), In({1, 4, 4, 4})}},
  };
}

std::vector<Case> QuantizedCases() {
  const Operand scale = Is(Tensor::Scalar(kF32, 0.25));
  const Operand scales = Positive({3});
  const Operand blocks = Positive({2, 2});
  return {
      {Op::kQuantize, {In({2, 3}), scale}, {{"to", kI8}}},
      {Op::kQuantize, {In({2, 3}), scale, In(kU8, {})}, {{"to", kU8}}},
      {Op::kQuantize, {In({2, 3}), scales, In(kI8, {3})}, {{"to", kI8}}},
      {Op::kQuantize, {In({3, 2}), scales}, {{"to", kI16}, {"axis", int64_t{0}}}},
      {Op::kQuantize, {In({2, 4}), blocks}, {{"to", kI8}, {"block_size", kTwo}}},
      {Op::kQuantize, {In(kF16, {2, 3}), Is(Tensor::Scalar(kF16, 0.25))}, {{"to", kU8}}},
      {Op::kDequantize, {In(kU8, {2, 3}), scale, In(kU8, {})}},
      {Op::kDequantize, {In(kI8, {2, 3}), scales}},
      {Op::kDequantize, {In(kI32, {3}), scales}, {{"axis", int64_t{0}}}},
      {Op::kDequantize, {In(kI8, {2, 4}), blocks}, {{"block_size", kTwo}}},
      {Op::kRequantize, {In(kI32, {2, 3}), scales, In(kU8, {})}, {{"to", kU8}}},
      {Op::kRequantize, {In(kI32, {2, 3}), scale}, {{"to", kI8}}},
  };
}

std::vector<Case> WindowCases() {
  const Attributes pool = {{"kernel", Ints{3, 2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 1, 1}}};
  Attributes whole = pool;
  whole.Set("count_include_pad", kOne);
  whole.Set("ceil_mode", kOne);
  return {
      {Op::kMaxPool, {In({1, 2, 6, 5})}, pool, 1},
      {Op::kMaxPool, {In({1, 2, 6, 5})}, pool, 2},
      {Op::kMaxPool, {In(kU8, {1, 2, 6, 5})}, pool, 1},
      {Op::kAvgPool, {In({1, 2, 6, 5})}, pool},
      {Op::kAvgPool, {In({1, 2, 6, 5})}, whole},
      {Op::kLrn, {In({1, 4, 3, 3})}, {{"size", int64_t{3}}, {"alpha", 0.01}, {"beta", 0.75}, {"bias", 1.0}}},
      {Op::kCol2Im, {In({1, 8, 9})}, {{"image", Ints{4, 4}}, {"block", Ints{2, 2}}}},
  };
}

std::vector<Case> NormalizationCases() {
  return {
      {Op::kBatchNorm, {In({2, 3, 4}), In({3}), In({3}), In({3}), Positive({3})}, {{"epsilon", 1e-3}}},
      {Op::kLayerNorm, {In({2, 3, 4})}, {{"axis", kOne}, {"epsilon", 1e-3}}},
      {Op::kLayerNorm, {In({2, 3, 4}), In({4}), In({4})}, {{"axis", kTwo}, {"epsilon", 1e-3}}},
      {Op::kRmsNorm, {In({2, 3, 4})}, {{"axis", kTwo}, {"epsilon", 1e-3}}},
      {Op::kRmsNorm, {In({2, 3, 4}), In({3, 4})}, {{"axis", kOne}, {"epsilon", 1e-3}}},
      {Op::kGroupNorm, {In({2, 4, 5}), In({4}), In({4})}, {{"groups", kTwo}, {"epsilon", 1e-3}}},
      {Op::kGroupNorm, {In({2, 4, 5}), In({4}), In({4})}, {{"groups", int64_t{4}}, {"epsilon", 1e-3}}},
      {Op::kGroupNorm,
       {In(DType::kF64, {2, 4, 5}), In(DType::kF64, {4}), In(DType::kF64, {4})},
       {{"groups", kTwo}, {"epsilon", 1e-3}}},
      {Op::kSoftmax, {In({2, 3, 4})}, {{"axis", kOne}}},
      {Op::kLogSoftmax, {In({2, 3, 4})}, {{"axis", kTwo}}},
      {Op::kDet, {In({2, 3, 3})}},
  };
}

std::vector<Case> SamplingCases() {
  const Attributes twice = {{"sizes", Ints{1, 2, 8, 6}}, {"scales", Floats{1, 1, 2, 2}}};
  Attributes odd = {{"sizes", Ints{1, 2, 5, 4}}, {"scales", Floats{1, 1, 1.25, 1.5}}};
  odd.Set("mode", std::string("linear"));
  Attributes crop = {{"sizes", Ints{1, 2, 3, 3}}, {"scales", Floats{1, 1, 0.75, 1}}};
  crop.Set("roi", Floats{0, 0, 0.25, 0, 1, 1, 0.75, 1});
  crop.Set("coordinate_mode", std::string("tf_crop_and_resize"));
  crop.Set("mode", std::string("linear"));
  return {
      {Op::kResize, {In({1, 2, 4, 3})}, twice},
      {Op::kResize, {In({1, 2, 4, 3})}, odd},
      {Op::kResize, {In({1, 2, 4, 3})}, crop},
      {Op::kGridSample, {In({1, 2, 4, 4}), In({1, 3, 3, 2})}, {{"mode", std::string("cubic")}}},
      {Op::kRoiAlign,
       {In({2, 3, 6, 6}), Is(Tensor::FromFloats(std::vector<float>{0, 0, 4, 4, 1, 1, 5, 3}, {2, 4})),
        Is(Tensor::FromInts(Ints{0, 1}))},
       {{"height", kTwo}, {"width", kTwo}, {"sampling_ratio", kTwo}}},
      {Op::kNonZero, {In(kI32, {3, 4})}},
      {Op::kNonMaxSuppression,
       {Positive({1, 6, 4}), Positive({1, 2, 6})},
       {{"max_per_class", int64_t{3}}, {"iou_threshold", 0.5}, {"score_threshold", 0.25}}},
      {Op::kCompress, {In({3, 4}), In(kBool, {3})}, {{"axis", int64_t{0}}}},
      {Op::kUnique, {In(kI32, {8})}},
  };
}

void ExpectRoundTrip(const Case& test) {
  SCOPED_TRACE(OpName(test.op));
  Graph graph("case");
  std::vector<Value*> inputs;
  for (const Operand& operand : test.operands) {
    if (!operand.is_present) {
      inputs.push_back(nullptr);
    } else if (operand.constant) {
      inputs.push_back(graph.AddConstant(*operand.constant));
    } else {
      inputs.push_back(graph.AddInput(absl::StrCat("x", inputs.size()), operand.type));
    }
  }
  const auto node = graph.Add(test.op, inputs, test.attributes, "node", nullptr, {}, test.outputs);
  ASSERT_TRUE(node.ok()) << node.status();
  for (int i = 0; i < (*node)->num_outputs(); ++i) graph.AddOutput(absl::StrCat("y", i), (*node)->output(i));
  ExpectRoundTrip(graph);
}

std::vector<Case> AllCases() {
  using Cases = std::vector<Case> (*)();
  constexpr Cases kFamilies[] = {ElementwiseCases, MovementCases, ReductionCases,     ContractionCases,
                                 QuantizedCases,   WindowCases,   NormalizationCases, SamplingCases};
  std::vector<Case> all;
  for (const Cases family : kFamilies) {
    for (const Case& test : family()) all.push_back(test);
  }
  return all;
}

TEST(OnnxExport, EveryOperatorComesBack) {
  for (const Case& test : AllCases()) ExpectRoundTrip(test);
}

TEST(OnnxExport, EveryOperatorHasACase) {
  std::set<Op> seen = {Op::kConstant, Op::kIf, Op::kLoop, Op::kFused};  // these have their own tests
  for (const Case& test : AllCases()) seen.insert(test.op);
  for (const OpInfo& info : AllOps()) {
    EXPECT_EQ(seen.contains(info.op),
              onnx_export::FindRow(info.op).write != nullptr || info.op == Op::kConstant)
        << info.name;
  }
}

}  // namespace
}  // namespace attune
