// Moves factors of the channels of a feature map, such as squeeze and excitation's, to the weights of the
// convolution that reads it.
//
// Multiplying the feature map takes a kernel that reads and writes all of it. Each weight meets one channel
// only, so the weights can have the factors instead, and there are far fewer of them if feature maps are
// large.
#include <algorithm>
#include <memory>

#include "base/status.h"
#include "lower/flatten.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

// The convolution of a group in which all other nodes are elementwise, or null.
Node* OnlyConv(const Graph& region) {
  Node* conv = nullptr;
  for (const auto& node : region.nodes()) {
    if (node->op() == Op::kConstant || IsElementwise(node->op())) continue;
    if (conv != nullptr || node->op() != Op::kConv) return nullptr;
    conv = node.get();
  }
  return conv;
}

bool IsF32(const Value* value) { return value->type().dtype == DType::kF32; }

// Which operand of a product has a factor for each channel of the other one; -1 if none has.
int FactorsOf(const Node& node) {
  const TensorType& out = node.output()->type();
  if (node.op() != Op::kMul || out.rank() != 4 || !out.is_static() || !IsF32(node.output())) return -1;
  for (int i : {0, 1}) {
    const TensorType &map = node.input(1 - i)->type(), &factors = node.input(i)->type();
    const bool by_channel = map == out && factors.rank() == 4 && factors.dims[1] == out.dims[1] &&
                            factors.num_elements() == out.dims[1].size;
    if (by_channel && IsF32(node.input(i))) return i;
  }
  return -1;
}

}  // namespace

bool MayScaleWeights(const Graph& first, const Graph& second, int input) {
  const Node* conv = OnlyConv(second);
  if (conv == nullptr || conv->attrs().Int("group", 1) != 1 || !conv->input(1)->is_input() ||
      conv->input(1)->users().size() != 1 || !IsF32(conv->input(1)))
    return false;
  const Value* map = second.inputs()[static_cast<size_t>(input)].get();
  if (conv->input(0) != map || conv->input(0)->users().size() != 1) return false;
  return first.nodes().size() == 1 && FactorsOf(*first.nodes().front()) >= 0;
}

// Replaces the product that the convolution reads by a product of its weights.
absl::Status MoveFactorsToWeights(Graph& merged) {
  Node* const conv = OnlyConv(merged);
  Node* const product = conv->input(0)->producer();
  const int factors = FactorsOf(*product);
  ASSIGN_OR_RETURN(Node* const scaled, merged.Add(Op::kMul, {conv->input(1), product->input(factors)}, {},
                                                  product->name(), conv));
  conv->SetInput(0, product->input(1 - factors));
  conv->SetInput(1, scaled->output());
  merged.Erase(product);
  return absl::OkStatus();
}

absl::StatusOr<double> ScaledWeightsSavings(const MergedGroups& groups, const Workload& workload,
                                            const Target& target) {
  ASSIGN_OR_RETURN(const double alone, PredictCycles(*FlatCopy(groups.second), target));
  // The product reads a feature map from the cache that holds it, and writes another.
  const int64_t bytes = groups.first.outputs()[0].value->type().num_physical_bytes();
  const double product = 2 * CyclesThroughCaches(bytes, target);
  const Config config = ConvDirectDefault(workload, target);
  return alone + product - ConvDirectCost(workload, config, target);
}

}  // namespace attune
