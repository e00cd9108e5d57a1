#include "absl/strings/str_cat.h"
#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

bool IsCarriable(const Value& v) {
  return IsFloat(v.type().dtype) && v.type().is_static() && v.type().num_elements() < 4096;
}

Value* Carriable(GraphMaker& maker) {
  return maker.Any(IsCarriable, [&] { return maker.New(maker.FloatType(), maker.AnyShape(3), 0); });
}

// Adds a few elementwise operators on `x` to a region; `other`, which has x's type, may be among their
// operands. Results are at most about as large as the inputs.
Value* AddElementwise(GraphMaker& maker, Graph& region, Value* x, Value* other) {
  for (int64_t count = maker.Pick(4); count > 0; --count) {
    const Op unary = maker.OneOf({Op::kTanh, Op::kRelu, Op::kNeg, Op::kSigmoid, Op::kIdentity, Op::kAbs});
    const Op binary = maker.OneOf({Op::kMax, Op::kMin});
    x = maker.OneIn(2) ? region.Make(unary, {x}) : region.Make(binary, {x, other});
  }
  return x;
}

std::unique_ptr<Graph> MakeBranch(GraphMaker& maker, const std::vector<Value*>& captured) {
  auto region = std::make_unique<Graph>("branch");
  std::vector<Value*> inputs;
  for (const Value* value : captured)
    inputs.push_back(region->AddInput(absl::StrCat("i", inputs.size()), value->type()));
  Value* out = AddElementwise(maker, *region, inputs.front(), inputs.front());
  region->AddOutput("o0", out);
  if (inputs.size() > 1) region->AddOutput("o1", AddElementwise(maker, *region, inputs[1], inputs[1]));
  return region;
}

}  // namespace

Value* AddIf(GraphMaker& maker, Op op) {
  const auto is_condition = [](const Value& v) { return v.type() == TensorType(DType::kBool, Shape{}); };
  Value* condition = maker.Any(is_condition, [&] { return maker.New(DType::kBool, {}, maker.Pick(3)); });
  std::vector<Value*> captured = {Carriable(maker)};
  if (maker.OneIn(3)) captured.push_back(Carriable(maker));
  std::vector<std::unique_ptr<Graph>> regions;
  for (int i = 0; i < 2; ++i) regions.push_back(MakeBranch(maker, captured));
  std::vector<Value*> inputs = {condition};
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  return maker.Add(op, inputs, {}, static_cast<int>(captured.size()), std::move(regions));
}

Value* AddLoop(GraphMaker& maker, Op op) {
  Value* x = Carriable(maker);
  Value* other = maker.Like(x->type());
  auto body = std::make_unique<Graph>("body");
  Value* iteration = body->AddInput("i", TensorType(DType::kI64, Shape{}));
  Value* condition = body->AddInput("c", TensorType(DType::kBool, Shape{}));
  Value* state = body->AddInput("s", x->type());
  Value* kept = body->AddInput("k", x->type());
  Value* next = AddElementwise(maker, *body, state, kept);
  if (maker.OneIn(3)) {
    condition = body->Make(Op::kLess, {iteration, body->AddConstant(Tensor::Scalar(DType::kI64, 2))});
  }
  body->AddOutput("c", condition);
  body->AddOutput("s", next);
  body->AddOutput("k", maker.OneIn(3) ? state : kept);
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(body));
  Value* trips = maker.New(DType::kI64, {}, {.low = 0, .high = 4}, maker.Pick(4));
  Value* start =
      maker.OneIn(6) ? maker.New(DType::kBool, {}, 1) : maker.Constant(Tensor::Scalar(DType::kBool, 1));
  return maker.Add(op, {trips, start, x, other}, {}, 2, std::move(regions));
}

}  // namespace attune::graph_fuzz
