// RNN, GRU and LSTM, unrolled over their sequences, whose length is static.
//
// Shapes: X [T, B, I], W [D, G H, I], R [D, G H, H], B [D, 2 G H], states [D, B, H], Y [T, D, B, H], for T
// steps, batch B, G gates, D directions (layout 1 puts the batch first). The contribution of the input to
// all gates is one matrix product over all steps; each step adds that of the state.
#include <algorithm>
#include <functional>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

using Activation = std::function<Value*(Value*)>;

// The state between steps: the hidden state, and for LSTM the cell.
struct State {
  Value* hidden;
  Value* cell = nullptr;
};

// One direction of a recurrent operator, with its weights extracted.
struct Direction {
  Value* input_weight;      // [G H, I]
  Value* recurrent_weight;  // [G H, H]
  Value* input_bias;        // [G H] or nullptr
  Value* recurrent_bias;    // [G H] or nullptr
  Value* peephole;          // [3 H] or nullptr
  std::vector<Activation> activations;
};

using Step = std::function<State(const Direction&, Value* gates, const State&)>;

struct Recurrent {
  OpContext& c;
  int64_t gates;
  int activations;  // per direction
  std::vector<std::string> default_activations;
  bool has_cell;

  int64_t steps = 0;
  int64_t batch = 0;
  int64_t hidden = 0;
  Value* x = nullptr;        // [T, B, I]
  Value* lengths = nullptr;  // [B, 1], if sequences may be shorter than T
};

// The parameters of activations, consumed in order from activation_alpha and activation_beta.
struct ActivationParameters {
  std::vector<double> alpha;
  std::vector<double> beta;
  size_t next_alpha = 0;
  size_t next_beta = 0;

  double Alpha(double absent) { return next_alpha < alpha.size() ? alpha[next_alpha++] : absent; }
  double Beta(double absent) { return next_beta < beta.size() ? beta[next_beta++] : absent; }
};

Activation MakeActivation(OpContext& c, std::string name, ActivationParameters& p) {
  absl::AsciiStrToLower(&name);
  const auto unary = [&c](Op op, Attributes attrs = {}) -> Activation {
    return [&c, op, attrs](Value* x) { return c.Emit(op, {x}, attrs); };
  };
  if (name == "sigmoid") return unary(Op::kSigmoid);
  if (name == "tanh") return unary(Op::kTanh);
  if (name == "relu") return unary(Op::kRelu);
  if (name == "softplus") return unary(Op::kSoftplus);
  if (name == "softsign") return [&c](Value* x) { return c.Div(x, c.Add(c.Emit(Op::kAbs, {x}), 1)); };
  if (name == "leakyrelu") return unary(Op::kLeakyRelu, {{"alpha", p.Alpha(0.01)}});
  if (name == "elu") return unary(Op::kElu, {{"alpha", p.Alpha(1)}});
  if (name == "hardsigmoid") return unary(Op::kHardSigmoid, {{"alpha", p.Alpha(0.2)}, {"beta", p.Beta(0.5)}});
  if (name == "affine") {
    const double alpha = p.Alpha(1);
    const double beta = p.Beta(0);
    return [&c, alpha, beta](Value* x) { return c.Add(c.Mul(x, alpha), beta); };
  }
  if (name == "scaledtanh") {
    const double alpha = p.Alpha(1);
    const double beta = p.Beta(1);
    return [&c, alpha, beta](Value* x) { return c.Mul(c.Emit(Op::kTanh, {c.Mul(x, beta)}), alpha); };
  }
  Unsupported("the activation ", name);
}

// Row `index` of a tensor whose first axis is the direction, without that axis.
Value* OfDirection(OpContext& c, Value* x, int64_t index) {
  if (x == nullptr) return nullptr;
  return c.Squeeze(c.SliceAxis(x, 0, index, 1), {0});
}

