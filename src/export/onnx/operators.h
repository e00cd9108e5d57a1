// How each canonical operator is written: the one table.
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

// Writes a node. An error says what ONNX lacks for it, without a subject.
using OperatorWriter = absl::Status (*)(NodeContext& context, const OperatorRow& row);

constexpr unsigned TypeBit(DType dtype) { return 1u << static_cast<unsigned>(dtype); }

struct OperatorRow {
  Op op;
  // ONNX's operator, or where `write` is nullptr, why there is none.
  std::string_view name;
  // The element types that ONNX has it for, as bits.
  unsigned types;
  OperatorWriter write;
  // For WriteSame: attributes that are handed on, "ours:theirs" or one name for both, separated by spaces.
  std::string_view attributes = "";
  int64_t opset = kLeastOpset;
  int typed_input = 0;  // the one that `types` is about
};

const OperatorRow& FindRow(Op op);

// An operator of the same inputs and outputs.
absl::Status WriteSame(NodeContext& context, const OperatorRow& row);

// The attributes that the node has of those that the row hands on, by their names in ONNX.
Attributes HandedOn(const NodeContext& context, const OperatorRow& row);

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_OPERATORS_H_
