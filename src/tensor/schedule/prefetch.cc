#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "tensor/schedule/transforms.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

constexpr int64_t kLineBytes = 64;
constexpr int64_t kMaxLines = 16;  // per iteration

int64_t ElementsOfLine(const Buffer& buffer) { return kLineBytes / DTypeSize(buffer->dtype); }

// UsesOfIndex() for a loop whose variable is not in the index: all iterations, however many.
constexpr int64_t kAllIterations = std::numeric_limits<int64_t>::max();

// How many consecutive iterations of a loop leave an index unchanged: n if the loop's variable occurs only
// as var / n, and the least n if it occurs so more than once.
int64_t UsesOfIndex(const Affine& index, const Var& var) {
  int64_t uses = kAllIterations;
  for (const Affine::Term& term : index.terms) {
    if (!Mentions(term.atom, var)) continue;
    Expr quotient = term.atom;
    if (quotient->kind == ExprKind::kOp && quotient->op == MathOp::kFloorMod) quotient = quotient->args[0];
    const bool is_quotient = quotient->kind == ExprKind::kOp && quotient->op == MathOp::kFloorDiv &&
                             quotient->args[0]->kind == ExprKind::kVar && quotient->args[0]->var == var &&
                             quotient->args[1]->kind == ExprKind::kInt;
    uses = std::min(uses, is_quotient ? quotient->args[1]->int_value : 1);
  }
  return uses;
}

// The prefetches of one loop of a stage.
class Prefetching {
 public:
  Prefetching(const LoopTree& tree, const ScheduledStage& state, const StageLoop& loop)
      : tree_(tree), state_(state), loop_(loop), bounds_(tree.LoopBounds()) {}

  std::vector<Stmt> Run() {
    for (const Prefetched& prefetched : loop_.prefetches) {
      VisitExpr(tree_.Resolve(state_, state_.stage.value), [&](const Expr& e) {
        const bool reads = e->kind == ExprKind::kLoad && e->buffer->name == prefetched.buffer;
        // A buffer that is computed at a loop is in a cache anyway.
        if (!reads || e->buffer->space != MemorySpace::kGlobal) return;
        if (prefetched.next_tile) {
          PrefetchNextTile(e);
        } else {
          PrefetchNextBlock(e);
        }
      });
    }
    return std::move(statements_);
  }

 private:
  // The loops of this stage inside of `loop_`.
  std::span<const StageLoop> LoopsInside() const {
    const std::span<const StageLoop> loops = state_.loops;
    return loops.subspan(static_cast<size_t>(&loop_ - loops.data()) + 1);
  }

  // The loop of this variable and all loops around it, including those of the stages that its stage is
  // computed at; outermost first.
  std::vector<const StageLoop*> LoopsAround(Var var) const {
    std::vector<const StageLoop*> loops;
    while (var) {
      const ConstLoopRef found = tree_.LoopOf(var);
      for (size_t i = found.index + 1; i-- > 0;) loops.push_back(&found.state->loops[i]);
      var = found.state->attached_to;
    }
    std::ranges::reverse(loops);
    return loops;
  }

  // The indices of the block that `load` reads; none if loops inside move from block to block.
  std::vector<Affine> BlockOf(const Expr& load) const {
    const auto moves = [](const Affine& index, std::span<const StageLoop> loops) {
      return std::ranges::any_of(
          loops, [&](const StageLoop& loop) { return UsesOfIndex(index, loop.var) != kAllIterations; });
    };
    std::vector<Affine> block;
    for (size_t axis = 0; axis + 1 < load->args.size(); ++axis) {
      Affine index = bounds_.Normalize(load->args[axis]);
      if (moves(index, axis == 0 ? LoopsInside() : std::span<const StageLoop>(state_.loops))) break;
      block.push_back(std::move(index));
    }
    return block;
  }

  // Adds one iteration's share of the prefetches of the block after the one that `load` reads.
  void PrefetchNextBlock(const Expr& load) {
    const Buffer& buffer = load->buffer;
    if (buffer->is_open()) return;
    const std::vector<Affine> block = BlockOf(load);
    int64_t blocks = 1;
    for (size_t axis = 0; axis < block.size(); ++axis) blocks *= buffer->shape[axis];
    if (blocks < 2) return;
    // The iterations from the block's first use to its last, and how many of them are over.
    int64_t iterations = 1;
    Expr over(int64_t{0});
    for (const StageLoop* around : LoopsAround(loop_.var)) {
      if (around->extent == 1) continue;
      int64_t uses = kAllIterations;
      for (const Affine& index : block) uses = std::min(uses, UsesOfIndex(index, around->var));
      if (uses != kAllIterations) {
        iterations = uses;
        over = uses == 1 ? Expr(int64_t{0}) : FloorMod(Expr(around->var), uses);
      } else {
        iterations = CheckedMul(iterations, around->extent).value_or(iterations);
        over = over * around->extent.expr() + Expr(around->var);
      }
    }
    const int64_t line = ElementsOfLine(buffer);
    const int64_t lines = CeilDiv(buffer->num_elements() / blocks, line);
    const int64_t share = std::min(CeilDiv(lines, iterations), kMaxLines);
    for (int64_t i = 0; i < share; ++i) {
      std::vector<Expr> indices(buffer->shape.size(), Expr(int64_t{0}));
      // The number of the block plus 1, digit by digit.
      Expr carried(int64_t{1});
      for (size_t axis = block.size(); axis-- > 0;) {
        const Expr digit = ToExpr(block[axis]) + carried;
        indices[axis] = FloorMod(digit, buffer->shape[axis]);
        carried = FloorDiv(digit, buffer->shape[axis]);
      }
      indices.back() = indices.back() + (over * Expr(share) + Expr(i)) * Expr(line);
      statements_.push_back(MakePrefetch(buffer, std::move(indices)));
    }
  }

