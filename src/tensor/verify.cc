// The rules of loop nests, one message each.
#include <algorithm>
#include <set>

#include "base/status.h"
#include "tensor/registers.h"
#include "tensor/spelling.h"
#include "tensor/stmt.h"

namespace attune {
namespace {

enum class Operands {
  kNumbers,      // of one type, not bool
  kBits,         // of one type, bool or integers
  kIntegers,     // of one type
  kWords,        // i32
  kAlike,        // of one type
  kFloats,       // of one type
  kWholeFloats,  // of one type, f32 or f64
  kSelection,    // bool, and two of one type
};

Operands OperandsOf(MathOp op) {
  switch (op) {
    case MathOp::kAnd:
    case MathOp::kOr:
    case MathOp::kXor:
    case MathOp::kNot:
      return Operands::kBits;
    case MathOp::kShiftLeft:
    case MathOp::kShiftRight:
      return Operands::kIntegers;
    case MathOp::kMulHigh:
      return Operands::kWords;
    case MathOp::kEqual:
    case MathOp::kNotEqual:
    case MathOp::kLess:
    case MathOp::kLessEqual:
    case MathOp::kGreater:
    case MathOp::kGreaterEqual:
    case MathOp::kMin:
    case MathOp::kMax:
      return Operands::kAlike;
    case MathOp::kSelect:
      return Operands::kSelection;
    case MathOp::kFma:
      return Operands::kWholeFloats;
    case MathOp::kAdd:
    case MathOp::kSub:
    case MathOp::kMul:
    case MathOp::kDiv:
    case MathOp::kMod:
    case MathOp::kFloorDiv:
    case MathOp::kFloorMod:
    case MathOp::kPow:
    case MathOp::kNeg:
    case MathOp::kAbs:
    case MathOp::kFloor:
    case MathOp::kCeil:
    case MathOp::kRound:
    case MathOp::kTrunc:
      return Operands::kNumbers;
    default:
      return Operands::kFloats;
  }
}

bool AreOperandsValid(MathOp op, const std::vector<Expr>& args) {
  if (args.size() != static_cast<size_t>(MathOpArity(op))) return false;
  const Operands wanted = OperandsOf(op);
  if (wanted == Operands::kSelection) {
    return args[0]->dtype == DType::kBool && args[1]->dtype == args[2]->dtype;
  }
  const DType dtype = args[0]->dtype;
  if (std::ranges::any_of(args, [&](const Expr& arg) { return arg->dtype != dtype; })) return false;
  switch (wanted) {
    case Operands::kNumbers:
      return dtype != DType::kBool;
    case Operands::kBits:
      return !IsFloat(dtype);
    case Operands::kIntegers:
      return IsInt(dtype);
    case Operands::kWords:
      return dtype == DType::kI32;
    case Operands::kFloats:
      return IsFloat(dtype);
    case Operands::kWholeFloats:
      return dtype == DType::kF32 || dtype == DType::kF64;
    default:
      return true;
  }
}

class Verifier {
 public:
  absl::Status Kernel(const LoopNest& nest) {
    for (const SizeParam& size : nest.sizes) {
      RETURN_IF_ERROR(Bind(size.var, /*is_static=*/false));
      if (size.var->dtype != DType::kI64 || size.min < 0 || size.min > size.max)
        return InvalidInput("size ", size.var->name, " is not an i64 of 0 or more");
    }
    for (const LoopNest::Param& param : nest.params) RETURN_IF_ERROR(Declare(param.buffer, "parameter"));
    if (nest.dims_buffer && !nest.sizes.empty())
      return InvalidInput("a kernel of open sizes has a dims buffer");
    if (nest.dims_buffer) {
      RETURN_IF_ERROR(Declare(nest.dims_buffer, "parameter"));
      if (nest.dims_buffer->dtype != DType::kI64 || nest.dims_buffer->shape.size() != 1)
        return InvalidInput("dims buffer ", nest.dims_buffer->name, " is not a list of i64");
    }
    for (const Stmt& root : nest.roots) {
      is_root_ = true;
      RETURN_IF_ERROR(Statement(root));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Declare(const Buffer& buffer, std::string_view what) {
    if (!buffer) return InvalidInput("a ", what, " has no buffer");
    if (!IsBufferSizeValid(*buffer)) return InvalidInput("buffer ", buffer->name, " has an impossible size");
    for (const Expr& extent : buffer->open) {
      if (extent) RETURN_IF_ERROR(Typed(extent, DType::kI64, absl::StrCat("an extent of ", buffer->name)));
    }
    if (!buffers_.insert(buffer.get()).second)
      return InvalidInput("buffer ", buffer->name, " is declared twice");
    return absl::OkStatus();
  }

  // The value of a variable is known at compile time, for each lane, when loops are unrolled and vectorized.
  absl::Status Bind(const Var& var, bool is_static) {
    if (var == nullptr) return InvalidInput("a statement that binds a variable has none");
    if (!vars_.emplace(var.get(), is_static).second)
      return InvalidInput("variable ", var->name, " is bound inside of its own scope");
    return absl::OkStatus();
  }

  absl::Status Statement(const Stmt& s) {
    if (s == nullptr) return InvalidInput("a statement is missing");
    const bool is_root = is_root_;
    is_root_ = false;
    switch (s->kind) {
      case StmtKind::kStore:
        return Store(*s);
      case StmtKind::kFor:
        return For(*s, is_root);
      case StmtKind::kIf:
        RETURN_IF_ERROR(Typed(s->condition, DType::kBool, "the condition of an if"));
        RETURN_IF_ERROR(Statement(s->body));
        return s->else_body == nullptr ? absl::OkStatus() : Statement(s->else_body);
      case StmtKind::kSequence:
        for (const Stmt& child : s->children) RETURN_IF_ERROR(Statement(child));
        return absl::OkStatus();
      case StmtKind::kLet:
        return Let(*s);
      case StmtKind::kAllocate:
        return Allocate(*s);
      case StmtKind::kWhile:
        if (vector_) return NotInnermost("a while loop");
        RETURN_IF_ERROR(Typed(s->condition, DType::kBool, "the condition of a while loop"));
        return Statement(s->body);
      case StmtKind::kPrefetch:
        return Element(s->buffer, s->indices);
    }
    return InvalidInput("no such kind of statement");
  }

  absl::Status Store(const StmtNode& s) {
    RETURN_IF_ERROR(Element(s.buffer, s.indices));
    return Typed(s.value, s.buffer->dtype, absl::StrCat("the value stored to ", s.buffer->name));
  }

  absl::Status For(const StmtNode& s, bool is_root) {
    if (s.var == nullptr) return InvalidInput("a loop has no variable");
    const std::string name = absl::StrCat("loop ", s.var->name);
    if (s.var->dtype != DType::kI64) return InvalidInput(name, " has a variable that is not i64");
    RETURN_IF_ERROR(Typed(s.min, DType::kI64, absl::StrCat("the start of ", name)));
    RETURN_IF_ERROR(Typed(s.extent, DType::kI64, absl::StrCat("the extent of ", name)));
    if (s.binding.empty() == (s.loop == LoopKind::kBound))
      return InvalidInput(name, " is ", s.binding.empty() ? "bound to no" : "not bound, but names a",
                          " hardware index");
    if (s.loop == LoopKind::kParallel && !is_root)
      return InvalidInput(name, " is parallel, but not the outermost of a root statement");
    if (s.loop == LoopKind::kVectorized && !IsIntConst(s.extent))
      return InvalidInput(name, " is vectorized, but its extent is not constant");
    const bool is_unrolled = s.loop == LoopKind::kUnrolled || s.loop == LoopKind::kMatrix;
    if (is_unrolled && !(IsStatic(s.min) && IsStatic(s.extent)))
      return InvalidInput(name, " is unrolled, but its bounds are not constant");
    const bool is_dot = s.loop == LoopKind::kDot;
    if (is_dot && !(vector_ && IsIntConst(s.extent) && s.body && s.body->kind == StmtKind::kStore))
      return InvalidInput(
          name, " is a dot product, but not of constant extent around one store in a vectorized loop");
    const bool is_vector = s.loop == LoopKind::kVectorized;
    if (vector_ && (is_vector || !EmitsIterations(s))) return NotInnermost(name);
    RETURN_IF_ERROR(Bind(s.var, EmitsIterations(s) && IsStatic(s.min)));
    if (is_vector) vector_ = &s;
    RETURN_IF_ERROR(Statement(s.body));
    if (is_vector) vector_ = nullptr;
    vars_.erase(s.var.get());
    return absl::OkStatus();
  }

  absl::Status NotInnermost(std::string_view what) const {
    return InvalidInput("loop ", vector_->var->name, " is vectorized, but ", what, " is inside of it");
  }

  absl::Status Let(const StmtNode& s) {
    if (s.var == nullptr) return InvalidInput("a let has no variable");
    RETURN_IF_ERROR(Typed(s.value, s.var->dtype, absl::StrCat("the value of ", s.var->name)));
    RETURN_IF_ERROR(Bind(s.var, IsStatic(s.value)));
    RETURN_IF_ERROR(Statement(s.body));
    vars_.erase(s.var.get());
    return absl::OkStatus();
  }

  absl::Status Allocate(const StmtNode& s) {
    RETURN_IF_ERROR(Declare(s.buffer, "allocation"));
    if (vector_) return NotInnermost(absl::StrCat("buffer ", s.buffer->name));
    RETURN_IF_ERROR(Statement(s.body));
    buffers_.erase(s.buffer.get());
    return absl::OkStatus();
  }

  absl::Status Element(const Buffer& buffer, const std::vector<Expr>& indices) {
    if (!buffer) return InvalidInput("an access has no buffer");
    if (!buffers_.contains(buffer.get()))
      return InvalidInput("buffer ", buffer->name, " is used where it is not declared");
    if (indices.size() != buffer->shape.size())
      return InvalidInput("buffer ", buffer->name, " of rank ", buffer->shape.size(), " is accessed by ",
                          indices.size(), " indices");
    for (const Expr& index : indices) {
      RETURN_IF_ERROR(Typed(index, DType::kI64, absl::StrCat("an index of ", buffer->name)));
      if (buffer->space == MemorySpace::kRegister && !IsStatic(index))
        return InvalidInput("buffer ", buffer->name, " lives in registers, but its index ", Print(index),
                            " is not constant once loops are unrolled and vectorized");
    }
    return absl::OkStatus();
  }

  absl::Status Typed(const Expr& e, DType dtype, std::string_view what) {
    RETURN_IF_ERROR(Expression(e));
    if (e->dtype == dtype) return absl::OkStatus();
    return InvalidInput(what, " is ", DTypeName(e->dtype), " where ", DTypeName(dtype), " is needed");
  }

  absl::Status Expression(const Expr& e) {
    if (!e) return InvalidInput("an expression is missing");
    if (e->kind == ExprKind::kVar && !vars_.contains(e->var.get()))
      return InvalidInput("variable ", e->var->name, " is used where it is not bound");
    if (e->kind == ExprKind::kLoad) return Element(e->buffer, e->args);
    for (const Expr& arg : e->args) RETURN_IF_ERROR(Expression(arg));
    if (e->kind == ExprKind::kOp && !AreOperandsValid(e->op, e->args))
      return InvalidInput(MathOpName(e->op), " does not take such operands: ", Print(e));
    if (e->kind == ExprKind::kBitcast && DTypeSize(e->dtype) != DTypeSize(e->args[0]->dtype))
      return InvalidInput("a bitcast changes the size: ", Print(e));
    return absl::OkStatus();
  }

  // Whether the value is known once loops are unrolled and vectorized.
  bool IsStatic(const Expr& e) const { return IsEmittedConstant(e, vars_); }

  EmittedVariables vars_;
  std::set<const BufferNode*> buffers_;  // in scope
  const StmtNode* vector_ = nullptr;     // the vectorized loop around this place
  bool is_root_ = false;
};

}  // namespace

absl::Status VerifyLoopNest(const LoopNest& nest) {
  return Annotate(Verifier().Kernel(nest), absl::StrCat("kernel ", nest.name));
}

}  // namespace attune
