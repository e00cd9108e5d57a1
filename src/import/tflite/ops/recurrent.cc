// RNN and LSTM, a step or a whole sequence, unrolled over its static length. States start at zero.
//
// Shapes: x [T, B, I], input weights [H, I] and recurrent weights [H, P] for each gate, states [B, P]
// (hidden) and [B, H] (cell), projection [P, H]. Quantized operators other than those of integer_lstm.h
// compute with the numbers that the integers represent; states are rounded to their integers after each step,
// since they are stored between steps.
#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "import/tflite/ops/integer_lstm.h"
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

constexpr int64_t kMaxSteps = 4096;

// The state between steps: the hidden state, and for LSTM the cell.
struct State {
  Value* hidden;
  Value* cell = nullptr;
};

struct Sequence {
  Value* x;  // [T, B, I]
  int64_t steps;
  int64_t batch;
};

// Rank 3 is a sequence, rank 2 a step.
Sequence ReadSequence(OpContext& c, bool time_major, Value* x) {
  if (x->type().rank() == 2) x = c.Unsqueeze(x, {0});
  if (x->type().rank() != 3) Invalid("its input is ", ToString(c.Stored(0)->type()));
  if (c.InRank(0) == 3 && !time_major) x = c.Transpose(x, {1, 0, 2});
  const Sequence s{x, c.DimOf(x, 0), c.DimOf(x, 1)};
  if (s.steps > kMaxSteps || s.steps < 1) Unsupported("a sequence of ", s.steps, " steps");
  return s;
}

Sequence ReadSequence(OpContext& c, bool time_major) {
  return ReadSequence(c, time_major, c.Cast(c.Real(0), DType::kF32));
}

// Joins the outputs [B, P] of all steps to the operator's output.
Value* Join(OpContext& c, const std::vector<Value*>& steps, bool time_major) {
  if (c.InRank(0) == 2) return steps[0];
  const int64_t axis = time_major ? 0 : 1;
  std::vector<Value*> parts;
  for (Value* step : steps) parts.push_back(c.Unsqueeze(step, {axis}));
  return c.Concat(parts, axis);
}

// An input as floats; nullptr if absent. Biases are i32 with their own scale.
Value* Parameter(OpContext& c, int i) {
  if (!c.HasInput(i)) return nullptr;
  if (c.InType(i) != DType::kI32) return c.Cast(c.Real(i), DType::kF32);
  const Quantization q = c.InQuantization(i);
  if (q.per_channel()) Unsupported("a bias with scales per channel");
  return c.Mul(c.Cast(c.Stored(i), DType::kF32), static_cast<double>(q.scales[0]));
}

Value* RequiredParameter(OpContext& c, int i) {
  Value* parameter = Parameter(c, i);
  if (parameter == nullptr) Invalid("its input ", i, " is missing");
  return parameter;
}

// A state after it was stored like input i and loaded again.
Value* Settle(OpContext& c, Value* state, int i) {
  if (!c.InQuantized(i)) return state;
  const DType dtype = RequireDType(c.InTensor(i).type());
  return c.Dequantize(c.Quantize(state, c.InScale(i), c.InZero(i), dtype), c.InScale(i), c.InZero(i));
}

Value* AddIfAny(OpContext& c, Value* x, Value* y) { return y != nullptr ? c.Add(x, y) : x; }

double LimitOf(float clip) {
  return clip > 0 ? static_cast<double>(clip) : std::numeric_limits<double>::infinity();
}

Value* ClipTo(OpContext& c, Value* x, double limit) { return c.Clip(x, -limit, limit); }

// Runs all steps in order, or (backward) from the last to the first; the outputs are in the order of the
// input. `step` gets the contribution of the input to the gates of one step, [B, G].
std::vector<Value*> Run(OpContext& c, const Sequence& s, Value* input_weight, State state, bool backward,
                        const std::function<State(Value*, const State&)>& step) {
  const int64_t inputs = c.DimOf(s.x, 2);
  const int64_t width = c.DimOf(input_weight, 0);
  Value* gates = c.MatMul(c.Reshape(s.x, {Multiply(s.steps, s.batch), inputs}), input_weight, false, true);
  gates = c.Reshape(gates, {s.steps, s.batch, width});
  std::vector<Value*> outputs;
  for (int64_t t = 0; t < s.steps; ++t) {
    Value* now = c.SliceAxis(gates, 0, backward ? s.steps - 1 - t : t, 1);
    state = step(c.Reshape(now, {s.batch, width}), state);
    outputs.push_back(state.hidden);
  }
  if (backward) std::reverse(outputs.begin(), outputs.end());
  return outputs;
}

// The inputs of one direction of an LSTM. Gates are in the order input, forget, cell, output.
struct LstmInputs {
  int first = 1;  // input weights, recurrent weights, peepholes, biases, projection and its bias follow
  int hidden = 18;
  int cell = 19;
  int norm = 20;  // coefficients of the gates' normalization, if there is any; 0: never
};

