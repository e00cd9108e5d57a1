// The arithmetic of TensorFlow Lite's reference kernel (tensorflow/lite/kernels/lstm_eval.cc,
// LstmStepInteger8x8_16): the gates are sums of two products, each requantized to 3 integer and 12 binary
// places in 16 bits; the functions on them are gemmlowp's of 16 bits, which become tables; the cell state has
// a power of two as its scale.
#include "import/tflite/ops/integer_lstm.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "import/tflite/ops/integers.h"

namespace attune::tflite {
namespace {

constexpr int kWeights = 1, kRecurrent = 5, kPeepholes = 9, kBiases = 12, kProjection = 16, kHidden = 18,
              kCell = 19, kNorms = 20, kNumInputs = 24;
constexpr int kGatePlaces = 3;  // of integers, in a gate

// Arithmetic with numbers of 16 bits, whose products are rounded to nearest.
namespace words {

int64_t Saturated(int64_t x) { return std::clamp<int64_t>(x, INT16_MIN, INT16_MAX); }
int64_t Product(int64_t a, int64_t b) { return Saturated((a * b + (1 << 14)) >> 15); }
int64_t Raised(int64_t x, int places) { return Saturated(x * (int64_t{1} << places)); }
int64_t Lowered(int64_t x, int places) {
  const int64_t half = int64_t{1} << (places - 1);
  return (x + half - (x < 0 ? 1 : 0)) >> places;
}
// A constant that is written with 32 bits.
int64_t Of(int64_t number) { return Lowered(number, 16); }

// exp(x) without integer places, for x with so many of them that is 0 or less.
int64_t Exp(int64_t x, int integer_places) {
  if (x == 0) return INT16_MAX;
  const int places = 15 - integer_places;
  if (integer_places > 5 && x < -(int64_t{1} << (places + 5))) return 0;
  const int64_t quarter = int64_t{1} << (places - 2), rest = (x & (quarter - 1)) - quarter;
  const int64_t eighth = Of(1895147668), third = Of(715827883);
  const int64_t y = Raised(rest, integer_places) + (1 << 12);
  const int64_t y2 = Product(y, y), y3 = Product(y2, y), y4 = Product(y2, y2);
  const int64_t higher = Lowered(Product(Lowered(y4, 2) + y3, third) + y2, 1);
  int64_t result = Saturated(eighth + Product(eighth, y + higher));
  int exponent = -2;
  for (const int64_t power : {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242}) {
    if (integer_places > exponent && ((rest - x) >> (places + exponent) & 1) != 0)
      result = Product(result, Of(power));
    ++exponent;
  }
  return result;
}

// 2 / (1 + x) with two integer places, by Newton's method.
int64_t TwiceReciprocalOfOneAnd(int64_t x) {
  const int64_t half = (x + INT16_MAX + 1) / 2;
  int64_t y = Of(1515870810) + Product(half, Of(-1010580540));
  for (int step = 0; step < 3; ++step) y += Raised(Product(y, (1 << 13) - Product(half, y)), 2);
  return y;
}

int64_t Sigmoid(int64_t x) {
  if (x == 0) return 1 << 14;
  const int64_t positive = Raised(TwiceReciprocalOfOneAnd(Exp(-std::abs(x), kGatePlaces)), 1);
  return x > 0 ? positive : INT16_MAX - positive;
}

int64_t Tanh(int64_t x, int integer_places) {
  if (x == 0) return 0;
  const int64_t size = Raised(TwiceReciprocalOfOneAnd(Exp(-std::abs(x), integer_places + 1)) - (1 << 13), 2);
  return x > 0 ? size : -size;
}

}  // namespace words

// A function of words, for words in i32.
class WordTable {
 public:
  WordTable(OpContext& c, const std::function<int64_t(int64_t)>& function) : c_(c) {
    Tensor table = c.NewTable(DType::kI16, {1 << 16});
    for (int64_t x = INT16_MIN; x <= INT16_MAX; ++x) table.SetInt(x - INT16_MIN, function(x));
    table_ = c.Constant(std::move(table));
  }
  Value* Of(Value* x) const { return c_.Cast(c_.Gather(table_, c_.Add(x, -INT16_MIN), 0), DType::kI32); }

 private:
  OpContext& c_;
  Value* table_ = nullptr;
};

float Single(double scale) { return static_cast<float>(scale); }

class Lstm {
 public:
  Lstm(OpContext& c, float cell_clip)
      : c_(c),
        coupled_(!c.HasInput(kWeights)),
        cells_(c.InShape(kRecurrent + 1)[0]),
        cell_exponent_(static_cast<int>(std::round(std::log2(c.InScale(kCell))))),
        cell_limit_(cell_clip > 0 ? std::min(std::floor(cell_clip / Single(c.InScale(kCell))), 32767.0F) : 0),
        input_(GatesOf(kWeights, c.InScale(0))),
        recurrent_(GatesOf(kRecurrent, c.InScale(kHidden))),
        sigmoid_(c, words::Sigmoid),
        tanh_(c, [](int64_t x) { return words::Tanh(x, kGatePlaces); }),
        cell_tanh_(c, [this](int64_t x) { return words::Tanh(x, 15 + cell_exponent_); }) {}

