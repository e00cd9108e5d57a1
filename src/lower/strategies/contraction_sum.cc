#include "lower/strategies/contraction_sum.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/op.h"
#include "lower/strategies/access.h"
#include "lower/strategies/strategies.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

// Whether the output reads just one index of the sum along its axis `d`, as a broadcast does.
bool IsReadAtOnePlace(const SumStages& stages, size_t d) {
  bool one_place = false;
  VisitLoads(stages.output, [&](const Expr& load) {
    one_place |= load->buffer == stages.sum.output && Variables(load->args[d]).empty();
  });
  return one_place;
}

class Analysis {
 public:
  Analysis(const Workload& workload, const Target& target)
      : image_rank_(IsConv(workload.anchor->op()) ? workload.anchor->output()->type().dims.size() : 0) {
    const SumStages stages = *StagesOf(workload);
    sum_.stage = stages.sum;
    std::set<const VarNode*> at_one_place;
    for (size_t d = 0; d < sum_.stage.axes.size(); ++d) {
      if (IsReadAtOnePlace(stages, d)) at_one_place.insert(sum_.stage.axes[d].var.get());
    }
    // In the order of the output's axes, whatever order the accumulator has.
    std::ranges::sort(sum_.stage.axes, {}, [](const Axis& axis) { return axis.var->name; });
    sum_.lanes = LanesOf(sum_.stage, target.vector_bits);
    for (const Axis& axis : sum_.stage.reduce_axes) sum_.terms *= axis.extent;
    bounds_ = AxisBounds(sum_.stage);
    MakeLoops();
    for (OutputLoop& loop : sum_.loops)
      loop.fills_lanes = !at_one_place.contains(sum_.stage.axes[loop.axis].var.get());
    FindOperands();
    OrderTerms();
  }
  Sum Take() { return std::move(sum_); }

 private:
  void MakeLoops() {
    int64_t stride = 1;
    std::vector<int64_t> strides(sum_.stage.axes.size());
    for (size_t d = strides.size(); d-- > 0;) {
      strides[d] = stride;
      stride *= sum_.stage.axes[d].extent;
    }
    for (size_t d = 0; d < sum_.stage.axes.size(); ++d) {
      const Axis& axis = sum_.stage.axes[d];
      const std::string& name = axis.var->name;
      const int64_t part = PartOf(sum_.stage, axis);
      if (part == 1) {
        Add(d, name, axis.extent, strides[d]);
        values_[axis.var.get()] = Expr(variables_.back());
        continue;
      }
      sum_.parts[d] = part;
      Add(d, name + ".o", axis.extent / part, strides[d] * part);
      Add(d, name + ".i", part, strides[d]);
      values_[axis.var.get()] =
          Expr(variables_[variables_.size() - 2]) * Expr(part) + Expr(variables_.back());
    }
    const Expr where = ReplaceVars(sum_.stage.where, values_);
    for (size_t i = 0; i < sum_.loops.size(); ++i) {
      OutputLoop& loop = sum_.loops[i];
      loop.guarded = where && Mentions(where, variables_[i]);
      loop.padded = loop.guarded && loop.axis >= 2 && loop.axis < image_rank_;
    }
  }

  void Add(size_t axis, const std::string& name, int64_t extent, int64_t store_stride) {
    variables_.push_back(MakeVar(name));
    bounds_.Set(variables_.back(), {0, extent - 1});
    sum_.loops.push_back({axis, extent, store_stride, {}, false, false, true});
  }

  void FindOperands() {
    VisitLoads(sum_.stage, [&](const Expr& load) {
      for (Operand& known : sum_.operands) {
        if (known.buffer != load->buffer) continue;
        ++known.loads;
        return;
      }
      Operand operand{load->buffer, 1, 1, {}, {}, {}};
      const Expr resolved = ReplaceVars(load, values_);
      std::vector<Affine> indices;
      for (const Expr& index : resolved->args) indices.push_back(bounds_.Normalize(index));
      for (size_t i = 0; i < sum_.loops.size(); ++i) {
        sum_.loops[i].strides.push_back(StrideAlong(resolved, variables_[i], bounds_));
        operand.moves.push_back(MoveAlong(indices, variables_[i]));
        if (sum_.loops[i].strides.back() == 0) operand.uses *= sum_.loops[i].extent;
      }
      for (const Affine& index : indices) {
        std::vector<int64_t>& steps = operand.steps.emplace_back();
        for (const Var& variable : variables_) steps.push_back(StepOf(index, variable));
        int64_t& reach = operand.reach.emplace_back(1);
        for (const Axis& axis : sum_.stage.reduce_axes)
          reach += std::abs(StepOf(index, axis.var)) * (axis.extent - 1);
      }
      sum_.operands.push_back(std::move(operand));
    });
  }

