#include "tensor/expr.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/int_type.h"

namespace attune {
namespace {

struct OpRow {
  std::string_view name;
  int arity;
};

// In the order of MathOp.
constexpr OpRow kOps[] = {
    {"add", 2},       {"sub", 2},    {"mul", 2},   {"div", 2},      {"mod", 2},    {"floor_div", 2},
    {"floor_mod", 2}, {"min", 2},    {"max", 2},   {"pow", 2},      {"and", 2},    {"or", 2},
    {"xor", 2},       {"shl", 2},    {"shr", 2},   {"mul_high", 2}, {"eq", 2},     {"ne", 2},
    {"lt", 2},        {"le", 2},     {"gt", 2},    {"ge", 2},       {"select", 3}, {"fma", 3},
    {"neg", 1},       {"not", 1},    {"abs", 1},   {"sqrt", 1},     {"floor", 1},  {"ceil", 1},
    {"round", 1},     {"trunc", 1},  {"exp", 1},   {"log", 1},      {"sin", 1},    {"cos", 1},
    {"tan", 1},       {"asin", 1},   {"acos", 1},  {"atan", 1},     {"sinh", 1},   {"cosh", 1},
    {"tanh", 1},      {"asinh", 1},  {"acosh", 1}, {"atanh", 1},    {"erf", 1},    {"sigmoid", 1},
    {"silu", 1},      {"is_nan", 1},
};

bool IsComparison(MathOp op) { return op >= MathOp::kEqual && op <= MathOp::kGreaterEqual; }

DType ResultType(MathOp op, const std::vector<Expr>& args) {
  if (IsComparison(op) || op == MathOp::kIsNan) return DType::kBool;
  if (op == MathOp::kSelect) return args[1]->dtype;
  return args[0]->dtype;
}

// `value` as an integer of `dtype` holds it.
int64_t Wrap(int64_t value, DType dtype) {
  if (dtype == DType::kBool) return value != 0;
  if (!IsInt(dtype)) return value;
  return WithIntType(dtype, [&](auto t) { return static_cast<int64_t>(static_cast<decltype(t)>(value)); });
}

Expr NewNode(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

// Both operands are i64 or bool constants; division by zero stays.
Expr FoldBinary(MathOp op, int64_t a, int64_t b, DType dtype) {
  const auto add = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  };
  const auto mul = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  };
  const auto floor_mod = [](int64_t x, int64_t y) {
    return (x % y != 0 && (x % y < 0) != (y < 0)) ? x % y + y : x % y;
  };
  const auto floor_div = [](int64_t x, int64_t y) {
    return (x % y != 0 && (x < 0) != (y < 0)) ? x / y - 1 : x / y;
  };
  const bool divisible = b != 0 && b != -1;
  switch (op) {
    case MathOp::kAdd:
      return IntConst(add(a, b), dtype);
    case MathOp::kSub:
      return IntConst(add(a, mul(b, -1)), dtype);
    case MathOp::kMul:
      return IntConst(mul(a, b), dtype);
    case MathOp::kDiv:
      return divisible ? IntConst(a / b, dtype) : Expr();
    case MathOp::kMod:
      return divisible ? IntConst(a % b, dtype) : Expr();
    case MathOp::kFloorDiv:
      return divisible ? IntConst(floor_div(a, b), dtype) : Expr();
    case MathOp::kFloorMod:
      return divisible ? IntConst(floor_mod(a, b), dtype) : Expr();
    case MathOp::kMin:
      return IntConst(a < b ? a : b, dtype);
    case MathOp::kMax:
      return IntConst(a > b ? a : b, dtype);
    case MathOp::kAnd:
      return IntConst(a & b, dtype);
    case MathOp::kOr:
      return IntConst(a | b, dtype);
    case MathOp::kEqual:
      return BoolConst(a == b);
    case MathOp::kNotEqual:
      return BoolConst(a != b);
    case MathOp::kLess:
      return BoolConst(a < b);
    case MathOp::kLessEqual:
      return BoolConst(a <= b);
    case MathOp::kGreater:
      return BoolConst(a > b);
    case MathOp::kGreaterEqual:
      return BoolConst(a >= b);
    default:
      return Expr();
  }
}

// The identities of integers and conditions that hold for any operand; null where none applies.
Expr FoldIdentity(MathOp op, const Expr& a, const Expr& b) {
  switch (op) {
    case MathOp::kAdd:
      return IsConst(a, 0) ? b : IsConst(b, 0) ? a : Expr();
    case MathOp::kSub:
      return IsConst(b, 0) ? a : Expr();
    case MathOp::kMul:
      if (IsConst(a, 0) || IsConst(b, 1)) return a;
      return IsConst(b, 0) || IsConst(a, 1) ? b : Expr();
    case MathOp::kDiv:
    case MathOp::kFloorDiv:
      return IsConst(b, 1) ? a : Expr();
    case MathOp::kMod:
    case MathOp::kFloorMod:
      return IsConst(b, 1) ? IntConst(0, a->dtype) : Expr();
    case MathOp::kAnd:
      if (a->dtype != DType::kBool) return Expr();
      return IsConst(a, 0) || IsConst(b, 1) ? a : IsConst(b, 0) || IsConst(a, 1) ? b : Expr();
    case MathOp::kOr:
      if (a->dtype != DType::kBool) return Expr();
      return IsConst(a, 1) || IsConst(b, 0) ? a : IsConst(b, 1) || IsConst(a, 0) ? b : Expr();
    default:
      return Expr();
  }
}

Expr Fold(MathOp op, const std::vector<Expr>& args) {
  if (op == MathOp::kSelect && IsIntConst(args[0])) return args[0]->int_value != 0 ? args[1] : args[2];
  if (op == MathOp::kNot && args[0]->dtype == DType::kBool && IsIntConst(args[0])) {
    return BoolConst(args[0]->int_value == 0);
  }
  if (MathOpArity(op) != 2 || IsFloat(args[0]->dtype)) return Expr();
  const bool index_type = args[0]->dtype == DType::kI64 || args[0]->dtype == DType::kBool;
  if (index_type && IsIntConst(args[0]) && IsIntConst(args[1])) {
    const Expr folded = FoldBinary(op, args[0]->int_value, args[1]->int_value, ResultType(op, args));
    if (folded) return folded;
  }
  return FoldIdentity(op, args[0], args[1]);
}

}  // namespace

