// The functions that write operators, by file. operators.cc says which operator each is for.
#ifndef ATTUNE_EXPORT_ONNX_OPS_WRITERS_H_
#define ATTUNE_EXPORT_ONNX_OPS_WRITERS_H_

#include "export/onnx/operators.h"

namespace attune::onnx_export {

// elementwise.cc. WriteLogical: of bools, or bitwise.
OperatorWriter WriteSilu, WriteClip, WriteLogical, WriteMod, WriteShift;

// movement.cc. WriteWithLongIndices: input 1 is i64.
OperatorWriter WriteReshape, WriteBroadcast, WriteSlice, WritePad, WriteReverseSequence, WriteWithLongIndices,
    WriteNonMaxSuppression;

// contraction.cc. WriteMatMul: also for integers.
OperatorWriter WriteMatMul, WriteAttention, WriteDeformConv;

// quantized.cc
OperatorWriter WriteQuantize, WriteDequantize, WriteRequantize;

// reduction.cc
OperatorWriter WriteReduce, WriteScan, WriteTopK, WriteLayerNorm, WriteRmsNorm, WriteGroupNorm;

// sampling.cc
OperatorWriter WriteCol2Im, WriteResize, WriteRoiAlign;

// control.cc
OperatorWriter WriteIf, WriteLoop, WriteFused;

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_OPS_WRITERS_H_
