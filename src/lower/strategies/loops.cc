// Loops: the strategy that applies to everything.
//
// Each stage that is not elementwise keeps its own nest. A reduction is computed right where its result is
// finished. In each nest one loop is vectorized: the innermost axis, when the operands lie along it; the
// reduce axis, in lanes that are added up last, when they lie along that. What is left outside is fused and
// shared among threads.
#include <algorithm>

#include "base/checked.h"
#include "base/status.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

// Work below this many elements is not worth waking another thread.
constexpr int64_t kMinParallelElements = 1 << 14;

int64_t Product(const std::vector<Axis>& axes) {
  int64_t n = 1;
  for (const Axis& axis : axes) n *= axis.extent;
  return n;
}

// The stride, in elements, with which a load moves along a variable; nothing where that is not constant.
std::optional<int64_t> StrideAlong(const Expr& load, const Var& var, int64_t extent, const Bounds& ranges) {
  Bounds bounds = ranges;
  bounds.Set(var, {0, std::max<int64_t>(extent - 1, 1)});
  const std::vector<int64_t> strides = load->buffer->strides();
  int64_t stride = 0;
  for (size_t d = 0; d < load->args.size(); ++d) {
    const Affine index = bounds.Normalize(load->args[d]);
    for (const Affine::Term& term : index.terms) {
      if (term.atom->kind == ExprKind::kVar) {
        if (term.atom->var == var) stride += term.coefficient * strides[d];
        continue;
      }
      bool inside = false;
      VisitExpr(term.atom, [&](const Expr& e) { inside |= e->kind == ExprKind::kVar && e->var == var; });
      if (inside) return std::nullopt;
    }
  }
  return stride;
}

// How many loads of a stage are contiguous (or constant) along a variable, less those that are not.
int Contiguity(const Stage& stage, const Axis& axis) {
  Bounds bounds;
  for (const Axis& a : stage.axes) bounds.Set(a.var, {0, std::max<int64_t>(a.extent - 1, 0)});
  for (const Axis& a : stage.reduce_axes) bounds.Set(a.var, {0, std::max<int64_t>(a.extent - 1, 0)});
  int score = 0;
  VisitExpr(stage.value, [&](const Expr& e) {
    if (e->kind != ExprKind::kLoad) return;
    const std::optional<int64_t> stride = StrideAlong(e, axis.var, axis.extent, bounds);
    score += stride == 1 ? 2 : stride == 0 ? 1 : -2;
  });
  return score;
}

int64_t LanesFor(const Stage& stage, const Target& target) {
  int bytes = DTypeSize(stage.output->dtype);
  VisitExpr(stage.value, [&](const Expr& e) {
    if (e->dtype != DType::kI64 && e->dtype != DType::kBool) bytes = std::max(bytes, DTypeSize(e->dtype));
  });
  return target.Lanes(bytes);
}

bool IsElementwiseStage(const Workload& workload, const std::string& name) {
  const auto& stages = workload.elementwise_stages;
  return std::find(stages.begin(), stages.end(), name) != stages.end();
}

// Splits the last loop of a stage into vectors where that pays; says whether it did.
absl::StatusOr<bool> VectorizeLast(Schedule& s, const std::string& loop, int64_t lanes) {
  ASSIGN_OR_RETURN(const int64_t extent, s.Extent(loop));
  if (extent <= 1) return false;
  if (extent <= lanes) {
    if ((extent & (extent - 1)) != 0) return false;
    RETURN_IF_ERROR(s.Vectorize(loop));
    return true;
  }
  RETURN_IF_ERROR(s.Split(loop, lanes));
  RETURN_IF_ERROR(s.Vectorize(loop + ".i"));
  if (extent % lanes != 0) RETURN_IF_ERROR(s.Peel(loop + ".o", 0, 1));
  return true;
}

// Fuses and shares the outer loops of a root stage, all but the `inner` last ones.
absl::Status Share(Schedule& s, const Stage& stage, size_t inner) {
  const int64_t work = Product(stage.axes) * Product(stage.reduce_axes);
  ASSIGN_OR_RETURN(const std::vector<std::string> loops, s.Loops(stage.name));
  if (work < kMinParallelElements || loops.size() <= inner) return absl::OkStatus();
  size_t count = 0;
  while (count < loops.size() - inner && count < stage.axes.size()) ++count;
  return ParallelizeOuter(s, stage.name, count);
}

// A stage without a reduction of its own, and the accumulator `acc` computed inside it, if any.
absl::Status ScheduleStage(Schedule& s, const Stage& stage, const Stage* acc, const Target& target) {
  if (stage.axes.empty()) return absl::OkStatus();
  const Axis& last = stage.axes.back();
  const std::string last_loop = absl::StrCat(stage.name, ".", last.var->name);
  const int64_t lanes = LanesFor(acc == nullptr ? stage : *acc, target);
  const bool along_axis =
      Contiguity(stage, last) >= 0 && (acc == nullptr || Contiguity(*acc, acc->axes.back()) >= 0);
  size_t inner = 0;
  bool vectorized = false;
  if (along_axis) {
    ASSIGN_OR_RETURN(vectorized, VectorizeLast(s, last_loop, lanes));
    if (vectorized) {
      ASSIGN_OR_RETURN(const auto loops, s.Loops(stage.name));
      inner = loops.size() - (stage.axes.size() - 1);
    }
  }
  if (acc != nullptr && !(vectorized && inner == 1 && stage.axes.size() == 1)) {
    ASSIGN_OR_RETURN(const auto loops, s.Loops(stage.name));
    const std::string at = vectorized ? loops[loops.size() - 2] : loops.back();
    RETURN_IF_ERROR(s.ComputeAt(acc->name, at, MemorySpace::kRegister));
    if (vectorized) {
      const std::string lane = absl::StrCat(acc->name, ".", acc->axes.back().var->name);
      ASSIGN_OR_RETURN(std::vector<std::string> order, s.Loops(acc->name));
      order.erase(std::find(order.begin(), order.end(), lane));
      order.push_back(lane);
      RETURN_IF_ERROR(s.Reorder(order));
      RETURN_IF_ERROR(s.Vectorize(lane));
    }
  }
  return Share(s, stage, inner);
}

}  // namespace

std::string LoopsWhyNot(const Workload&, const Target&) { return ""; }
std::vector<Knob> LoopsSpace(const Workload&, const Target&) { return {}; }
Config LoopsDefault(const Workload&, const Target&) { return {}; }

absl::Status LoopsApply(Schedule& s, const Workload& workload, const Config&, const Target& target) {
  for (const std::string& stage : workload.elementwise_stages) RETURN_IF_ERROR(s.Inline(stage));
  const ComputeDef& def = workload.definition;
  for (const Stage& stage : def.stages) {
    if (stage.is_imperative() || stage.is_reduction() || IsElementwiseStage(workload, stage.name)) continue;
    const Stage* acc = nullptr;
    for (const Stage& other : def.stages) {
      if (other.name == stage.name + ".acc" && other.is_reduction()) acc = &other;
    }
    RETURN_IF_ERROR(ScheduleStage(s, stage, acc, target));
  }
  return absl::OkStatus();
}

}  // namespace attune
