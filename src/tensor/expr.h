// The loop-nest IR: scalar expressions and the buffers that they read.
//
// Semantics. An expression has one element type. Index arithmetic is i64 and never overflows (buffers are
// below 2^40 bytes). Integer +, -, * wrap; kDiv and kMod truncate toward zero as C does, kFloorDiv and
// kFloorMod round down; a zero divisor gives 0. Floats follow IEEE 754, except that some sums of a product
// are evaluated with one rounding: contraction.h says which. f16 and bf16 are storage types: a kernel casts
// them to f32, computes, and casts back. A condition has type bool; bool buffers hold one byte, 0 or 1.
// kMin and kMax give NaN when either operand is NaN; comparisons with NaN give false, and kNotEqual true.
//
// Nodes are immutable and shared; reading them from several threads is safe.
#ifndef ATTUNE_TENSOR_EXPR_H_
#define ATTUNE_TENSOR_EXPR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/exact_number.h"

namespace attune {

// A loop variable, or a value bound by Let. Identity is the pointer; the name is for people and for the
// text form.
struct VarNode {
  std::string name;
  DType dtype = DType::kI64;
};
using Var = std::shared_ptr<const VarNode>;
Var MakeVar(std::string name, DType dtype = DType::kI64);

// Where a buffer lives.
enum class MemorySpace {
  kGlobal,    // a parameter of the kernel: planned memory, or a constant
  kScratch,   // private to one part of a parallel kernel
  kRegister,  // indexed by constants only once loops are unrolled and vectorized; becomes registers
  kShared,    // shared by the threads of a block (GPUs)
};

struct BufferNode;
using Buffer = std::shared_ptr<const BufferNode>;

enum class ExprKind { kInt, kFloat, kVar, kOp, kCast, kBitcast, kLoad };

enum class MathOp {
  // two operands of one type
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,
  kPow,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,  // integers, as and, or and xor; these three also of bool
  kMulHigh,     // i32: a b / 2^32, rounded to the nearest, ties up
  // comparisons, to bool
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  // (condition, then, else); both sides may be evaluated, loads on the side not taken must be in bounds
  kSelect,
  // (a, b, c), f32 or f64: a b + c with one rounding
  kFma,
  // one operand
  kNeg,
  kNot,
  kAbs,
  kSqrt,
  kFloor,
  kCeil,
  kRound /* half to even */,
  kTrunc,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kSigmoid,
  kSilu,
  kIsNan,
};

// "add", "floor_div", …: the spelling of the text form.
std::string_view MathOpName(MathOp op);
int MathOpArity(MathOp op);

struct ExprNode;

// A handle on an immutable node; null when default constructed.
class Expr {
 public:
  Expr() = default;
  Expr(int64_t value);                                    // NOLINT: an i64 constant
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}  // NOLINT
  Expr(const Var& var);                                   // NOLINT
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}

  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  const ExprNode* get() const { return node_.get(); }

 private:
  std::shared_ptr<const ExprNode> node_;
};

// How many iterations a loop has, or how many elements an axis: a constant, or, if it is open, an expression
// of the kernel's sizes (LoopNest::sizes) with an upper bound.
class Extent {
 public:
  Extent(int64_t constant) : bound_(constant) {}  // NOLINT: a number is an extent
  Extent(Expr open, int64_t bound) : bound_(bound), open_(std::move(open)) {}

  bool is_open() const { return static_cast<bool>(open_); }
  int64_t bound() const { return bound_; }  // the constant, or the upper bound
  Expr expr() const { return open_ ? open_ : Expr(bound_); }
  // As a number, its bound.
  operator int64_t() const { return bound_; }  // NOLINT

 private:
  int64_t bound_;
  Expr open_;
};

// A dense row-major array. Identity is the pointer.
struct BufferNode {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // upper bounds where dimensions are open
  MemorySpace space = MemorySpace::kGlobal;
  // Empty if all dimensions are constant. Otherwise the open ones; the others are null.
  std::vector<Expr> open = {};

  bool is_open() const { return !open.empty(); }
  size_t rank() const { return shape.size(); }
  Extent extent(size_t d) const {
    return open.empty() || !open[d] ? Extent(shape[d]) : Extent(open[d], shape[d]);
  }
  std::vector<Extent> extents() const;
  // For buffers that are not open.
  int64_t num_elements() const;
  std::vector<int64_t> strides() const;  // in elements
};
Buffer MakeBuffer(std::string name, DType dtype, std::vector<int64_t> shape,
                  MemorySpace space = MemorySpace::kGlobal);
Buffer MakeOpenBuffer(std::string name, DType dtype, const std::vector<Extent>& extents,
                      MemorySpace space = MemorySpace::kGlobal);

