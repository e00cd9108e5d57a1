#include "lower/open_definition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/status.h"
#include "tensor/affine.h"

namespace attune {
namespace {

// The same part of each definition.
template <typename T>
using Same = std::vector<T>;

class Generalization {
  template <typename F>
  auto Each(const F& part) const {
    Same<std::decay_t<decltype(part(definitions_[0]))>> parts;
    for (const ComputeDef& def : definitions_) parts.push_back(part(def));
    return parts;
  }
  template <typename T, typename F>
  static auto Each(const Same<T>& same, const F& part) {
    Same<std::decay_t<decltype(part(same[0]))>> parts;
    for (const T& one : same) parts.push_back(part(one));
    return parts;
  }
  template <typename F>
  bool Agree(const F& part) const {
    return AllEqual(Each(part));
  }
  template <typename T>
  static bool AllEqual(const Same<T>& same) {
    return std::ranges::all_of(same, [&](const T& one) { return one == same[0]; });
  }
  template <typename T, typename F>
  static bool AllEqual(const Same<T>& same, const F& part) {
    return AllEqual(Each(same, part));
  }

 public:
  Generalization(std::span<const ComputeDef> definitions, std::span<const SizePoint> points,
                 std::span<const OpenDim> dims)
      : definitions_(definitions), points_(points) {
    for (const OpenDim& dim : dims) {
      params_.push_back({MakeVar(dim.name), dim.min, dim.max});
      bounds_.Set(params_.back().var, {dim.min, dim.max});
    }
  }

  absl::StatusOr<ComputeDef> Run() {
    ComputeDef open;
    open.name = definitions_[0].name;
    open.sizes = params_;
    if (definitions_[0].dims_buffer) return NotSupported("with open sizes: sizes that data decides");
    Expect(Agree([](const ComputeDef& def) { return def.params.size(); }) &&
           Agree([](const ComputeDef& def) { return def.stages.size(); }));
    for (size_t i = 0; status_.ok() && i < definitions_[0].params.size(); ++i) {
      const auto param = Each([i](const ComputeDef& def) { return def.params[i].buffer; });
      open.params.push_back({OpenBuffer(param), definitions_[0].params[i].role});
    }
    for (size_t i = 0; status_.ok() && i < definitions_[0].stages.size(); ++i)
      open.stages.push_back(OpenStage(Each([i](const ComputeDef& def) { return &def.stages[i]; })));
    RETURN_IF_ERROR(status_);
    return open;
  }

 private:
  template <typename... What>
  void Fail(const What&... what) {
    status_.Update(NotSupported("with open sizes: ", what...));
  }
  void Expect(bool holds) {
    if (!holds) Fail("the formula of ", definitions_[0].name, " depends on them in more than its numbers");
  }

  std::optional<SizeExpr> FitOf(const Same<int64_t>& values) {
    std::optional<SizeExpr> size = FitSize(values, points_);
    if (!size.has_value()) {
      Fail("a number of ", definitions_[0].name, " follows no expression of them: it is ", values[0], " and ",
           values[1]);
    }
    return size;
  }

  Extent OpenExtent(const Same<int64_t>& values) {
    if (AllEqual(values)) return values[0];
    const std::optional<SizeExpr> size = FitOf(values);
    if (!size.has_value()) return 0;
    const Expr open = ToExpr(*size, params_);
    return {open, bounds_.Range(open).max};
  }

  Buffer OpenBuffer(const Same<Buffer>& same) {
    const auto known = buffers_.find(same[0].get());
    if (known != buffers_.end()) return known->second;
    Expect(AllEqual(same, [](const Buffer& b) { return b->name; }) &&
           AllEqual(same, [](const Buffer& b) { return b->dtype; }) &&
           AllEqual(same, [](const Buffer& b) { return b->space; }) &&
           AllEqual(same, [](const Buffer& b) { return b->rank(); }));
    if (!status_.ok()) return same[0];
    std::vector<Extent> extents;
    for (size_t d = 0; d < same[0]->rank(); ++d)
      extents.push_back(OpenExtent(Each(same, [d](const Buffer& b) { return b->shape[d]; })));
    const bool is_open = std::ranges::any_of(extents, &Extent::is_open);
    return buffers_[same[0].get()] =
               is_open ? MakeOpenBuffer(same[0]->name, same[0]->dtype, extents, same[0]->space) : same[0];
  }

