#include "plan/loop_control.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<Graph> LoopControl() {
  auto region = std::make_unique<Graph>("loop_control");
  Graph graph("loop_control");
  std::vector<Value*> operands;
  for (const DType dtype : {DType::kI64, DType::kI64, DType::kBool}) {
    const TensorType type(dtype, Shape());
    region->AddInput(absl::StrCat("v", operands.size()), type);
    operands.push_back(graph.AddInput(absl::StrCat("v", operands.size()), type));
  }
  const auto& inputs = region->inputs();
  Value* counts = region->Make(Op::kLess, {inputs[1].get(), inputs[0].get()});
  region->AddOutput("runs", region->Make(Op::kAnd, {counts, inputs[2].get()}));
  Value* one = region->AddConstant(Tensor::FromInts(std::vector<int64_t>{1}).Reshaped({}));
  region->AddOutput("next", region->Make(Op::kAdd, {inputs[1].get(), one}));
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(region));
  RETURN_IF_ERROR(
      graph.Add(Op::kFused, std::move(operands), {}, "loop_control", nullptr, std::move(regions), 2)
          .status());
  return graph;
}

}  // namespace attune