struct ExprNode {
  ExprKind kind = ExprKind::kInt;
  DType dtype = DType::kI64;
  int64_t int_value = 0;     // kInt: the value, of any integer type or bool; of u64 the same bits
  double float_value = 0;    // kFloat
  MathOp op = MathOp::kAdd;  // kOp
  Var var;                   // kVar
  Buffer buffer;             // kLoad; args are the indices, one a dimension
  std::vector<Expr> args;
};

// Constructors. Arithmetic on integer constants folds at once, as do x + 0, x * 1, x * 0 (integers only),
// select of a constant condition, and and/or with a constant.
Expr IntConst(int64_t value, DType dtype = DType::kI64);
Expr FloatConst(double value, DType dtype = DType::kF32);
Expr BoolConst(bool value);
// A constant of `dtype`: integers are truncated and saturate, and NaN gives 0.
Expr ConstOf(DType dtype, const ExactNumber& value);
Expr MakeOp(MathOp op, std::vector<Expr> args);
// Float to integer truncates and saturates, NaN gives 0; integers wrap; to bool is != 0.
Expr CastTo(DType dtype, Expr value);     // `value` itself when it has the type already
Expr BitcastTo(DType dtype, Expr value);  // of equal size
Expr Load(const Buffer& buffer, std::vector<Expr> indices);

inline Expr operator+(Expr a, Expr b) { return MakeOp(MathOp::kAdd, {std::move(a), std::move(b)}); }
inline Expr operator-(Expr a, Expr b) { return MakeOp(MathOp::kSub, {std::move(a), std::move(b)}); }
inline Expr operator*(Expr a, Expr b) { return MakeOp(MathOp::kMul, {std::move(a), std::move(b)}); }
inline Expr operator/(Expr a, Expr b) { return MakeOp(MathOp::kDiv, {std::move(a), std::move(b)}); }
inline Expr operator-(Expr a) { return MakeOp(MathOp::kNeg, {std::move(a)}); }
inline Expr operator<(Expr a, Expr b) { return MakeOp(MathOp::kLess, {std::move(a), std::move(b)}); }
inline Expr operator<=(Expr a, Expr b) { return MakeOp(MathOp::kLessEqual, {std::move(a), std::move(b)}); }
inline Expr operator>(Expr a, Expr b) { return MakeOp(MathOp::kGreater, {std::move(a), std::move(b)}); }
inline Expr operator>=(Expr a, Expr b) { return MakeOp(MathOp::kGreaterEqual, {std::move(a), std::move(b)}); }
inline Expr Equal(Expr a, Expr b) { return MakeOp(MathOp::kEqual, {std::move(a), std::move(b)}); }
inline Expr NotEqual(Expr a, Expr b) { return MakeOp(MathOp::kNotEqual, {std::move(a), std::move(b)}); }
inline Expr And(Expr a, Expr b) { return MakeOp(MathOp::kAnd, {std::move(a), std::move(b)}); }
inline Expr Or(Expr a, Expr b) { return MakeOp(MathOp::kOr, {std::move(a), std::move(b)}); }
inline Expr Not(Expr a) { return MakeOp(MathOp::kNot, {std::move(a)}); }
inline Expr FloorDiv(Expr a, Expr b) { return MakeOp(MathOp::kFloorDiv, {std::move(a), std::move(b)}); }
inline Expr FloorMod(Expr a, Expr b) { return MakeOp(MathOp::kFloorMod, {std::move(a), std::move(b)}); }
inline Expr Min(Expr a, Expr b) { return MakeOp(MathOp::kMin, {std::move(a), std::move(b)}); }
inline Expr Max(Expr a, Expr b) { return MakeOp(MathOp::kMax, {std::move(a), std::move(b)}); }
inline Expr Fma(Expr a, Expr b, Expr c) {
  return MakeOp(MathOp::kFma, {std::move(a), std::move(b), std::move(c)});
}
inline Expr Select(Expr c, Expr a, Expr b) {
  return MakeOp(MathOp::kSelect, {std::move(c), std::move(a), std::move(b)});
}

// The value of an integer or bool constant.
bool IsIntConst(const Expr& e);
bool IsConst(const Expr& e, int64_t value);

// A copy with variables and loads rewritten: each returns a null Expr to keep what it is given. Subtrees that
// do not change are shared.
struct ExprRewriter {
  std::function<Expr(const Var&)> var;
  // The node's indices are rewritten already.
  std::function<Expr(const Buffer&, const std::vector<Expr>&)> load;
};
Expr Rewrite(const Expr& e, const ExprRewriter& rewriter);

// Calls `visit` on `e` and on all expressions below it, parents first.
void VisitExpr(const Expr& e, const std::function<void(const Expr&)>& visit);

// Whether an expression, or null, loads an element of the buffer.
bool Reads(const Expr& e, const Buffer& buffer);

// Structural equality (variables and buffers by identity).
bool SameExpr(const Expr& a, const Expr& b);

}  // namespace attune

#endif  // ATTUNE_TENSOR_EXPR_H_