Var MakeVar(std::string name, DType dtype) {
  return std::make_shared<const VarNode>(VarNode{std::move(name), dtype});
}

Buffer MakeBuffer(std::string name, DType dtype, std::vector<int64_t> shape, MemorySpace space) {
  return std::make_shared<const BufferNode>(BufferNode{std::move(name), dtype, std::move(shape), space});
}

Buffer MakeOpenBuffer(std::string name, DType dtype, const std::vector<Extent>& extents, MemorySpace space) {
  BufferNode node{std::move(name), dtype, {}, space};
  const bool is_open = std::ranges::any_of(extents, &Extent::is_open);
  for (const Extent& extent : extents) {
    node.shape.push_back(extent.bound());
    if (is_open) node.open.push_back(extent.is_open() ? extent.expr() : Expr());
  }
  return std::make_shared<const BufferNode>(std::move(node));
}

std::vector<Extent> BufferNode::extents() const {
  std::vector<Extent> all;
  for (size_t d = 0; d < rank(); ++d) all.push_back(extent(d));
  return all;
}

int64_t BufferNode::num_elements() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

std::vector<int64_t> BufferNode::strides() const {
  std::vector<int64_t> result(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) result[i - 1] = result[i] * shape[i];
  return result;
}

std::string_view MathOpName(MathOp op) { return kOps[static_cast<int>(op)].name; }
int MathOpArity(MathOp op) { return kOps[static_cast<int>(op)].arity; }

Expr::Expr(int64_t value) : Expr(IntConst(value)) {}

Expr::Expr(const Var& var) {
  ExprNode node;
  node.kind = ExprKind::kVar;
  node.dtype = var->dtype;
  node.var = var;
  *this = NewNode(std::move(node));
}

Expr IntConst(int64_t value, DType dtype) {
  ExprNode node;
  node.kind = ExprKind::kInt;
  node.dtype = dtype;
  node.int_value = Wrap(value, dtype);
  return NewNode(std::move(node));
}