struct LstmOptions {
  Activation activation;
  double cell_limit;
  double projection_limit;
};

struct LstmWeights {
  bool coupled;  // the input gate is 1 minus the forget gate
  std::vector<Value*> peepholes = {};
  std::vector<Value*> biases = {};
  std::vector<Value*> norms = {};
  Value* input = nullptr;      // for all gates, [G H, I]
  Value* recurrent = nullptr;  // [G H, P]
  Value* projection = nullptr;
  Value* projection_bias = nullptr;
  int64_t cells = 0;  // H
};

LstmWeights ReadLstm(OpContext& c, const LstmInputs& in) {
  LstmWeights w{.coupled = !c.HasInput(in.first)};
  std::vector<Value*> input;
  std::vector<Value*> recurrent;
  for (int gate = 0; gate < 4; ++gate) {
    const bool absent = gate == 0 && w.coupled;
    if (!absent) {
      input.push_back(RequiredParameter(c, in.first + gate));
      recurrent.push_back(RequiredParameter(c, in.first + 4 + gate));
    }
    // The cell has no peephole.
    const int peephole = in.first + 8 + (gate == 3 ? 2 : gate);
    w.peepholes.push_back(gate == 2 || absent ? nullptr : Parameter(c, peephole));
    w.biases.push_back(absent ? nullptr : RequiredParameter(c, in.first + 11 + gate));
    w.norms.push_back(absent || in.norm == 0 ? nullptr : Parameter(c, in.norm + gate));
    if (w.norms.back() != nullptr && c.InQuantized(in.first + gate))
      Unsupported("gates that are normalized in integers");
  }
  w.input = c.Concat(input, 0);
  w.recurrent = c.Concat(recurrent, 0);
  w.projection = Parameter(c, in.first + 15);
  w.projection_bias = Parameter(c, in.first + 16);
  w.cells = c.DimOf(input[0], 0);
  return w;
}

// Gate `index` before its activation: its slice of the products, normalized if it has coefficients.
Value* GateSum(OpContext& c, const LstmWeights& w, Value* gates, int index, Value* cell) {
  const int64_t place = index - (w.coupled ? 1 : 0);
  Value* sum = c.SliceAxis(gates, 1, place * w.cells, w.cells);
  if (w.peepholes[index] != nullptr) sum = c.Add(sum, c.Mul(cell, w.peepholes[index]));
  if (w.norms[index] == nullptr) return c.Add(sum, w.biases[index]);
  return c.Emit(Op::kLayerNorm, {sum, w.norms[index], w.biases[index]},
                {{"axis", int64_t{1}}, {"epsilon", 1e-8}});
}

// c' = f c + i g; h' = o act(c'), then the projection.
State LstmStep(OpContext& c, const LstmWeights& w, const LstmOptions& o, const LstmInputs& in, Value* gates,
               const State& s) {
  gates = c.Add(gates, c.MatMul(s.hidden, w.recurrent, false, true));
  const auto sigmoid = [&c](Value* x) { return c.Emit(Op::kSigmoid, {x}); };
  Value* forget = sigmoid(GateSum(c, w, gates, 1, s.cell));
  Value* input =
      w.coupled ? c.Sub(c.ScalarLike(forget, 1), forget) : sigmoid(GateSum(c, w, gates, 0, s.cell));
  Value* candidate = c.ActivateReal(GateSum(c, w, gates, 2, s.cell), o.activation);
  Value* cell = c.Add(c.Mul(forget, s.cell), c.Mul(input, candidate));
  cell = Settle(c, ClipTo(c, cell, o.cell_limit), in.cell);
  Value* output = sigmoid(GateSum(c, w, gates, 3, cell));
  Value* hidden = c.Mul(output, c.ActivateReal(cell, o.activation));
  if (w.projection != nullptr) {
    hidden = AddIfAny(c, c.MatMul(hidden, w.projection, false, true), w.projection_bias);
    hidden = ClipTo(c, hidden, o.projection_limit);
  }
  return {Settle(c, hidden, in.hidden), cell};
}

std::vector<Value*> RunLstm(OpContext& c, const Sequence& s, const LstmOptions& o, const LstmInputs& in,
                            bool backward) {
  const LstmWeights w = ReadLstm(c, in);
  const State start{c.Filled(DType::kF32, 0, {s.batch, c.DimOf(w.recurrent, 1)}),
                    c.Filled(DType::kF32, 0, {s.batch, w.cells})};
  return Run(c, s, w.input, start, backward,
             [&](Value* gates, const State& state) { return LstmStep(c, w, o, in, gates, state); });
}

template <typename Options>
LstmOptions ReadLstmOptions(const Options& options) {
  return {options.fused_activation_function(), LimitOf(options.cell_clip()), LimitOf(options.proj_clip())};
}