Direction ReadDirection(Recurrent& r, int64_t index, ActivationParameters& parameters) {
  OpContext& c = r.c;
  Direction d{};
  d.input_weight = OfDirection(c, c.In(1), index);
  d.recurrent_weight = OfDirection(c, c.In(2), index);
  if (Value* bias = OfDirection(c, c.OptionalIn(3), index)) {
    d.input_bias = c.SliceAxis(bias, 0, 0, r.gates * r.hidden);
    d.recurrent_bias = c.SliceAxis(bias, 0, r.gates * r.hidden, r.gates * r.hidden);
  }
  if (r.has_cell) d.peephole = OfDirection(c, c.OptionalIn(7), index);
  const std::vector<std::string> names = c.StringList("activations").value_or(r.default_activations);
  for (int i = 0; i < r.activations; ++i) {
    // The same names may apply to both directions.
    const size_t at = (index * r.activations + i) % std::max<size_t>(names.size(), 1);
    if (at >= names.size()) Invalid("it has no activations");
    d.activations.push_back(MakeActivation(c, names[at], parameters));
  }
  return d;
}

// Slice number `index` [B, H] of the gates.
Value* Gate(const Recurrent& r, Value* gates, int64_t index) {
  return r.c.SliceAxis(gates, -1, index * r.hidden, r.hidden);
}

Value* ClipGate(const Recurrent& r, Value* x) {
  const double limit = r.c.Float("clip", std::numeric_limits<double>::infinity());
  return r.c.Clip(x, -limit, limit);
}

Value* AddBias(OpContext& c, Value* x, Value* bias) { return bias != nullptr ? c.Add(x, bias) : x; }

// Reverses each sequence, without the padding after it.
Value* Reverse(Recurrent& r, Value* x) {
  OpContext& c = r.c;
  if (r.lengths == nullptr) return c.SliceAxis(x, 0, r.steps - 1, r.steps, -1);
  return c.Emit(Op::kReverseSequence, {x, c.Reshape(r.lengths, {r.batch})},
                {{"batch_axis", int64_t{1}}, {"time_axis", int64_t{0}}});
}

struct DirectionResult {
  Value* outputs;  // [T, B, H]
  State last;
};

// After a sequence has ended, its states stay the same and its outputs are 0.
State Mask(const Recurrent& r, int64_t step, const State& next, const State& previous, Value** output) {
  OpContext& c = r.c;
  *output = next.hidden;
  if (r.lengths == nullptr) return next;
  Value* runs = c.Emit(Op::kGreater, {r.lengths, c.ScalarLike(r.lengths, step)});
  *output = c.Where(runs, next.hidden, c.ScalarLike(next.hidden, 0));
  State state{c.Where(runs, next.hidden, previous.hidden)};
  if (next.cell != nullptr) state.cell = c.Where(runs, next.cell, previous.cell);
  return state;
}

// The standard does not say what the last state of an empty sequence is. It is 0, as in onnxruntime, whatever
// the initial state.
State StartState(const Recurrent& r, State state) {
  if (r.lengths == nullptr) return state;
  OpContext& c = r.c;
  Value* runs = c.Emit(Op::kGreater, {r.lengths, c.ScalarLike(r.lengths, 0)});
  for (Value** part : {&state.hidden, &state.cell}) {
    if (*part != nullptr) *part = c.Where(runs, *part, c.ScalarLike(*part, 0));
  }
  return state;
}

DirectionResult RunDirection(Recurrent& r, const Direction& d, bool reverse, State state, const Step& step) {
  OpContext& c = r.c;
  Value* x = reverse ? Reverse(r, r.x) : r.x;
  const int64_t inputs = c.DimOf(x, 2);
  Value* flat = c.Reshape(x, {r.steps * r.batch, inputs});
  Value* gates = AddBias(c, c.MatMul(flat, d.input_weight, false, true), d.input_bias);
  gates = c.Reshape(gates, {r.steps, r.batch, r.gates * r.hidden});
  state = StartState(r, state);
  std::vector<Value*> outputs;
  for (int64_t t = 0; t < r.steps; ++t) {
    Value* now = c.Reshape(c.SliceAxis(gates, 0, t, 1), {r.batch, r.gates * r.hidden});
    Value* output = nullptr;
    state = Mask(r, t, step(d, now, state), state, &output);
    outputs.push_back(c.Unsqueeze(output, {0}));
  }
  Value* y = outputs.empty() ? c.Filled(x->type().dtype, 0, {0, r.batch, r.hidden}) : c.Concat(outputs, 0);
  return {reverse ? Reverse(r, y) : y, state};
}

