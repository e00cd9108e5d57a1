#include "tune/cost_model/nest_analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tensor/affine.h"
#include "tensor/registers.h"

namespace attune {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// The assumed extent of a loop whose extent is unknown.
constexpr double kGuessedExtent = 16;

bool IsTranscendental(MathOp op) {
  switch (op) {
    case MathOp::kDiv:
    case MathOp::kMod:
    case MathOp::kPow:
    case MathOp::kSqrt:
      return true;
    default:
      return op >= MathOp::kExp && op <= MathOp::kSilu;
  }
}

// Counts the operations of a statement on elements, by kind of instruction.
struct Operations {
  double adds = 0, multiplications = 0, others = 0, transcendental = 0;
  int widest = 0;  // bytes of an element
};

class Analyzer {
 public:
  explicit Analyzer(const Target& target) : register_bytes_(target.vector_bits / 8.0) {}

  NestAnalysis Run(const LoopNest& nest) {
    for (const Stmt& root : nest.roots) Visit(root);
    return std::move(analysis_);
  }

 private:
  void Visit(const Stmt& s) {
    if (s == nullptr) return;
    switch (s->kind) {
      case StmtKind::kStore:
        return VisitStore(*s);
      case StmtKind::kFor:
        return VisitFor(*s);
      case StmtKind::kIf:
        return VisitIf(*s);
      case StmtKind::kSequence:
        for (const Stmt& child : s->children) Visit(child);
        return;
      case StmtKind::kLet:
        bounds_.Set(s->var, s->var->dtype == DType::kI64 ? bounds_.Range(s->value) : Interval{});
        lets_[s->var.get()] = s->value;
        Visit(s->body);
        lets_.erase(s->var.get());
        return bounds_.Unset(s->var);
      case StmtKind::kAllocate:
        return VisitAllocate(*s);
      case StmtKind::kWhile:
        analysis_.branches += executions_;
        return Visit(s->body);
      case StmtKind::kPrefetch:
        analysis_.prefetches += executions_;
        return;
    }
  }

  void VisitFor(const StmtNode& s) {
    const Interval min = bounds_.Range(s.min), extent = bounds_.Range(s.extent);
    if (extent.max <= 0) return;
    const bool is_known = extent.max < Interval::kHigh / 2;
    const double iterations = is_known ? static_cast<double>(extent.max) : kGuessedExtent;
    const bool is_bounded = is_known && min.max < Interval::kHigh / 2 && min.min > Interval::kLow / 2;
    bounds_.Set(s.var, is_bounded ? Interval{min.min, min.max + extent.max - 1} : Interval{});
    if (iterations == 1) {
      // The variable acts as a constant, or depends on the same variables as its start.
      lets_[s.var.get()] = s.min;
      Visit(s.body);
      lets_.erase(s.var.get());
      return bounds_.Unset(s.var);
    }
    const int parent = loop_, vector = vector_loop_;
    const double executions = executions_, copies = copies_;
    loop_ = static_cast<int>(analysis_.loops.size());
    analysis_.loops.push_back(
        {parent, parent < 0 ? 0 : analysis_.loops[parent].depth + 1, s.loop, iterations});
    loops_[s.var.get()] = {loop_, is_bounded ? static_cast<double>(min.min) : 0};
    if (s.loop == LoopKind::kVectorized) vector_loop_ = loop_;
    if (s.loop == LoopKind::kDot) dot_loop_ = loop_;
    if (s.loop == LoopKind::kUnrolled || s.loop == LoopKind::kMatrix) copies_ *= iterations;
    if (s.loop != LoopKind::kVectorized && s.loop != LoopKind::kDot) executions_ *= iterations;
    Visit(s.body);
    if (s.loop == LoopKind::kDot) dot_loop_ = -1;
    loops_.erase(s.var.get());
    loop_ = parent, vector_loop_ = vector, executions_ = executions, copies_ = copies;
    bounds_.Unset(s.var);
  }

  void VisitIf(const StmtNode& s) {
    if (const std::optional<bool> known = bounds_.Prove(s.condition))
      return Visit(*known ? s.body : s.else_body);
    analysis_.branches += executions_;
    const bool was_guarded = std::exchange(is_guarded_, true);
    Visit(s.body);
    Visit(s.else_body);
    is_guarded_ = was_guarded;
  }