  // Adds one iteration's share of the prefetches of what `load` reads in it for the next tile.
  void PrefetchNextTile(const Expr& load) {
    const StageLoop* tiles = nullptr;  // the innermost around this stage that moves to other elements
    for (const StageLoop* around : LoopsAround(state_.attached_to)) {
      const bool goes_on = around->extent > 1 && std::ranges::any_of(load->args, [&](const Expr& index) {
                             return Mentions(index, around->var);
                           });
      if (goes_on) tiles = around;
    }
    if (tiles == nullptr) return;
    const Var& tile = tiles->var;

    // An iteration reads one line per iteration of those inner loops that move from row to row. The lines
    // are numbered.
    std::vector<Expr> row = load->args;
    row.pop_back();
    for (Expr& index : row) index = ToExpr(bounds_.Normalize(index));
    const auto moves = [&](const StageLoop& loop) {
      return std::ranges::any_of(row, [&](const Expr& index) { return Mentions(index, loop.var); });
    };
    int64_t lines = 1;
    for (const StageLoop& inside : LoopsInside()) lines *= moves(inside) ? inside.extent.bound() : 1;
    // Iterations that read the same lines prefetch a part of them each.
    const int64_t sharers = moves(loop_) ? 1 : IterationsOfALine(load);
    const int64_t share = std::min(CeilDiv(lines, sharers), kMaxLines);
    for (int64_t i = 0; i < share; ++i) {
      std::map<const VarNode*, Expr> values = {{tile.get(), Expr(tile) + Expr(int64_t{1})}};
      Expr number = FloorMod(Expr(loop_.var), sharers) * Expr(share) + Expr(i);
      int64_t lines_of_one = lines;  // lines per iteration of the current loop
      for (const StageLoop& inside : LoopsInside()) {
        Expr& value = values[inside.var.get()] = Expr(int64_t{0});
        if (!moves(inside)) continue;
        lines_of_one /= inside.extent;
        value = FloorDiv(number, lines_of_one);
        number = FloorMod(number, lines_of_one);
      }
      std::vector<Expr> indices;
      for (const Expr& index : load->args)
        indices.push_back(ToExpr(bounds_.Normalize(ReplaceVars(index, values))));
      statements_.push_back(MakePrefetch(load->buffer, std::move(indices)));
    }
  }

  // How many consecutive iterations each read a part of the same line.
  int64_t IterationsOfALine(const Expr& load) const {
    const Affine column = bounds_.Normalize(load->args.back());
    const Affine::Term* step = column.Find(loop_.var);
    const int64_t line = ElementsOfLine(load->buffer);
    if (step == nullptr || step->coefficient <= 0 || line % step->coefficient != 0) return 1;
    return std::min<int64_t>(line / step->coefficient, loop_.extent);
  }

  const LoopTree& tree_;
  const ScheduledStage& state_;
  const StageLoop& loop_;
  const Bounds bounds_;
  std::vector<Stmt> statements_;
};

}  // namespace

std::vector<Stmt> PrefetchesAt(const LoopTree& tree, const ScheduledStage& state, const StageLoop& loop) {
  if (loop.prefetches.empty()) return {};
  return Prefetching(tree, state, loop).Run();
}

absl::Status AddPrefetch(const std::string& buffer, LoopRef at, bool next_tile) {
  const std::string_view op = next_tile ? "prefetch_next_tile" : "prefetch";
  const ScheduledStage& state = *at.state;
  StageLoop& loop = at.loop();
  if (!FindRead(state.stage, buffer))
    return InvalidInput(op, ": stage '", state.stage.name, "' does not read '", buffer, "'");
  if (loop.kind != LoopKind::kSerial) return InvalidInput(op, ": loop '", loop.name, "' is not serial");
  if (next_tile && !state.attached_to)
    return InvalidInput(op, ": stage '", state.stage.name, "' is not computed at a loop");
  loop.prefetches.push_back({buffer, next_tile});
  return absl::OkStatus();
}

}  // namespace attune