// Sequence lengths only matter if one may be shorter than T. None may be longer.
void ReadLengths(Recurrent& r) {
  OpContext& c = r.c;
  Value* lengths = c.OptionalIn(4);
  if (lengths == nullptr) return;
  if (const std::optional<Tensor> known = c.KnownConstant(lengths)) {
    const Ints values = known->ToInts();
    if (std::all_of(values.begin(), values.end(), [&](int64_t n) { return n == r.steps; })) return;
  }
  lengths = c.LengthsUpTo(lengths, r.steps, absl::AsciiStrToLower(c.op_type()));
  r.lengths = c.Reshape(lengths, {r.batch, 1});
}

// Checks the shapes of W, R and related inputs against the node's directions and hidden_size.
void CheckWeights(const Recurrent& r, int64_t directions) {
  OpContext& c = r.c;
  const auto check = [&](int input, const char* name, const Shape& expected) {
    if (!c.HasInput(input) || c.InShape(input) == expected) return;
    Invalid("its ", name, " is ", ToString(c.In(input)->type()), ", not [", absl::StrJoin(expected, ","),
            "]");
  };
  if (c.Int("hidden_size", r.hidden) != r.hidden) {
    Invalid("its hidden_size is ", c.Int("hidden_size"), ", its R has ", r.hidden);
  }
  const int64_t rows = Multiply(r.gates, r.hidden);
  check(1, "W", {directions, rows, c.DimOf(r.x, 2)});
  check(2, "R", {directions, rows, r.hidden});
  check(3, "B", {directions, Multiply(2, rows)});
  if (r.has_cell) check(7, "P", {directions, Multiply(3, r.hidden)});
}

Outputs RunRecurrent(Recurrent r, const Step& step) {
  OpContext& c = r.c;
  const bool batch_first = c.Int("layout", 0) == 1;
  const auto swap = [&](Value* x) { return batch_first ? c.Transpose(x, {1, 0, 2}) : x; };
  if (c.InRank(0) != 3 || c.InRank(1) != 3 || c.InRank(2) != 3) Invalid("its X, W and R must have rank 3");
  r.x = swap(c.In(0));
  r.steps = c.DimOf(r.x, 0);
  r.batch = c.DimOf(r.x, 1);
  r.hidden = c.DimOf(c.In(2), 2);
  ReadLengths(r);
  const std::string direction = c.Choice("direction", {"forward", "reverse", "bidirectional"});
  const int64_t directions = direction == "bidirectional" ? 2 : 1;
  CheckWeights(r, directions);
  ActivationParameters parameters{c.FloatList("activation_alpha").value_or(std::vector<double>()),
                                  c.FloatList("activation_beta").value_or(std::vector<double>())};
  const auto initial = [&](int input, int64_t index) {
    if (!c.HasInput(input)) return c.Filled(c.InType(0), 0, {r.batch, r.hidden});
    return OfDirection(c, swap(c.In(input)), index);
  };
  std::vector<Value*> ys;
  std::vector<Value*> hiddens;
  std::vector<Value*> cells;
  for (int64_t i = 0; i < directions; ++i) {
    const Direction d = ReadDirection(r, i, parameters);
    State state{initial(5, i), r.has_cell ? initial(6, i) : nullptr};
    const DirectionResult result = RunDirection(r, d, direction == "reverse" || i == 1, state, step);
    ys.push_back(c.Unsqueeze(result.outputs, {1}));
    hiddens.push_back(c.Unsqueeze(result.last.hidden, {0}));
    if (r.has_cell) cells.push_back(c.Unsqueeze(result.last.cell, {0}));
  }
  Value* y = c.Concat(ys, 1);
  Outputs outputs = {batch_first ? c.Transpose(y, {2, 0, 1, 3}) : y, swap(c.Concat(hiddens, 0))};
  if (r.has_cell) outputs.emplace_back(swap(c.Concat(cells, 0)));
  return outputs;
}

}  // namespace

