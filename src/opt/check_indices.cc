// Indices that are data are checked when the network runs: by a node of its own before the gather or scatter,
// not within its kernel, so that kernels, and what has been measured of them, do not depend on it.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "graph/index_bounds.h"
#include "opt/integer_range.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

class Checker {
 public:
  // `owner`: of the region that the graph is; nullptr if it is none.
  Checker(Graph& graph, const Node* owner) : graph_(graph), in_region_(owner != nullptr) {
    if (owner == nullptr || owner->op() != Op::kLoop) return;
    const Tensor* trips = owner->input(0)->constant();
    const int64_t most = trips == nullptr ? INT64_MAX : std::max<int64_t>(trips->ToInt(0), 1);
    ranges_.Assume(graph.inputs()[0].get(), {0, most - 1});  // the iteration
  }

  absl::StatusOr<bool> Run() {
    for (auto it = graph_.nodes().begin(); it != graph_.nodes().end();) {
      Node* node = it++->get();
      const std::optional<IndexOperand> operand = IndexOperandOf(*node);
      if (!operand.has_value()) continue;
      ASSIGN_OR_RETURN(const bool is_safe, IsInRange(*node, *operand));
      if (node->op() == Op::kCheckIndex) {
        if (is_safe) superfluous_.push_back(node);
      } else if (!is_safe) {
        InsertCheck(node, *operand);
      }
    }
    // Only now, because the ranges are known by the addresses of values.
    for (Node* node : superfluous_) ReplaceNode(graph_, node, node->input(0));
    return changed_ || !superfluous_.empty();
  }

 private:
  // Whether the indices are proven to be in range. An error if one never is.
  absl::StatusOr<bool> IsInRange(const Node& node, const IndexOperand& operand) {
    const Value* indices = node.input(operand.input);
    const IndexBounds& bounds = operand.bounds;
    if (const Tensor* constant = indices->constant(); constant != nullptr) {
      const std::optional<IndexFault> fault = FindIndexFault(*constant, bounds);
      if (!fault.has_value() || in_region_) return !fault.has_value();
      return InvalidInput(ReaderOf(node), ": index ", fault->index, " is outside an axis of size ",
                          fault->size);
    }
    if (indices->type().num_elements() == 0) return true;
    const bool one_size = bounds.sizes.size() == 1;
    for (size_t i = 0; i < bounds.sizes.size(); ++i) {
      const int64_t size = bounds.sizes[i];
      const IntegerRange range =
          one_size ? ranges_.Of(indices)
                   : ranges_.Of(indices, indices->type().rank() - 1, static_cast<int64_t>(i));
      if (!range.IsWithin(bounds.Least(size), size - 1)) return false;
    }
    return true;
  }

  // Nodes that read the same indices within the same bounds share a check, which names the first of them.
  void InsertCheck(Node* node, const IndexOperand& operand) {
    Value* indices = node->input(operand.input);
    Value*& checked = checked_[{indices, operand.bounds}];
    if (checked == nullptr) {
      checked = AddBefore(graph_, node, Op::kCheckIndex, {indices},
                          {{"sizes", operand.bounds.sizes},
                           {"negative", int64_t{operand.bounds.negative}},
                           {"reader", ReaderOf(*node)}});
    }
    node->SetInput(operand.input, checked);
    changed_ = true;
  }

  static std::string ReaderOf(const Node& node) {
    if (node.op() == Op::kCheckIndex) return node.attrs().String("reader");
    const std::string& name = node.name().empty() ? node.output()->name() : node.name();
    if (node.op() == Op::kReverseSequence)
      return LengthReader(OpName(node.op()), name, IndexOperandOf(node)->bounds.sizes[0] - 1);
    return IndexReader(OpName(node.op()), name);
  }

  Graph& graph_;
  const bool in_region_;  // which a run may never reach
  IntegerRanges ranges_;
  std::map<std::pair<Value*, IndexBounds>, Value*> checked_;
  std::vector<Node*> superfluous_;
  bool changed_ = false;
};

bool RemoveCheck(Graph& graph, Node* node) {
  if (node->op() != Op::kCheckIndex) return false;
  ReplaceNode(graph, node, node->input(0));
  return true;
}

}  // namespace

absl::StatusOr<bool> CheckIndicesPass(Graph& graph, const PassContext& context) {
  if (context.Parameter("unchecked") != 0) return ForEachNode(graph, RemoveCheck);
  return Checker(graph, context.owner).Run();
}

}  // namespace attune
