// Inference on random inputs and attributes: every operator gives an error or valid types.
#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "graph/graph.h"
#include "graph/infer.h"

namespace attune::infer {
namespace {

template <typename T>
const T& Choose(Random& random, const std::vector<T>& from) {
  return from[static_cast<size_t>(random.Integer(0, static_cast<int64_t>(from.size()) - 1))];
}

int64_t AnyInt(Random& random) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  static const std::vector<int64_t> kEdges = {
      kMin, kMin + 1, -(int64_t{1} << 40), -2, -1, int64_t{1} << 31, int64_t{1} << 40, kMax - 1, kMax};
  return random.Integer(0, 3) == 0 ? Choose(random, kEdges) : random.Integer(0, 4);
}

TensorType AnyType(Random& random) {
  TensorType type;
  // Mostly f32, so that operators often get as far as the shapes.
  type.dtype =
      random.Integer(0, 1) == 0 ? DType::kF32 : static_cast<DType>(random.Integer(0, kNumDTypes - 1));
  for (int64_t i = random.Integer(0, 5); i > 0; --i) {
    const int64_t size = random.Integer(0, 19) == 0 ? AnyInt(random) : random.Integer(0, 4);
    type.dims.push_back(random.Integer(0, 9) == 0 ? Dim("s", size) : Dim(size));
  }
  if (random.Integer(0, 9) == 0)
    type.layout = {static_cast<int>(random.Integer(-1, 5)), static_cast<int>(random.Integer(0, 16))};
  return type;
}

Attribute AnyAttribute(Random& random, AttributeKind kind) {
  Ints ints(static_cast<size_t>(random.Integer(0, 6)));
  for (int64_t& value : ints) value = AnyInt(random);
  switch (kind) {
    case AttributeKind::kInt:
      return AnyInt(random);
    case AttributeKind::kFloat:
      return Choose(random, Floats{0, 1, -1, 1e300, std::numeric_limits<double>::quiet_NaN()});
    case AttributeKind::kString:
      return Choose(random,
                    std::vector<std::string>{"linear", "nearest", "none", "add", "reflect", "constant", ""});
    case AttributeKind::kInts:
      return ints;
    case AttributeKind::kFloats:
      return Floats(ints.begin(), ints.end());
    case AttributeKind::kDType:
      return static_cast<DType>(random.Integer(0, kNumDTypes - 1));
    case AttributeKind::kNumber:
      return Choose(random,
                    std::vector<ExactNumber>{0, -1, 0.5, 1e300, std::numeric_limits<uint64_t>::max()});
    case AttributeKind::kTensor:
      return Tensor(DType::kF32, {1, 2});
  }
}

TEST(InferHostile, EveryOperatorGivesAnErrorOrValidTypes) {
  Random random(17);
  for (const OpInfo& info : AllOps()) {
    int valid = 0;
    for (int round = 0; round < 400; ++round) {
      Graph graph;
      std::vector<Value*> inputs;
      const int max_inputs = info.max_inputs < 0 ? info.min_inputs + 2 : info.max_inputs;
      for (int64_t i = random.Integer(info.min_inputs, max_inputs); i > 0; --i) {
        inputs.push_back(graph.AddInput("", AnyType(random)));
      }
      Attributes attrs;
      for (const AttributeInfo& attribute : info.attributes) {
        if (!attribute.required && random.Integer(0, 1) == 0) continue;
        attrs.Set(std::string(attribute.name), AnyAttribute(random, attribute.kind));
      }
      const absl::StatusOr<Node*> node = graph.Add(info.op, inputs, attrs);
      if (!node.ok()) {
        EXPECT_TRUE(node.status().code() == absl::StatusCode::kInvalidArgument ||
                    node.status().code() == absl::StatusCode::kUnimplemented)
            << node.status();
        continue;
      }
      ++valid;
      for (int i = 0; i < (*node)->num_outputs(); ++i)
        EXPECT_TRUE(CheckType((*node)->output(i)->type()).ok());
    }
    if (info.category == OpCategory::kUnary) EXPECT_GT(valid, 0) << info.name;
  }
}

}  // namespace
}  // namespace attune::infer
