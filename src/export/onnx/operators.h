// The one table of how each canonical operator is written.
#ifndef ATTUNE_EXPORT_ONNX_OPERATORS_H_
#define ATTUNE_EXPORT_ONNX_OPERATORS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "export/onnx/graph_writer.h"
#include "export/onnx/node_context.h"
#include "graph/op.h"

namespace attune::onnx_export {

struct OperatorRow;

// Writes a node. An error says what ONNX lacks, without a subject.
using OperatorWriter = absl::Status(NodeContext& context, const OperatorRow& row);

constexpr unsigned TypeBit(DType dtype) { return 1u << static_cast<unsigned>(dtype); }

struct OperatorRow {
  Op op;
  // The operator's name in ONNX, or if `write` is nullptr, why there is none.
  std::string_view name;
  // The element types that ONNX supports for it, as bits.
  unsigned types;
  OperatorWriter* write;
  // For WriteSame: the attributes to copy, each as "ours:theirs" or one name for both, separated by spaces.
  std::string_view attributes = "";
  int64_t opset = kLeastOpset;
  int typed_input = 0;  // index of the input that `types` constrains
};

// The operator's row, or one without a writer, whose `op` means nothing.
const OperatorRow& FindRow(Op op);

// Writes a single operator with the same inputs and outputs.
absl::Status WriteSame(NodeContext& context, const OperatorRow& row);

// The node's attributes that the row lists, with their names in ONNX.
Attributes HandedOn(const NodeContext& context, const OperatorRow& row);

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_OPERATORS_H_