  void VisitAllocate(const StmtNode& s) {
    const double bytes = static_cast<double>(s.buffer->num_elements() * DTypeSize(s.buffer->dtype));
    const bool is_register = s.buffer->space == MemorySpace::kRegister;
    const double registers = is_register && !IsOfTiles(s) ? std::ceil(bytes / register_bytes_) : 0;
    if (!is_register) analysis_.scratch_bytes += bytes;
    live_registers_ += registers;
    Visit(s.body);
    live_registers_ -= registers;
  }

  void VisitStore(const StmtNode& s) {
    NestStatement& statement = analysis_.statements.emplace_back();
    statement.loop = loop_;
    statement.vector_loop = vector_loop_;
    statement.is_guarded = is_guarded_;
    statement.executions = executions_;
    statement.copies = copies_;
    statement.live_registers = live_registers_;
    Operations operations;
    operations.widest = DTypeSize(s.buffer->dtype);
    visited_.clear();
    Count(s.value, operations);
    AddAccess(s.buffer, s.indices, /*is_store=*/true);
    Finish(operations);
  }

  // Counts the operations and loads of an expression, shared parts only once. Operations in indices do not
  // count, but loads in them do.
  void Count(const Expr& e, Operations& operations) {
    if (e->kind == ExprKind::kInt || e->kind == ExprKind::kFloat) return;
    if (!visited_.insert(e.get()).second) return;
    if (e->kind == ExprKind::kVar) {
      const auto let = lets_.find(e->var.get());
      if (let != lets_.end() && let->second) Count(let->second, operations);
      return;
    }
    for (const Expr& arg : e->args) {
      if (e->kind != ExprKind::kLoad || arg->kind != ExprKind::kVar) Count(arg, operations);
    }
    if (e->kind == ExprKind::kLoad) return AddAccess(e->buffer, e->args, /*is_store=*/false);
    // Index arithmetic is i64, and conditions computed from it do not use vector lanes.
    if (e->kind != ExprKind::kOp || e->dtype == DType::kI64 || e->args[0]->dtype == DType::kI64) return;
    operations.widest = std::max(operations.widest, DTypeSize(e->dtype));
    if (IsTranscendental(e->op)) {
      ++operations.transcendental;
    } else if (e->op == MathOp::kFma) {
      ++operations.adds;
      ++operations.multiplications;
    } else if (e->op == MathOp::kAdd || e->op == MathOp::kSub) {
      ++operations.adds;
    } else if (e->op == MathOp::kMul) {
      ++operations.multiplications;
    } else {
      ++operations.others;
    }
  }

  void AddAccess(const Buffer& buffer, const std::vector<Expr>& indices, bool is_store) {
    if (buffer->space == MemorySpace::kRegister) return;
    NestAccess& access = analysis_.statements.back().accesses.emplace_back();
    access.buffer = buffer.get();
    access.is_store = is_store;
    for (const Expr& index : indices) {
      NestIndex& found = access.indices.emplace_back();
      const Affine affine = bounds_.Normalize(index);
      found.low = static_cast<double>(affine.constant);
      for (const Affine::Term& term : affine.terms)
        AddTerms(term.atom, static_cast<double>(term.coefficient), /*is_exact=*/true, found);
    }
    const double element_bytes = DTypeSize(buffer->dtype);
    const double lanes = vector_loop_ < 0 ? 1 : analysis_.loops[vector_loop_].extent;
    const double terms = dot_loop_ < 0 ? 1 : analysis_.loops[dot_loop_].extent;
    access.lanes = LanesOf(access, element_bytes * terms);
    const double elements = access.lanes == LaneAccess::kUniform ? 1 : lanes;
    access.bytes = elements * terms * element_bytes;
    access.instructions = access.lanes == LaneAccess::kIrregular
                              ? lanes
                              : std::max(1.0, std::ceil(access.bytes / register_bytes_));
  }

