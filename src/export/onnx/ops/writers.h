// The functions that write operators, by file. operators.cc says which operator each is for.
#ifndef ATTUNE_EXPORT_ONNX_OPS_WRITERS_H_
#define ATTUNE_EXPORT_ONNX_OPS_WRITERS_H_

#include "export/onnx/operators.h"

namespace attune::onnx_export {

// elementwise.cc
absl::Status WriteSilu(NodeContext& c, const OperatorRow& row);
absl::Status WriteClip(NodeContext& c, const OperatorRow& row);
absl::Status WriteLogical(NodeContext& c, const OperatorRow& row);  // of bools, or bitwise
absl::Status WriteMod(NodeContext& c, const OperatorRow& row);
absl::Status WriteShift(NodeContext& c, const OperatorRow& row);

// movement.cc
absl::Status WriteReshape(NodeContext& c, const OperatorRow& row);
absl::Status WriteBroadcast(NodeContext& c, const OperatorRow& row);
absl::Status WriteSlice(NodeContext& c, const OperatorRow& row);
absl::Status WritePad(NodeContext& c, const OperatorRow& row);
absl::Status WriteReverseSequence(NodeContext& c, const OperatorRow& row);
absl::Status WriteWithLongIndices(NodeContext& c, const OperatorRow& row);  // input 1 is i64
absl::Status WriteNonMaxSuppression(NodeContext& c, const OperatorRow& row);

// contraction.cc
absl::Status WriteMatMul(NodeContext& c, const OperatorRow& row);  // also for integers
absl::Status WriteAttention(NodeContext& c, const OperatorRow& row);
absl::Status WriteDeformConv(NodeContext& c, const OperatorRow& row);

// quantized.cc
absl::Status WriteQuantize(NodeContext& c, const OperatorRow& row);
absl::Status WriteDequantize(NodeContext& c, const OperatorRow& row);
absl::Status WriteRequantize(NodeContext& c, const OperatorRow& row);

// reduction.cc
absl::Status WriteReduce(NodeContext& c, const OperatorRow& row);
absl::Status WriteScan(NodeContext& c, const OperatorRow& row);
absl::Status WriteTopK(NodeContext& c, const OperatorRow& row);
absl::Status WriteLayerNorm(NodeContext& c, const OperatorRow& row);
absl::Status WriteRmsNorm(NodeContext& c, const OperatorRow& row);
absl::Status WriteGroupNorm(NodeContext& c, const OperatorRow& row);

// sampling.cc
absl::Status WriteCol2Im(NodeContext& c, const OperatorRow& row);
absl::Status WriteResize(NodeContext& c, const OperatorRow& row);
absl::Status WriteRoiAlign(NodeContext& c, const OperatorRow& row);

// control.cc
absl::Status WriteIf(NodeContext& c, const OperatorRow& row);
absl::Status WriteLoop(NodeContext& c, const OperatorRow& row);
absl::Status WriteFused(NodeContext& c, const OperatorRow& row);

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_OPS_WRITERS_H_
