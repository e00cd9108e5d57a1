#include "tensor/testing/interpreter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/fatal.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kPoison = 0x5A5A5A5A;

// `value` as an integer of the type holds it.
int64_t Wrapped(uint64_t value, DType dtype) {
  return IntConst(static_cast<int64_t>(value), dtype)->int_value;
}

ScalarValue ApplyFloat(MathOp op, double a, double b) {
  const auto truth = [](bool value) { return ScalarValue{value ? 1 : 0, 0}; };
  const auto number = [](double value) { return ScalarValue{0, value}; };
  switch (op) {
    case MathOp::kAdd:
      return number(a + b);
    case MathOp::kSub:
      return number(a - b);
    case MathOp::kMul:
      return number(a * b);
    case MathOp::kDiv:
      return number(a / b);
    case MathOp::kMin:
      return number(std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b));
    case MathOp::kMax:
      return number(std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b));
    case MathOp::kEqual:
      return truth(a == b);
    case MathOp::kNotEqual:
      return truth(a != b);
    case MathOp::kLess:
      return truth(a < b);
    case MathOp::kLessEqual:
      return truth(a <= b);
    case MathOp::kGreater:
      return truth(a > b);
    case MathOp::kGreaterEqual:
      return truth(a >= b);
    case MathOp::kNeg:
      return number(-a);
    case MathOp::kAbs:
      return number(std::fabs(a));
    case MathOp::kSqrt:
      return number(std::sqrt(a));
    case MathOp::kExp:
      return number(std::exp(a));
    case MathOp::kLog:
      return number(std::log(a));
    case MathOp::kSin:
      return number(std::sin(a));
    case MathOp::kCos:
      return number(std::cos(a));
    case MathOp::kTan:
      return number(std::tan(a));
    case MathOp::kAsin:
      return number(std::asin(a));
    case MathOp::kAcos:
      return number(std::acos(a));
    case MathOp::kAtan:
      return number(std::atan(a));
    case MathOp::kSinh:
      return number(std::sinh(a));
    case MathOp::kCosh:
      return number(std::cosh(a));
    case MathOp::kTanh:
      return number(std::tanh(a));
    case MathOp::kAsinh:
      return number(std::asinh(a));
    case MathOp::kAcosh:
      return number(std::acosh(a));
    case MathOp::kAtanh:
      return number(std::atanh(a));
    case MathOp::kErf:
      return number(std::erf(a));
    case MathOp::kSigmoid:
      return number(1 / (1 + std::exp(-a)));
    case MathOp::kSilu:
      return number(a / (1 + std::exp(-a)));
    case MathOp::kPow:
      return number(std::pow(a, b));
    case MathOp::kMod:
      return number(std::fmod(a, b));
    case MathOp::kFloorDiv:
      return number(std::floor(a / b));
    case MathOp::kFloorMod:
      return number(a - b * std::floor(a / b));
    case MathOp::kFloor:
      return number(std::floor(a));
    case MathOp::kCeil:
      return number(std::ceil(a));
    case MathOp::kRound:
      return number(std::nearbyint(a));
    case MathOp::kTrunc:
      return number(std::trunc(a));
    case MathOp::kIsNan:
      return truth(std::isnan(a));
    default:
      Fatal("the interpreter of tests lacks ", MathOpName(op));
  }
}

int64_t ApplyDivision(MathOp op, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) {
    const bool remainder = op == MathOp::kMod || op == MathOp::kFloorMod;
    return remainder ? 0 : static_cast<int64_t>(-static_cast<uint64_t>(a));
  }
  const bool round_down = a % b != 0 && (a < 0) != (b < 0);
  switch (op) {
    case MathOp::kDiv:
      return a / b;
    case MathOp::kMod:
      return a % b;
    case MathOp::kFloorDiv:
      return a / b - (round_down ? 1 : 0);
    default:
      return a % b + (round_down ? b : 0);
  }
}

