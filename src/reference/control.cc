// Operators with regions.
#include "base/status.h"
#include "reference/kernels.h"

namespace attune::reference {

Outputs EvaluateIf(const Node& node, Inputs inputs) {
  const bool condition = inputs[0].ToInt(0) != 0;
  return RunRegion(node.region(condition ? 0 : 1), std::vector<Tensor>(inputs.begin() + 1, inputs.end()));
}

Outputs EvaluateLoop(const Node& node, Inputs inputs) {
  const int64_t trip_count = inputs[0].ToInt(0);
  bool condition = inputs[1].ToInt(0) != 0;
  std::vector<Tensor> carried(inputs.begin() + 2, inputs.end());
  for (int64_t i = 0; i < trip_count && condition; ++i) {
    std::vector<Tensor> arguments = {Tensor::FromInts({{i}}).Reshaped({}),
                                     Tensor::Scalar(DType::kBool, condition)};
    for (Tensor& value : carried) arguments.push_back(std::move(value));
    ASSIGN_OR_RETURN(carried, RunRegion(node.region(), std::move(arguments)));
    condition = carried.front().ToInt(0) != 0;
    carried.erase(carried.begin());
  }
  return carried;
}

Outputs EvaluateFused(const Node& node, Inputs inputs) {
  return RunRegion(node.region(), std::vector<Tensor>(inputs.begin(), inputs.end()));
}

}  // namespace attune::reference