  static int64_t StepOf(const Affine& index, const Var& var) {
    const Affine::Term* term = index.Find(var);
    return term == nullptr ? 0 : term->coefficient;
  }

  static std::optional<Move> MoveAlong(const std::vector<Affine>& indices, const Var& var) {
    std::optional<Move> found;
    for (size_t d = 0; d < indices.size(); ++d) {
      const Affine& index = indices[d];
      for (const Affine::Term& term : index.terms) {
        if (!Mentions(term.atom, var)) continue;
        if (term.atom->kind != ExprKind::kVar || term.coefficient < 1 || found) return std::nullopt;
        const bool alone = index.terms.size() == 1 && term.coefficient == 1 && index.constant == 0;
        found = Move{static_cast<int64_t>(d), term.coefficient, alone};
      }
    }
    return found;
  }

  // Puts large steps outside, so that cache lines are used up.
  void OrderTerms() {
    const std::vector<Axis>& axes = sum_.stage.reduce_axes;
    std::vector<int64_t> steps(axes.size(), 0);
    VisitLoads(sum_.stage, [&](const Expr& load) {
      for (size_t i = 0; i < axes.size(); ++i)
        steps[i] = std::max(steps[i], std::abs(StrideAlong(load, axes[i].var, bounds_).value_or(0)));
    });
    sum_.terms_in_order.resize(axes.size());
    std::iota(sum_.terms_in_order.begin(), sum_.terms_in_order.end(), size_t{0});
    std::ranges::sort(sum_.terms_in_order,
                      [&](size_t a, size_t b) { return std::pair(-steps[a], a) < std::pair(-steps[b], b); });
    std::vector<Expr> conditions;
    if (sum_.stage.where) Conjuncts(sum_.stage.where, conditions);
    for (const Axis& axis : axes) {
      std::set<size_t>& with = sum_.guarded_with.emplace_back();
      for (const Expr& condition : conditions) {
        for (size_t d = 0; d < sum_.stage.axes.size(); ++d) {
          if (Mentions(condition, axis.var) && Mentions(condition, sum_.stage.axes[d].var)) with.insert(d);
        }
      }
    }
  }

  const size_t image_rank_;  // 0 unless the sum is a convolution
  Sum sum_;
  Bounds bounds_;
  std::vector<Var> variables_;
  std::map<const VarNode*, Expr> values_;
};

}  // namespace

int64_t PartOf(const Stage& stage, const Axis& axis) {
  int64_t part = 1;
  VisitFormulas(stage, [&](const Expr& e) {
    if (e->kind != ExprKind::kOp || (e->op != MathOp::kFloorDiv && e->op != MathOp::kFloorMod)) return;
    if (!Mentions(e, axis.var)) return;
    const bool plain = e->args[0]->kind == ExprKind::kVar && IsIntConst(e->args[1]);
    const int64_t divisor = plain ? e->args[1]->int_value : 0;
    if (divisor <= 0 || axis.extent % divisor != 0 || (part != 1 && part != divisor)) {
      part = 0;
    } else if (part != 0) {
      part = divisor;
    }
  });
  return part == axis.extent ? 1 : part;
}

std::optional<SumStages> StagesOf(const Workload& workload) {
  Schedule schedule(workload.definition);
  if (!InlineEpilogue(schedule, workload).ok()) return std::nullopt;
  std::vector<Stage> stages = schedule.Stages();
  if (stages.size() != 2 || stages[0].name != workload.accumulator_stage) return std::nullopt;
  return SumStages{std::move(stages[0]), std::move(stages[1])};
}

Sum AnalyzeSum(const Workload& workload, const Target& target) { return Analysis(workload, target).Take(); }

size_t AxisOf(const Workload& workload, size_t loop) {
  const Stage stage = StagesOf(workload)->sum;
  size_t axis = 0;
  for (size_t first = 0; axis < stage.axes.size(); ++axis) {
    first += PartOf(stage, stage.axes[axis]) == 1 ? 1 : 2;
    if (loop < first) break;
  }
  return axis;
}

}  // namespace attune