int64_t ApplyInteger(MathOp op, int64_t a, int64_t b) {
  constexpr uint64_t kBits = 64;
  const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case MathOp::kAdd:
      return static_cast<int64_t>(x + y);
    case MathOp::kSub:
      return static_cast<int64_t>(x - y);
    case MathOp::kMul:
      return static_cast<int64_t>(x * y);
    case MathOp::kDiv:
    case MathOp::kMod:
    case MathOp::kFloorDiv:
    case MathOp::kFloorMod:
      return ApplyDivision(op, a, b);
    case MathOp::kMin:
      return std::min(a, b);
    case MathOp::kMax:
      return std::max(a, b);
    case MathOp::kAnd:
      return a & b;
    case MathOp::kOr:
      return a | b;
    case MathOp::kXor:
      return a ^ b;
    case MathOp::kShiftLeft:
      return y < kBits ? static_cast<int64_t>(x << y) : 0;
    case MathOp::kShiftRight:
      return y < kBits ? a >> y : a < 0 ? -1 : 0;
    case MathOp::kPow: {
      if (b < 0) return a == 1 || a == -1 ? (b % 2 == 0 ? 1 : a) : 0;
      uint64_t power = 1;
      for (uint64_t square = x, left = y; left > 0; left >>= 1, square *= square)
        if ((left & 1) != 0) power *= square;
      return static_cast<int64_t>(power);
    }
    case MathOp::kMulHigh:
      return (a * b + (int64_t{1} << 31)) >> 32;
    case MathOp::kEqual:
      return a == b;
    case MathOp::kNotEqual:
      return a != b;
    case MathOp::kLess:
      return a < b;
    case MathOp::kLessEqual:
      return a <= b;
    case MathOp::kGreater:
      return a > b;
    case MathOp::kGreaterEqual:
      return a >= b;
    case MathOp::kNeg:
      return static_cast<int64_t>(-x);
    case MathOp::kAbs:
      return a < 0 ? static_cast<int64_t>(-x) : a;
    default:
      Fatal("the interpreter of tests lacks ", MathOpName(op));
  }
}

class Interpreter {
 public:
  ScalarValue Evaluate(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kInt:
        return {e->int_value, 0};
      case ExprKind::kFloat:
        return {0, e->float_value};
      case ExprKind::kVar:
        return vars.at(e->var.get());
      case ExprKind::kCast:
        return Convert(e->args[0]->dtype, e->dtype, Evaluate(e->args[0]));
      case ExprKind::kLoad: {
        const double* element = Element(e->buffer, e->args, /*may_be_beyond=*/counts != nullptr);
        if (element == nullptr) return {kPoison, kNan};
        if (counts != nullptr)
          counts->reads[e->buffer->name].insert(element - memory[e->buffer.get()].data());
        return IsFloat(e->dtype) ? ScalarValue{0, *element} : ScalarValue{static_cast<int64_t>(*element), 0};
      }
      case ExprKind::kOp: {
        if (counts != nullptr && e->op == MathOp::kSelect)
          return Evaluate(Evaluate(e->args[0]).i != 0 ? e->args[1] : e->args[2]);
        std::vector<ScalarValue> args;
        for (const Expr& arg : e->args) args.push_back(Evaluate(arg));
        const bool multiplies = e->op == MathOp::kMul || e->op == MathOp::kFma;
        if (counts != nullptr && multiplies && e->dtype != DType::kI64) ++counts->multiplications;
        return ApplyOp(e->op, e->args.back()->dtype, args);
      }
      case ExprKind::kBitcast:
        return Reinterpret(e->args[0]->dtype, e->dtype, Evaluate(e->args[0]));
    }
    Fatal("the interpreter of tests lacks this expression");
  }

  void Run(const Stmt& s) {
    if (s == nullptr || !status.ok()) return;
    switch (s->kind) {
      case StmtKind::kStore: {
        const ScalarValue value = Evaluate(s->value);
        double* element = Element(s->buffer, s->indices);
        if (element != nullptr) *element = IsFloat(s->buffer->dtype) ? value.f : static_cast<double>(value.i);
        return;
      }
      case StmtKind::kFor: {
        const int64_t min = Evaluate(s->min).i, extent = Evaluate(s->extent).i;
        for (int64_t i = 0; i < extent; ++i) {
          vars[s->var.get()] = {min + i, 0};
          Run(s->body);
        }
        return;
      }
      case StmtKind::kIf:
        return Run(Evaluate(s->condition).i != 0 ? s->body : s->else_body);
      case StmtKind::kSequence:
        for (const Stmt& child : s->children) Run(child);
        return;
      case StmtKind::kLet:
        vars[s->var.get()] = Evaluate(s->value);
        return Run(s->body);
      case StmtKind::kAllocate:
        Fill(s->buffer);
        return Run(s->body);
      case StmtKind::kWhile:
        while (status.ok() && Evaluate(s->condition).i != 0) Run(s->body);
        return;
      case StmtKind::kPrefetch:  // may be anywhere
        return;
    }
  }

  void Fill(const Buffer& buffer) {
    memory[buffer.get()].assign(static_cast<size_t>(buffer->num_elements()),
                                IsFloat(buffer->dtype) ? kNan : static_cast<double>(kPoison));
  }

  std::map<const VarNode*, ScalarValue> vars;
  std::map<const BufferNode*, std::vector<double>> memory;
  absl::Status status;
  RunCounts* counts = nullptr;

 private:
  static ScalarValue Reinterpret(DType from, DType to, ScalarValue value) {
    if (IsFloat(from) == IsFloat(to)) return value;
    if (from == DType::kF32) return {Wrapped(std::bit_cast<uint32_t>(static_cast<float>(value.f)), to), 0};
    if (to == DType::kF32) return {0, std::bit_cast<float>(static_cast<uint32_t>(value.i))};
    if (from == DType::kF64) return {std::bit_cast<int64_t>(value.f), 0};
    if (to == DType::kF64) return {0, std::bit_cast<double>(value.i)};
    Fatal("the interpreter of tests reinterprets no float of 16 bits");
  }

  static ScalarValue Convert(DType from, DType to, ScalarValue value) {
    if (!IsFloat(from)) {
      if (IsFloat(to)) return {0, static_cast<double>(value.i)};
      return {Wrapped(static_cast<uint64_t>(value.i), to), 0};
    }
    if (IsFloat(to)) return value;
    if (to == DType::kBool) return {value.f != 0, 0};
    return {std::isnan(value.f) ? 0 : static_cast<int64_t>(value.f), 0};
  }

  double* Element(const Buffer& buffer, const std::vector<Expr>& indices, bool may_be_beyond = false) {
    int64_t flat = 0;
    for (size_t d = 0; d < indices.size(); ++d) {
      const int64_t index = Evaluate(indices[d]).i;
      if (index < 0 || index >= buffer->shape[d]) {
        if (may_be_beyond) return nullptr;
        status.Update(
            InvalidInput("index ", index, " of axis ", d, " of ", buffer->name, " is out of bounds"));
        return nullptr;
      }
      flat = flat * buffer->shape[d] + index;
    }
    return &memory.at(buffer.get())[static_cast<size_t>(flat)];
  }
};

}  // namespace