// H' = f(X Wᵀ + H Rᵀ + biases)
Outputs Rnn(OpContext& c) {
  Recurrent r{c, 1, 1, {"Tanh", "Tanh"}, false};
  r.hidden = c.DimOf(c.In(2), -1);
  return RunRecurrent(r, [&](const Direction& d, Value* gates, const State& s) {
    Value* sum =
        c.Add(gates, AddBias(c, c.MatMul(s.hidden, d.recurrent_weight, false, true), d.recurrent_bias));
    return State{d.activations[0](ClipGate(r, sum))};
  });
}

// Gates z, r, h. H' = (1 - z) h + z H, with h = g(X Wᵀ + r (H Rᵀ + b)) if linear_before_reset, else g(X Wᵀ
// + (r H) Rᵀ + b).
Outputs Gru(OpContext& c) {
  Recurrent r{c, 3, 2, {"Sigmoid", "Tanh", "Sigmoid", "Tanh"}, false};
  r.hidden = c.DimOf(c.In(2), -1);
  const int64_t hidden = r.hidden;
  const bool linear = c.Int("linear_before_reset", 0) != 0;
  return RunRecurrent(r, [&, hidden, linear](const Direction& d, Value* gates, const State& s) {
    const auto part = [&](Value* x, int64_t first, int64_t count) {
      return x == nullptr ? nullptr : c.SliceAxis(x, 0, first * hidden, count * hidden);
    };
    const auto recur = [&](Value* state, int64_t first, int64_t count) {
      Value* product = c.MatMul(state, part(d.recurrent_weight, first, count), false, true);
      return AddBias(c, product, part(d.recurrent_bias, first, count));
    };
    Value* zr = c.SliceAxis(gates, 1, 0, 2 * hidden);
    zr = d.activations[0](ClipGate(r, c.Add(zr, recur(s.hidden, 0, 2))));
    Value* z = Gate(r, zr, 0);
    Value* reset = Gate(r, zr, 1);
    Value* from_state = linear ? c.Mul(reset, recur(s.hidden, 2, 1)) : recur(c.Mul(reset, s.hidden), 2, 1);
    Value* h = d.activations[1](ClipGate(r, c.Add(Gate(r, gates, 2), from_state)));
    return State{c.Add(c.Mul(c.Sub(c.ScalarLike(z, 1), z), h), c.Mul(z, s.hidden))};
  });
}

// Gates i, o, f, c. C' = f C + i c; H' = o h(C'). Peepholes add p C to i and f, and p C' to o.
Outputs Lstm(OpContext& c) {
  Recurrent r{c, 4, 3, {"Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"}, true};
  r.hidden = c.DimOf(c.In(2), -1);
  const bool coupled = c.Int("input_forget", 0) != 0;
  return RunRecurrent(r, [&, coupled](const Direction& d, Value* gates, const State& s) {
    Value* sum =
        c.Add(gates, AddBias(c, c.MatMul(s.hidden, d.recurrent_weight, false, true), d.recurrent_bias));
    const auto peep = [&](Value* gate, int64_t index, Value* cell) {
      if (d.peephole == nullptr) return gate;
      return c.Add(gate, c.Mul(c.SliceAxis(d.peephole, 0, index * r.hidden, r.hidden), cell));
    };
    Value* input = d.activations[0](ClipGate(r, peep(Gate(r, sum, 0), 0, s.cell)));
    Value* forget = coupled ? c.Sub(c.ScalarLike(input, 1), input)
                            : d.activations[0](ClipGate(r, peep(Gate(r, sum, 2), 2, s.cell)));
    Value* candidate = d.activations[1](ClipGate(r, Gate(r, sum, 3)));
    Value* cell = c.Add(c.Mul(forget, s.cell), c.Mul(input, candidate));
    Value* output = d.activations[0](ClipGate(r, peep(Gate(r, sum, 1), 1, cell)));
    return State{c.Mul(output, d.activations[2](cell)), cell};
  });
}

}  // namespace attune::onnx