// (x, h, weights [4 H, I + H], bias, c) → (h', c', [x h], gates), with gates in the order input, candidate,
// forget, output.
Outputs BasicLstm(OpContext& c) {
  Value* joined = c.Concat({c.Real(0), c.Real(1)}, -1);
  Value* gates = c.Add(c.MatMul(joined, c.Real(2), false, true), RequiredParameter(c, 3));
  const int64_t cells = c.DimOf(gates, -1) / 4;
  const auto gate = [&](int64_t i, Op op) { return c.Emit(op, {c.SliceAxis(gates, -1, i * cells, cells)}); };
  Value* kept = c.Mul(gate(2, Op::kSigmoid), c.Real(4));
  Value* cell = c.Add(kept, c.Mul(gate(0, Op::kSigmoid), gate(1, Op::kTanh)));
  Value* hidden = c.Mul(gate(3, Op::kSigmoid), c.Emit(Op::kTanh, {cell}));
  return {hidden, cell, joined, gates};
}

// h' = act(x Wᵀ + h Rᵀ + b); W, R and b are the inputs from `first` on.
std::vector<Value*> RunRnn(OpContext& c, const Sequence& s, Activation activation, int first, bool backward) {
  Value* recurrent = RequiredParameter(c, first + 1);
  Value* bias = RequiredParameter(c, first + 2);
  const State start{c.Filled(DType::kF32, 0, {s.batch, c.DimOf(recurrent, 0)})};
  return Run(c, s, RequiredParameter(c, first), start, backward, [&](Value* gates, const State& state) {
    Value* sum = c.Add(c.Add(gates, c.MatMul(state.hidden, recurrent, false, true)), bias);
    return State{c.ActivateReal(sum, activation)};
  });
}

// Both directions, concatenated in one output, or as two outputs.
Outputs BothDirections(OpContext& c, const std::vector<Value*>& forward, const std::vector<Value*>& backward,
                       bool time_major, bool merge) {
  Value* first = Join(c, forward, time_major);
  Value* second = Join(c, backward, time_major);
  if (merge) return {c.Concat({first, second}, -1)};
  return {first, second};
}

}  // namespace

Outputs Lstm(OpContext& c) {
  const auto& options = c.Options<schema::LSTMOptions>();
  if (options.kernel_type() == schema::LSTMKernelType::BASIC) return BasicLstm(c);
  if (IsIntegerLstm(c)) {
    const Sequence s = ReadSequence(c, true, c.Stored(0));
    return {Join(c, IntegerLstm(c, s.x, options.cell_clip()), true)};
  }
  const Sequence s = ReadSequence(c, true);
  return {Join(c, RunLstm(c, s, ReadLstmOptions(options), {}, false), true)};
}

Outputs SequenceLstm(OpContext& c) {
  const auto& options = c.Options<schema::UnidirectionalSequenceLSTMOptions>();
  if (options.diagonal_recurrent_tensors()) Unsupported("diagonal recurrent weights");
  if (IsIntegerLstm(c)) {
    const Sequence s = ReadSequence(c, options.time_major(), c.Stored(0));
    return {Join(c, IntegerLstm(c, s.x, options.cell_clip()), options.time_major())};
  }
  const Sequence s = ReadSequence(c, options.time_major());
  return {Join(c, RunLstm(c, s, ReadLstmOptions(options), {}, false), options.time_major())};
}

Outputs BidirectionalLstm(OpContext& c) {
  const auto& options = c.Options<schema::BidirectionalSequenceLSTMOptions>();
  if (c.HasInput(39)) Unsupported("an auxiliary input");
  const Sequence s = ReadSequence(c, options.time_major());
  const LstmOptions o = ReadLstmOptions(options);
  const auto forward = RunLstm(c, s, o, {.first = 1, .hidden = 35, .cell = 36, .norm = 0}, false);
  const auto backward = RunLstm(c, s, o, {.first = 18, .hidden = 37, .cell = 38, .norm = 0}, true);
  return BothDirections(c, forward, backward, options.time_major(), options.merge_outputs());
}

Outputs Rnn(OpContext& c) {
  const Activation activation = c.Options<schema::RNNOptions>().fused_activation_function();
  return {Join(c, RunRnn(c, ReadSequence(c, true), activation, 1, false), true)};
}

Outputs SequenceRnn(OpContext& c) {
  const auto& options = c.Options<schema::SequenceRNNOptions>();
  const Sequence s = ReadSequence(c, options.time_major());
  return {Join(c, RunRnn(c, s, options.fused_activation_function(), 1, false), options.time_major())};
}

Outputs BidirectionalRnn(OpContext& c) {
  const auto& options = c.Options<schema::BidirectionalSequenceRNNOptions>();
  if (c.HasInput(9)) Unsupported("an auxiliary input");
  const Sequence s = ReadSequence(c, options.time_major());
  const Activation activation = options.fused_activation_function();
  const auto forward = RunRnn(c, s, activation, 1, false);
  const auto backward = RunRnn(c, s, activation, 5, true);
  return BothDirections(c, forward, backward, options.time_major(), options.merge_outputs());
}

}  // namespace attune::tflite
