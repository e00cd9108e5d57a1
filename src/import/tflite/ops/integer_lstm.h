// LSTM of 8-bit integers.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_INTEGER_LSTM_H_
#define ATTUNE_IMPORT_TFLITE_OPS_INTEGER_LSTM_H_

#include <vector>

#include "import/tflite/op_context.h"

namespace attune::tflite {

// Whether the operator, whose inputs are those of LSTM, has 8-bit activations and weights and a cell state of
// 16 bits, and neither peepholes, projection nor normalization.
bool IsIntegerLstm(OpContext& c);

// The outputs [B, H] of all steps for x [T, B, I], as 8-bit integers. The cell state is limited to
// `cell_clip`, if that is above 0.
std::vector<Value*> IntegerLstm(OpContext& c, Value* x, float cell_clip);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_INTEGER_LSTM_H_
