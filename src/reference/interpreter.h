// The reference interpreter: every operator computed the obvious way, in double. It is what compiled code,
// passes and importers are checked against, and what folds constants.
//
// Floats of all widths are read exactly, computed in double and rounded once per operator; integers are
// exact and wrap. An index out of range is an error.
//
// Values are plain, whatever their layout: layouts say where elements lie, not what they are. So a graph
// with blocked values runs like one without, and layout_transform is the identity.
#ifndef ATTUNE_REFERENCE_INTERPRETER_H_
#define ATTUNE_REFERENCE_INTERPRETER_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/bounded_executor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

// Uses all cores within convolutions and matrix products. Stateless, safe from several threads.
class Interpreter : public BoundedExecutor {
 public:
  // Frees each value after its last use. Errors name the node; a value of over 2^34 bytes is one, as is an
  // input that does not have its graph input's type.
  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                          const std::vector<Tensor>& inputs) const override;
  absl::StatusOr<std::vector<Tensor>> RunWithin(const Graph& graph, const std::vector<Tensor>& inputs,
                                                WorkBudget& budget) const override;
};

// The outputs of one node. `inputs` are as many as the node's, Tensor() for an absent optional one. Errors
// name the operator.
absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Node& node, const std::vector<Tensor>& inputs);

// Evaluates the nodes of a run instead of EvaluateNode.
using NodeEvaluator =
    std::function<absl::StatusOr<std::vector<Tensor>>(const Node& node, const std::vector<Tensor>& inputs)>;

// Runs `graph` as Interpreter does, but for the types of the inputs, which it does not check. `evaluate` gets
// every node, those of regions too, in the order of their execution; if, loop and fused only run theirs. Each
// node, and an if, loop or fused each time that it runs a region, is taken from `budget`, if that is not
// nullptr.
absl::StatusOr<std::vector<Tensor>> RunGraph(const Graph& graph, std::vector<Tensor> inputs,
                                             const NodeEvaluator& evaluate, WorkBudget* budget = nullptr);

// Whether EvaluateMagnitude knows `op`.
bool IsContraction(Op op);

// For a contraction of floats (conv, conv_transpose, deform_conv, matmul, attention, reduce_sum), the sum of
// the absolute values of all products (and bias) that make each output element: f64, of the output's shape.
// An implementation with unit roundoff u errs by at most γ u times that, γ depending on its order of
// summation (Higham: Accuracy and stability of numerical algorithms, 2002, section 3.1). For attention the
// error of the scores, which the exponential amplifies, is accounted for.
absl::StatusOr<Tensor> EvaluateMagnitude(const Node& node, const std::vector<Tensor>& inputs);

}  // namespace attune

#endif  // ATTUNE_REFERENCE_INTERPRETER_H_