  void Bind(const Same<Var>& same) {
    Expect(AllEqual(same, [](const Var& v) { return v->name; }));
    for (const Var& var : same) first_of_[var.get()] = same[0];
  }

  std::vector<Axis> OpenAxes(const Same<const std::vector<Axis>*>& same) {
    std::vector<Axis> axes;
    Expect(AllEqual(same, [](const auto* one) { return one->size(); }));
    for (size_t i = 0; status_.ok() && i < same[0]->size(); ++i) {
      const auto axis = Each(same, [i](const auto* one) { return &(*one)[i]; });
      Bind(Each(axis, [](const Axis* a) { return a->var; }));
      axes.push_back({axis[0]->var, OpenExtent(Each(axis, [](const Axis* a) { return a->extent.bound(); })),
                      OpenExtent(Each(axis, [](const Axis* a) { return a->min.bound(); }))});
    }
    return axes;
  }

  Stage OpenStage(const Same<const Stage*>& same) {
    Stage open = *same[0];
    Expect(AllEqual(same, [](const Stage* s) { return s->name; }) &&
           AllEqual(same, [](const Stage* s) { return s->combiner; }) &&
           AllEqual(same, [](const Stage* s) { return s->other_outputs.size(); }));
    if (!status_.ok()) return open;
    open.output = OpenBuffer(Each(same, [](const Stage* s) { return s->output; }));
    for (size_t i = 0; i < open.other_outputs.size(); ++i)
      open.other_outputs[i] = OpenBuffer(Each(same, [i](const Stage* s) { return s->other_outputs[i]; }));
    open.axes = OpenAxes(Each(same, [](const Stage* s) { return &s->axes; }));
    open.reduce_axes = OpenAxes(Each(same, [](const Stage* s) { return &s->reduce_axes; }));
    open.init = OpenExpr(Each(same, [](const Stage* s) { return s->init; }));
    open.value = OpenExpr(Each(same, [](const Stage* s) { return s->value; }));
    open.where = OpenExpr(Each(same, [](const Stage* s) { return s->where; }));
    open.body = OpenStmt(Each(same, [](const Stage* s) { return s->body; }));
    return open;
  }

  Expr OpenExpr(const Same<Expr>& same) {
    Expect(AllEqual(same, [](const Expr& e) { return static_cast<bool>(e); }));
    if (!status_.ok() || !same[0]) return same[0];
    // Formulas share subexpressions.
    const auto known = exprs_.find(same[0].get());
    if (known != exprs_.end() && std::ranges::equal(known->second.same, same, {}, &Expr::get, &Expr::get))
      return known->second.open;
    Expr open = MakeExpr(same);
    exprs_[same[0].get()] = {same, open};
    return open;
  }

  Expr MakeExpr(const Same<Expr>& same) {
    const ExprNode& first = *same[0];
    Expect(AllEqual(same, [](const Expr& e) { return e->kind; }) &&
           AllEqual(same, [](const Expr& e) { return e->dtype; }) &&
           AllEqual(same, [](const Expr& e) { return e->op; }) &&
           AllEqual(same, [](const Expr& e) { return e->args.size(); }));
    if (!status_.ok()) return same[0];
    if (first.kind == ExprKind::kInt)
      return OpenInt(Each(same, [](const Expr& e) { return e->int_value; }), first.dtype);
    if (first.kind == ExprKind::kFloat) return OpenFloat(same);
    if (first.kind == ExprKind::kVar) {
      for (const Expr& e : same) {
        const auto bound = first_of_.find(e->var.get());
        Expect(bound != first_of_.end() && bound->second == first.var);
      }
      return same[0];
    }
    std::vector<Expr> args;
    for (size_t i = 0; i < first.args.size(); ++i)
      args.push_back(OpenExpr(Each(same, [i](const Expr& e) { return e->args[i]; })));
    if (first.kind == ExprKind::kLoad)
      return Load(OpenBuffer(Each(same, [](const Expr& e) { return e->buffer; })), std::move(args));
    ExprNode open = first;
    open.args = std::move(args);
    return Expr(std::make_shared<const ExprNode>(std::move(open)));
  }

  Expr OpenInt(const Same<int64_t>& values, DType dtype) {
    if (AllEqual(values)) return IntConst(values[0], dtype);
    const std::optional<SizeExpr> size = FitOf(values);
    return size.has_value() ? CastTo(dtype, ToExpr(*size, params_)) : IntConst(0, dtype);
  }

