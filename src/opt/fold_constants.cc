#include <algorithm>

#include "graph/work.h"
#include "opt/passes.h"
#include "opt/quantization.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

struct Limits {
  int64_t max_bytes;
  int64_t max_growth;
  int64_t max_macs;
};

// An upper bound, as a double since it may overflow an integer: each element of a contraction's result
// takes at most as many multiply-adds as the smaller operand has elements; for a matrix product, as many as
// a row of the first operand has.
double MultiplyAdds(const Node& node) {
  if (GetOpInfo(node.op()).category != OpCategory::kContraction) return 0;
  const TensorType& first = node.input(0)->type();
  int64_t terms = std::min(first.num_elements(), node.input(1)->type().num_elements());
  if (IsMatMul(node.op()) && first.rank() >= 2)
    terms = first.shape()[static_cast<size_t>(first.rank() - (node.attrs().Bool("transpose_a") ? 2 : 1))];
  return static_cast<double>(terms) * static_cast<double>(node.output()->type().num_elements());
}

// A budget for all foldings of a graph together: repeated foldings of the same constants multiply what each
// one may cost. Transposing, scaling and shifting weights costs a few elements for each weight.
class Budget {
 public:
  explicit Budget(const Graph& graph) {
    constexpr double kTimes = 64;
    for (const auto& node : graph.nodes()) {
      if (node->op() != Op::kConstant) continue;
      work_ += kTimes * static_cast<double>(node->output()->type().num_elements());
      bytes_ += kTimes * static_cast<double>(OutputBytes(*node));
    }
  }

  // Takes the cost of folding `node`; false, and takes nothing, where less is left.
  bool Take(const Node& node) {
    double work = MultiplyAdds(node);
    for (const Value* input : node.inputs()) {
      if (input != nullptr) work += static_cast<double>(input->type().num_elements());
    }
    const auto bytes = static_cast<double>(OutputBytes(node));
    if (work > work_ || bytes > bytes_) return false;
    work_ -= work;
    bytes_ -= bytes;
    return true;
  }

 private:
  double work_ = 0x1p32;   // elements read, multiply-adds
  double bytes_ = 0x1p28;  // of results
};

// Weights of 8 bits stay dequantizations: integer_products decides which of them are multiplied in floats.
bool IsQuantizedWeight(const Node& node) {
  return node.op() == Op::kDequantize && Is8Bit(node.input(0)->type().dtype) &&
         node.output()->type().rank() > 0;
}

bool IsFoldable(const Node& node, const Limits& limits) {
  if (node.op() == Op::kConstant || node.num_regions() > 0 || !HasConstantInputs(node) ||
      IsQuantizedWeight(node)) {
    return false;
  }
  int64_t input_elements = 0, input_bytes = 0;
  for (const Value* input : node.inputs()) {
    if (input == nullptr) continue;
    input_elements += input->constant()->num_elements();
    input_bytes += input->type().num_elements() * DTypeSize(input->type().dtype);
  }
  int64_t output_bytes = 0;
  int64_t output_elements = 0;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const TensorType& type = node.output(i)->type();
    if (!type.is_static() || !type.layout.is_plain()) return false;
    output_elements += type.num_elements();
    output_bytes += type.num_elements() * DTypeSize(type.dtype);
  }
  // Weights in another order replace what is there already, however large.
  return output_bytes <= std::max(limits.max_bytes,
                                  GetOpInfo(node.op()).category == OpCategory::kMovement ? input_bytes : 0) &&
         output_elements - input_elements <= limits.max_growth &&
         MultiplyAdds(node) <= static_cast<double>(limits.max_macs);
}

}  // namespace

absl::StatusOr<bool> FoldConstantsPass(Graph& graph, const PassContext& context) {
  const Limits limits{context.Parameter("max_bytes"), context.Parameter("max_growth"),
                      context.Parameter("max_macs")};
  Budget budget(graph);
  bool changed = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    if (!IsFoldable(*node, limits) || !budget.Take(*node)) continue;
    // Evaluation fails for an index out of range, say: what compiled code does then is not decided here.
    const std::string what = absl::StrCat(OpName(node->op()), " '", node->name(), "'");
    const absl::Status folded = FoldNode(graph, node, context.evaluate);
    changed |= folded.ok();
    if (!folded.ok()) context.log(absl::StrCat(what, " is not folded: ", folded.message()));
  }
  return changed;
}

}  // namespace attune