Expr FloatConst(double value, DType dtype) {
  ExprNode node;
  node.kind = ExprKind::kFloat;
  node.dtype = dtype;
  node.float_value = dtype == DType::kF64 ? value : static_cast<float>(value);
  return NewNode(std::move(node));
}

Expr BoolConst(bool value) { return IntConst(value ? 1 : 0, DType::kBool); }

Expr ConstOf(DType dtype, const ExactNumber& value) {
  if (dtype == DType::kBool) return BoolConst(value.ToDouble() != 0);
  if (!IsInt(dtype)) return FloatConst(value.ToDouble(), dtype);
  return WithIntType(dtype,
                     [&](auto t) { return IntConst(static_cast<int64_t>(value.To<decltype(t)>()), dtype); });
}

Expr MakeOp(MathOp op, std::vector<Expr> args) {
  if (Expr folded = Fold(op, args)) return folded;
  ExprNode node;
  node.kind = ExprKind::kOp;
  node.dtype = ResultType(op, args);
  node.op = op;
  node.args = std::move(args);
  return NewNode(std::move(node));
}

Expr CastTo(DType dtype, Expr value) {
  if (value->dtype == dtype) return value;
  if (IsIntConst(value) && !IsFloat(dtype)) return IntConst(value->int_value, dtype);
  ExprNode node;
  node.kind = ExprKind::kCast;
  node.dtype = dtype;
  node.args = {std::move(value)};
  return NewNode(std::move(node));
}

Expr BitcastTo(DType dtype, Expr value) {
  if (value->dtype == dtype) return value;
  ExprNode node;
  node.kind = ExprKind::kBitcast;
  node.dtype = dtype;
  node.args = {std::move(value)};
  return NewNode(std::move(node));
}

Expr Load(const Buffer& buffer, std::vector<Expr> indices) {
  ExprNode node;
  node.kind = ExprKind::kLoad;
  node.dtype = buffer->dtype;
  node.buffer = buffer;
  node.args = std::move(indices);
  return NewNode(std::move(node));
}

bool IsIntConst(const Expr& e) { return e->kind == ExprKind::kInt; }
bool IsConst(const Expr& e, int64_t value) { return IsIntConst(e) && e->int_value == value; }

Expr Rewrite(const Expr& e, const ExprRewriter& rewriter) {
  if (e->kind == ExprKind::kVar) {
    if (!rewriter.var) return e;
    Expr replaced = rewriter.var(e->var);
    return replaced ? replaced : e;
  }
  if (e->args.empty() && e->kind != ExprKind::kLoad) return e;
  std::vector<Expr> args;
  args.reserve(e->args.size());
  bool changed = false;
  for (const Expr& arg : e->args) {
    args.push_back(Rewrite(arg, rewriter));
    changed |= args.back().get() != arg.get();
  }
  if (e->kind == ExprKind::kLoad) {
    if (rewriter.load) {
      if (Expr replaced = rewriter.load(e->buffer, args)) return replaced;
    }
    return changed ? Load(e->buffer, std::move(args)) : e;
  }
  if (!changed) return e;
  if (e->kind == ExprKind::kCast) return CastTo(e->dtype, args[0]);
  if (e->kind == ExprKind::kBitcast) return BitcastTo(e->dtype, args[0]);
  return MakeOp(e->op, std::move(args));
}

void VisitExpr(const Expr& e, const std::function<void(const Expr&)>& visit) {
  visit(e);
  for (const Expr& arg : e->args) VisitExpr(arg, visit);
}

bool Reads(const Expr& e, const Buffer& buffer) {
  bool reads = false;
  if (e) VisitExpr(e, [&](const Expr& x) { reads |= x->kind == ExprKind::kLoad && x->buffer == buffer; });
  return reads;
}

bool SameExpr(const Expr& a, const Expr& b) {
  if (a.get() == b.get()) return true;
  if (a->kind != b->kind || a->dtype != b->dtype || a->args.size() != b->args.size()) return false;
  if (a->int_value != b->int_value || a->op != b->op || a->var != b->var || a->buffer != b->buffer)
    return false;
  if (std::bit_cast<uint64_t>(a->float_value) != std::bit_cast<uint64_t>(b->float_value)) return false;
  for (size_t i = 0; i < a->args.size(); ++i) {
    if (!SameExpr(a->args[i], b->args[i])) return false;
  }
  return true;
}

}  // namespace attune