  // A float that differs is a number of elements, or what each of them counts in a mean.
  Expr OpenFloat(const Same<Expr>& same) {
    const DType dtype = same[0]->dtype;
    const auto bits = [](const Expr& e) { return std::bit_cast<uint64_t>(e->float_value); };
    if (AllEqual(same, bits)) return same[0];
    const auto is_whole = [](double value) { return std::abs(value) < 0x1p53 && std::floor(value) == value; };
    Same<int64_t> wholes, parts;
    for (const Expr& e : same) {
      const double value = e->float_value, count = std::round(1 / value);
      if (is_whole(value)) wholes.push_back(static_cast<int64_t>(value));
      const double part = dtype == DType::kF32 ? 1.0F / static_cast<float>(count) : 1 / count;
      if (is_whole(count) && part == value) parts.push_back(static_cast<int64_t>(count));
    }
    if (wholes.size() == same.size()) return CastTo(dtype, OpenInt(wholes, DType::kI64));
    if (parts.size() == same.size()) return FloatConst(1, dtype) / CastTo(dtype, OpenInt(parts, DType::kI64));
    Fail("a factor of ", definitions_[0].name, " depends on them: it is ", same[0]->float_value, " and ",
         same[1]->float_value);
    return same[0];
  }

  Stmt OpenStmt(const Same<Stmt>& same) {
    Expect(AllEqual(same, [](const Stmt& s) { return s != nullptr; }));
    if (!status_.ok() || same[0] == nullptr) return same[0];
    Expect(AllEqual(same, [](const Stmt& s) { return s->kind; }) &&
           AllEqual(same, [](const Stmt& s) { return s->loop; }) &&
           AllEqual(same, [](const Stmt& s) { return s->indices.size(); }) &&
           AllEqual(same, [](const Stmt& s) { return s->children.size(); }) &&
           AllEqual(same, [](const Stmt& s) { return s->buffer != nullptr; }));
    if (!status_.ok()) return same[0];
    StmtNode open = *same[0];
    if (open.var) Bind(Each(same, [](const Stmt& s) { return s->var; }));
    if (open.buffer) open.buffer = OpenBuffer(Each(same, [](const Stmt& s) { return s->buffer; }));
    for (size_t i = 0; i < open.indices.size(); ++i)
      open.indices[i] = OpenExpr(Each(same, [i](const Stmt& s) { return s->indices[i]; }));
    for (Expr StmtNode::* part : {&StmtNode::value, &StmtNode::condition, &StmtNode::min, &StmtNode::extent})
      open.*part = OpenExpr(Each(same, [part](const Stmt& s) { return (*s).*part; }));
    for (size_t i = 0; i < open.children.size(); ++i)
      open.children[i] = OpenStmt(Each(same, [i](const Stmt& s) { return s->children[i]; }));
    open.body = OpenStmt(Each(same, [](const Stmt& s) { return s->body; }));
    open.else_body = OpenStmt(Each(same, [](const Stmt& s) { return s->else_body; }));
    return std::make_shared<const StmtNode>(std::move(open));
  }

  struct Made {
    Same<Expr> same;
    Expr open;
  };

  std::span<const ComputeDef> definitions_;
  std::span<const SizePoint> points_;
  std::vector<SizeParam> params_;
  Bounds bounds_;
  std::unordered_map<const BufferNode*, Buffer> buffers_;  // by the first definition's
  std::unordered_map<const VarNode*, Var> first_of_;       // the first definition's, by each
  std::unordered_map<const ExprNode*, Made> exprs_;        // by the first definition's
  absl::Status status_;
};

}  // namespace

absl::StatusOr<ComputeDef> OpenDefinition(std::span<const ComputeDef> definitions,
                                          std::span<const SizePoint> points, std::span<const OpenDim> dims) {
  return Generalization(definitions, points, dims).Run();
}

Expr ToExpr(const SizeExpr& size, std::span<const SizeParam> params) {
  Expr sum(0);
  for (const auto& [monomial, coefficient] : size.terms()) {
    Expr product(coefficient);
    for (const SizeAtom& atom : monomial) {
      const Expr moved = Expr(params[static_cast<size_t>(atom.dim)].var) + Expr(atom.add);
      product = product * (atom.divisor == 1 ? moved : FloorDiv(moved, atom.divisor));
    }
    sum = sum + product;
  }
  return sum;
}

}  // namespace attune