ScalarValue ApplyOp(MathOp op, DType dtype, const std::vector<ScalarValue>& args) {
  if (op == MathOp::kSelect) return args[0].i != 0 ? args[1] : args[2];
  if (op == MathOp::kFma) return {0, std::fma(args[0].f, args[1].f, args[2].f)};
  if (op == MathOp::kNot)
    return {dtype == DType::kBool ? !args[0].i : Wrapped(~static_cast<uint64_t>(args[0].i), dtype), 0};
  if (IsFloat(dtype)) return ApplyFloat(op, args.front().f, args.back().f);
  const int64_t value = ApplyInteger(op, args.front().i, args.back().i);
  const bool compares = op >= MathOp::kEqual && op <= MathOp::kGreaterEqual;
  return {compares ? value : Wrapped(static_cast<uint64_t>(value), dtype), 0};
}

absl::Status RunLoopNest(const LoopNest& nest, Arrays& arrays, RunCounts* counts) {
  Interpreter interpreter;
  interpreter.counts = counts;
  std::vector<Buffer> params;
  for (const LoopNest::Param& param : nest.params) params.push_back(param.buffer);
  if (nest.dims_buffer) params.push_back(nest.dims_buffer);
  for (const Buffer& buffer : params) {
    const auto it = arrays.find(buffer->name);
    if (it == arrays.end()) {
      interpreter.Fill(buffer);
    } else if (it->second.size() == static_cast<size_t>(buffer->num_elements())) {
      interpreter.memory[buffer.get()] = it->second;
    } else {
      return InvalidInput("the array for ", buffer->name, " has another size");
    }
  }
  for (const Stmt& root : nest.roots) interpreter.Run(root);
  for (const Buffer& buffer : params) arrays[buffer->name] = std::move(interpreter.memory[buffer.get()]);
  return interpreter.status;
}

ScalarValue Evaluate(const Expr& e, const std::map<const VarNode*, ScalarValue>& vars) {
  Interpreter interpreter;
  interpreter.vars = vars;
  return interpreter.Evaluate(e);
}

}  // namespace attune