  // Adds scale · e to an index; e is not a sum with known coefficients.
  void AddTerms(const Expr& e, double scale, bool is_exact, NestIndex& index) const {
    if (e->kind == ExprKind::kVar) {
      if (const auto loop = loops_.find(e->var.get()); loop != loops_.end()) {
        index.terms.push_back({loop->second.index, scale, is_exact});
        if (std::isfinite(scale)) index.low += scale * loop->second.min;
      } else if (const auto let = lets_.find(e->var.get()); let != lets_.end() && let->second) {
        AddTerms(let->second, scale, is_exact, index);
      }
      return;
    }
    if (e->kind != ExprKind::kOp) {
      // A value loaded from memory can be anything, so the index depends on the loops in its address in any
      // way.
      for (const Expr& arg : e->args) AddTerms(arg, kInfinite, false, index);
      return;
    }
    const bool by_constant = e->args.size() == 2 && IsIntConst(e->args[1]) && e->args[1]->int_value != 0;
    const double constant = by_constant ? static_cast<double>(e->args[1]->int_value) : 1;
    switch (e->op) {
      case MathOp::kAdd:
        AddTerms(e->args[0], scale, is_exact, index);
        return AddTerms(e->args[1], scale, is_exact, index);
      case MathOp::kSub:
        AddTerms(e->args[0], scale, is_exact, index);
        return AddTerms(e->args[1], -scale, is_exact, index);
      case MathOp::kMul:
        if (by_constant) return AddTerms(e->args[0], scale * constant, is_exact, index);
        break;
      case MathOp::kFloorDiv:
        if (by_constant) return AddTerms(e->args[0], scale / constant, false, index);
        break;
      case MathOp::kMin:
      case MathOp::kMax:
        for (const Expr& arg : e->args) AddTerms(arg, scale, false, index);
        return;
      case MathOp::kSelect:
        AddTerms(e->args[1], scale, false, index);
        return AddTerms(e->args[2], scale, false, index);
      default:
        break;
    }
    for (const Expr& arg : e->args) AddTerms(arg, kInfinite, false, index);
  }

  // `neighbour_bytes`: the distance between two adjacent lanes if access is contiguous.
  LaneAccess LanesOf(const NestAccess& access, double neighbour_bytes) const {
    if (vector_loop_ < 0) return LaneAccess::kUniform;
    bool depends = false;
    for (const NestIndex& index : access.indices) {
      for (const NestIndex::Term& term : index.terms) {
        if (term.loop != vector_loop_) continue;
        depends = true;
        if (!term.is_exact) return LaneAccess::kIrregular;
      }
    }
    if (!depends) return LaneAccess::kUniform;
    const double stride = access.StrideAlong(vector_loop_);
    if (stride == 0) return LaneAccess::kUniform;
    return stride == neighbour_bytes ? LaneAccess::kContiguous : LaneAccess::kIrregular;
  }

  // Computes the cost of one execution of the last statement.
  void Finish(const Operations& operations) {
    NestStatement& statement = analysis_.statements.back();
    const double lanes = vector_loop_ < 0 ? 1 : analysis_.loops[vector_loop_].extent;
    const double terms = dot_loop_ < 0 ? 1 : analysis_.loops[dot_loop_].extent;
    statement.vector_bytes = std::min<double>(lanes * operations.widest, register_bytes_);
    const double registers = std::max(1.0, std::ceil(lanes * operations.widest / register_bytes_));
    const double fused = std::min(operations.adds, operations.multiplications);
    const double simple = operations.adds + operations.multiplications + operations.others - 2 * fused;
    statement.multiply_adds = fused * registers;
    statement.arithmetic = simple * registers;
    statement.transcendental = operations.transcendental * registers;
    statement.flops = (2 * fused + simple + operations.transcendental) * lanes * terms;
  }

  struct LoopOfVar {
    int index;
    double min;
  };

  const double register_bytes_;
  NestAnalysis analysis_;
  Bounds bounds_;
  // For the variables in scope. Consecutive loops may use the same variable.
  std::unordered_map<const VarNode*, LoopOfVar> loops_;
  std::unordered_map<const VarNode*, Expr> lets_;
  std::unordered_set<const ExprNode*> visited_;  // in the expression being counted
  // The current position in the nest.
  int loop_ = -1, vector_loop_ = -1, dot_loop_ = -1;
  double executions_ = 1, copies_ = 1, live_registers_ = 0;
  bool is_guarded_ = false;
};

}  // namespace

NestAnalysis AnalyzeNest(const LoopNest& nest, const Target& target) { return Analyzer(target).Run(nest); }

}  // namespace attune