  std::vector<Value*> Run(Value* x) {
    const int64_t steps = c_.DimOf(x, 0), batch = c_.DimOf(x, 1), width = cells_ * NumGates();
    Value* rows = c_.Reshape(x, {Multiply(steps, batch), c_.DimOf(x, 2)});
    Value* sums = c_.Add(Product(rows, input_, c_.InZero(0)), Biases());
    Value* gates =
        c_.Reshape(c_.FixedPointTo(sums, input_.factors, 1, DType::kI16, 0), {steps, batch, width});
    Value* hidden = c_.Filled(DType::kI8, c_.InZero(kHidden), {batch, cells_});
    Value* cell = c_.Filled(DType::kI32, 0, {batch, cells_});
    std::vector<Value*> outputs;
    for (int64_t t = 0; t < steps; ++t) {
      Value* now = c_.Reshape(c_.SliceAxis(gates, 0, t, 1), {batch, width});
      hidden = Step(c_.Cast(now, DType::kI32), hidden, cell);
      outputs.push_back(hidden);
    }
    return outputs;
  }

 private:
  // The weights of all gates, and by what each one's products are multiplied.
  struct Gates {
    Value* weights;
    std::vector<double> factors;
  };

  int64_t NumGates() const { return coupled_ ? 3 : 4; }
  // The gates in their order here, where those with a sigmoid come first, by their order in the file: the
  // input gate, if there is one, the forget gate, the output gate and the candidate.
  std::vector<int> Order() const { return coupled_ ? std::vector{1, 3, 2} : std::vector{0, 1, 3, 2}; }

  Gates GatesOf(int first, double scale) {
    std::vector<Value*> parts;
    Gates gates;
    for (const int gate : Order()) {
      parts.push_back(c_.Stored(first + gate));
      const float factor = Single(c_.InScale(first + gate)) * Single(scale) * 0x1p12F;
      gates.factors.insert(gates.factors.end(), static_cast<size_t>(cells_), static_cast<double>(factor));
    }
    gates.weights = c_.Concat(parts, 0);
    return gates;
  }

  Value* Biases() {
    std::vector<Value*> parts;
    for (const int gate : Order()) parts.push_back(c_.Stored(kBiases + gate));
    return c_.Concat(parts, 0);
  }

  Value* Product(Value* x, const Gates& gates, int64_t zero) {
    Value* zero_point = zero == 0 ? nullptr : c_.Scalar(DType::kI8, zero);
    return c_.Emit(Op::kMatMulInteger, {x, gates.weights, zero_point}, {{"transpose_b", int64_t{1}}});
  }

  Value* Clamped(Value* x) { return c_.Clip(x, INT16_MIN, INT16_MAX); }
  // a b / 2^places
  Value* Lowered(Value* a, Value* b, int places) {
    return c_.Cast(RoundedShift(c_, c_.Mul(a, b), c_.Scalar(DType::kI64, places)), DType::kI32);
  }

  // The next hidden state; replaces `cell`.
  Value* Step(Value* gates, Value* hidden, Value*& cell) {
    Value* sums = Product(hidden, recurrent_, c_.InZero(kHidden));
    gates = Clamped(c_.Add(c_.FixedPointTo(sums, recurrent_.factors, 1, DType::kI32, 0), gates));
    const int64_t sigmoids = NumGates() - 1;
    Value* open = sigmoid_.Of(c_.SliceAxis(gates, 1, 0, sigmoids * cells_));
    Value* candidate = tanh_.Of(c_.SliceAxis(gates, 1, sigmoids * cells_, cells_));
    const auto gate = [&](int64_t i) { return c_.SliceAxis(open, 1, i * cells_, cells_); };
    Value* forget = gate(sigmoids - 2);
    Value* input = coupled_ ? c_.Sub(c_.ScalarLike(forget, INT16_MAX), forget) : gate(0);
    cell = Clamped(c_.Add(Lowered(forget, cell, 15), Lowered(input, candidate, 30 + cell_exponent_)));
    if (cell_limit_ > 0) {
      const auto limit = static_cast<double>(cell_limit_);
      cell = c_.Clip(cell, -limit, limit);
    }
    const auto& hidden_type = c_.Intermediate(4);
    const float factor = Single(0x1p-30 / hidden_type.scale);
    return c_.FixedPointTo(c_.Mul(gate(sigmoids - 1), cell_tanh_.Of(cell)), {static_cast<double>(factor)}, 0,
                           DType::kI8, hidden_type.zero);
  }

  OpContext& c_;
  bool coupled_;
  int64_t cells_;
  int cell_exponent_;
  float cell_limit_;
  Gates input_, recurrent_;
  WordTable sigmoid_, tanh_, cell_tanh_;
};

}  // namespace

bool IsIntegerLstm(OpContext& c) {
  const auto has_any = [&c](int first, int end) {
    for (int i = first; i < end; ++i) {
      if (c.HasInput(i)) return true;
    }
    return false;
  };
  const auto is_quantized = [&c](int i, schema::TensorType type) {
    return c.InQuantized(i) && c.InTensor(i).type() == type;
  };
  for (int gate = 1; gate < 4; ++gate) {
    if (!is_quantized(kWeights + gate, schema::TensorType::INT8)) return false;
  }
  const bool has_intermediates = SizeOf(c.node().intermediates()) > 4;
  return is_quantized(0, schema::TensorType::INT8) && is_quantized(kCell, schema::TensorType::INT16) &&
         is_quantized(kHidden, schema::TensorType::INT8) && has_intermediates &&
         !has_any(kPeepholes, kBiases) && !has_any(kProjection, kHidden) && !has_any(kNorms, kNumInputs);
}

std::vector<Value*> IntegerLstm(OpContext& c, Value* x, float cell_clip) { return Lstm(c, cell_clip).Run(x); }

}  // namespace attune::tflite
