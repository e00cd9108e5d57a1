// The reference interpreter: computes every operator in the obvious way, in double. Compiled code, passes
// and importers are checked against it, and it folds constants.
//
// Floats of all widths are read exactly, computed in double and rounded once per operator; integers are
// exact and wrap. An index out of range is an error.
//
// Values are row-major, whatever their layout: layouts define where elements are in memory, not what they
// are. So a graph with blocked values runs like one without, and layout_transform is the identity.
#ifndef ATTUNE_REFERENCE_INTERPRETER_H_
#define ATTUNE_REFERENCE_INTERPRETER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/bounded_executor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

// Uses all cores for convolutions and matrix products. Stateless and thread safe.
class Interpreter : public BoundedExecutor {
 public:
  // Frees each value after its last use. Errors name the node. It is an error if a value is larger than
  // 2^34 bytes, or an input does not have the type of the graph's input.
  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                          const std::vector<Tensor>& inputs) const override;
  absl::StatusOr<std::vector<Tensor>> RunWithin(const Graph& graph, const std::vector<Tensor>& inputs,
                                                WorkBudget& budget) const override;
};

// The outputs of one node. `inputs` has one tensor for each of the node's inputs, Tensor() for an absent
// optional one. Errors name the operator.
absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Node& node, const std::vector<Tensor>& inputs);

// Replaces EvaluateNode for the nodes of a run.
using NodeEvaluator =
    std::function<absl::StatusOr<std::vector<Tensor>>(const Node& node, const std::vector<Tensor>& inputs)>;

// Runs `graph` like Interpreter, but does not check the types of the inputs. `evaluate` is called for every
// node, including those in regions, in the order of their execution; if, loop and fused only run theirs. If
// `budget` is not null, it pays for each node, and for each run of a region by an if, loop or fused.
absl::StatusOr<std::vector<Tensor>> RunGraph(const Graph& graph, std::vector<Tensor> inputs,
                                             const NodeEvaluator& evaluate, WorkBudget* budget = nullptr);

// Whether EvaluateMagnitude supports `op`.
bool IsContraction(Op op);

// For a contraction of floats (conv, conv_transpose, deform_conv, matmul, attention, reduce_sum): the sum
// of the absolute values of all products (and the bias) in each output element, as f64 in the output's
// shape. An implementation with unit roundoff u has an error of at most γ u times that sum, where γ depends
// on its order of summation (Higham: Accuracy and stability of numerical algorithms, 2002, section 3.1).
// For attention, the sum includes the error of the scores, which the exponential amplifies.
absl::StatusOr<Tensor> EvaluateMagnitude(const Node& node, const std::vector<Tensor>& inputs);

}  // namespace attune

#endif  // ATTUNE_REFERENCE_INTERPRETER_H_
