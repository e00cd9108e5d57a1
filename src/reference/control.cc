// Operators with regions.
#include "base/status.h"
#include "reference/kernels.h"

namespace attune::reference {

namespace {

Outputs EvaluateIf(const Node& node, Inputs inputs, const RegionRunner& run) {
  const bool condition = inputs[0].ToInt(0) != 0;
  return run(node.region(condition ? 0 : 1), std::vector<Tensor>(inputs.begin() + 1, inputs.end()));
}

Outputs EvaluateLoop(const Node& node, Inputs inputs, const RegionRunner& run) {
  const int64_t trip_count = inputs[0].ToInt(0);
  bool condition = inputs[1].ToInt(0) != 0;
  std::vector<Tensor> carried(inputs.begin() + 2, inputs.end());
  for (int64_t i = 0; i < trip_count && condition; ++i) {
    std::vector<Tensor> arguments = {Tensor::FromInts({{i}}).Reshaped({}),
                                     Tensor::Scalar(DType::kBool, condition)};
    for (Tensor& value : carried) arguments.push_back(std::move(value));
    ASSIGN_OR_RETURN(carried, run(node.region(), std::move(arguments)));
    condition = carried.front().ToInt(0) != 0;
    carried.erase(carried.begin());
  }
  return carried;
}

}  // namespace

Outputs EvaluateRegions(const Node& node, Inputs inputs, const RegionRunner& run) {
  switch (node.op()) {
    case Op::kIf:
      return EvaluateIf(node, inputs, run);
    case Op::kLoop:
      return EvaluateLoop(node, inputs, run);
    default:
      return run(node.region(), std::vector<Tensor>(inputs.begin(), inputs.end()));
  }
}

Outputs EvaluateControl(const Node& node, Inputs inputs) { return EvaluateRegions(node, inputs, RunRegion); }

}  // namespace attune::reference
