#include "tune/cost_model/features.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "tune/cost_model/nest_analysis.h"

namespace attune {
namespace {

// The number of loop levels around the statement that does the most work, and around the one that does the
// most outside of the first one's innermost loops. Loops further out are counted in the last level.
constexpr int kLevels = 6;
constexpr int kSecondLevels = 3;
constexpr std::string_view kUseNames[kNumMemoryUses] = {"contiguous", "uniform", "irregular", "written",
                                                        "scratch"};

// Collects features: their values and, on request, their names.
class Sink {
 public:
  Sink(FeatureVector* values, std::vector<std::string>* names) : values_(values), names_(names) {}

  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }
  void Add(std::string_view name, double value) {
    values_->push_back(static_cast<float>(std::clamp(std::isnan(value) ? 0.0 : value, -1e6, 1e6)));
    if (names_ != nullptr) names_->push_back(absl::StrCat(prefix_, name));
  }
  // Adds log2(1 + value), for a value that is at least 0.
  void AddLog(std::string_view name, double value) { Add(name, std::log2(1 + std::min(value, 0x1p60))); }
  // Adds the logarithm of a ratio of two numbers, either of which may be 0.
  void AddRatio(std::string_view name, double value, double to) {
    Add(name, std::log2((1 + std::min(value, 0x1p60)) / (1 + std::min(to, 0x1p60))));
  }

 private:
  FeatureVector* values_;
  std::vector<std::string>* names_;
  std::string prefix_;
};

// Consecutive nested loops that count as one: the outermost and the innermost of them. With no such loop,
// one iteration of `inner`, or the whole nest if that is -1.
struct Level {
  int outer = -1, inner = -1;
  double extent = 1;
  LoopKind kind = LoopKind::kSerial;
};

bool IsLanes(LoopKind kind) { return kind == LoopKind::kVectorized || kind == LoopKind::kDot; }
bool IsUnrolled(LoopKind kind) { return kind == LoopKind::kUnrolled || kind == LoopKind::kMatrix; }
bool IsExpanded(LoopKind kind) { return IsUnrolled(kind) || IsLanes(kind); }

double KindNumber(const Level& level) {
  if (level.outer < 0) return 0;
  if (level.kind == LoopKind::kParallel) return 3;
  return IsExpanded(level.kind) ? 1 : 2;
}

// The levels from the innermost outwards: first the tile, which consists of all innermost loops that are
// unrolled or vectorized, then one level per loop; if there are too many, the outermost loops share the
// last level.
std::vector<Level> LevelsAround(const NestAnalysis& nest, const NestStatement& statement, int count) {
  std::vector<Level> levels(1);
  levels[0].inner = statement.loop;
  for (int loop = statement.loop; loop >= 0; loop = nest.loops[loop].parent) {
    const NestLoop& around = nest.loops[loop];
    const bool in_tile = levels.size() == 1 && IsExpanded(around.kind);
    const bool is_full = static_cast<int>(levels.size()) == count;
    if (!in_tile && !is_full) levels.emplace_back().kind = around.kind;
    Level& level = levels.back();
    level.outer = loop;
    if (level.inner < 0) level.inner = loop;
    level.extent *= around.extent;
    if (in_tile || around.kind == LoopKind::kParallel) level.kind = around.kind;
  }
  return levels;
}

// The work of the statements inside of a loop.
struct Work {
  double flops = 0, moved_bytes = 0;
};

// The work in one iteration of a loop.
Work WorkWithin(const NestAnalysis& nest, int loop) {
  Work work;
  for (const NestStatement& s : nest.statements) {
    if (!nest.IsInside(s, loop)) continue;
    const double executions = nest.ExecutionsWithin(s, loop);
    work.flops += executions * s.flops;
    for (const NestAccess& access : s.accesses) work.moved_bytes += executions * access.bytes;
  }
  return work;
}

// The bytes that an iteration of `loop` touches, those of them that the next iteration does not touch again,
// and the longest stride along it.
struct Motion {
  double moving_bytes = 0, bytes = 0, stride = 0;
};

Motion MotionAlong(const NestAnalysis& nest, int loop) {
  Motion motion;
  for (const NestStatement& s : nest.statements) {
    if (!nest.IsInside(s, loop)) continue;
    const double executions = nest.ExecutionsWithin(s, loop);
    for (const NestAccess& access : s.accesses) {
      const double stride = access.StrideAlong(loop);
      motion.bytes += executions * access.bytes;
      if (stride > 0) motion.moving_bytes += executions * access.bytes;
      motion.stride = std::max(motion.stride, stride);
    }
  }
  return motion;
}

void AddLevel(const NestAnalysis& nest, const Level& level, const Target& target, Sink& sink) {
  const bool is_empty = level.outer < 0;
  const Footprint once = nest.IterationFootprint(level.inner);
  const Footprint whole = is_empty ? once : nest.WholeFootprint(level.outer);
  const double moved = WorkWithin(nest, level.inner).moved_bytes;
  double flops = WorkWithin(nest, is_empty ? level.inner : level.outer).flops;
  // The work within the loop already includes its lanes.
  if (!is_empty && !IsLanes(nest.loops[level.outer].kind)) flops *= nest.loops[level.outer].extent;
  sink.AddLog("extent", level.extent);
  sink.Add("kind", KindNumber(level));
  for (int use = 0; use < kNumMemoryUses; ++use) sink.AddLog(kUseNames[use], whole.bytes[use]);
  sink.AddRatio("l1", whole.total(), static_cast<double>(target.l1_bytes));
  sink.AddRatio("l2", whole.total(), static_cast<double>(target.l2_bytes));
  sink.AddLog("moved", moved);
  sink.AddLog("flops", flops);
  sink.AddRatio("intensity", flops, whole.total());
  // One iteration's footprint lies between two uses of the reused data.
  const Motion motion = is_empty ? Motion{} : MotionAlong(nest, level.inner);
  sink.Add("reused", motion.bytes == 0 ? 0 : 1 - motion.moving_bytes / motion.bytes);
  sink.AddRatio("reuse_distance", once.total(), static_cast<double>(target.l1_bytes));
  sink.AddLog("stride", motion.stride);
}

// The tile: one execution of all innermost loops around `s` that are unrolled or vectorized.
struct Tile {
  double contiguous = 0, uniform = 0, irregular = 0, stored = 0;  // instructions
  double multiply_adds = 0, arithmetic = 0, transcendental = 0, statements = 0;
  double aliased = 0;  // loads at multiples of a page, which share L1 sets
};

Tile TileOf(const NestAnalysis& nest, const NestStatement& s, const Level& level) {
  constexpr double kPage = 4096;
  Tile tile;
  double times = 1;
  for (int loop = s.loop; level.outer >= 0 && loop >= level.outer; loop = nest.loops[loop].parent) {
    if (IsUnrolled(nest.loops[loop].kind)) times *= nest.loops[loop].extent;
  }
  tile.statements = times;
  tile.multiply_adds = times * s.multiply_adds;
  tile.arithmetic = times * s.arithmetic;
  tile.transcendental = times * s.transcendental;
  for (const NestAccess& access : s.accesses) {
    // Iterations of unrolled loops that touch the same element share one instruction.
    double distinct = 1, aliased = 1;
    for (int loop = s.loop; level.outer >= 0 && loop >= level.outer; loop = nest.loops[loop].parent) {
      if (!IsUnrolled(nest.loops[loop].kind)) continue;
      const double stride = access.StrideAlong(loop);
      if (stride > 0) distinct *= nest.loops[loop].extent;
      if (stride > 0 && std::fmod(stride, kPage) == 0) aliased *= nest.loops[loop].extent;
    }
    double& kind = access.is_store                           ? tile.stored
                   : access.lanes == LaneAccess::kContiguous ? tile.contiguous
                   : access.lanes == LaneAccess::kUniform    ? tile.uniform
                                                             : tile.irregular;
    kind += distinct * access.instructions;
    if (aliased > 1) tile.aliased = std::max(tile.aliased, aliased);
  }
  return tile;
}

void AddTile(const NestAnalysis& nest, const NestStatement& s, const Level& level, const Target& target,
             Sink& sink) {
  const Tile tile = TileOf(nest, s, level);
  sink.AddLog("contiguous_loads", tile.contiguous);
  sink.AddLog("uniform_loads", tile.uniform);
  sink.AddLog("irregular_loads", tile.irregular);
  sink.AddLog("stores", tile.stored);
  sink.AddLog("multiply_adds", tile.multiply_adds);
  sink.AddLog("arithmetic", tile.arithmetic);
  sink.AddLog("transcendental", tile.transcendental);
  sink.AddLog("statements", tile.statements);
  sink.AddLog("aliased", tile.aliased);
  const double loads = tile.contiguous + tile.uniform + tile.irregular;
  const double computed = tile.multiply_adds + tile.arithmetic;
  sink.AddRatio("multiply_adds_per_load", tile.multiply_adds, loads);
  // The registers that the tile needs: accumulators, and the vectors that are multiplied with them.
  sink.AddLog("live_registers", s.live_registers);
  sink.AddRatio("register_pressure", s.live_registers + tile.contiguous, target.num_vector_registers);
  // The number of dependency chains of additions, relative to the number that keeps the units busy.
  sink.AddRatio("chains", s.live_registers, target.fma_latency * target.fma_per_cycle);
  sink.Add("vector_width", 8 * s.vector_bytes / target.vector_bits);
  const double cycles_computing = computed / target.fma_per_cycle;
  const double cycles_loading = loads / target.loads_per_cycle;
  sink.AddRatio("computing_to_loading", cycles_computing, cycles_loading);
}

// The bytes that are moved into a cache of `capacity`, if the cache holds the footprint of the outermost of
// these loops whose footprint fits.
double Traffic(const NestAnalysis& nest, const NestStatement& s, double capacity) {
  double footprint = 0, times = 1;
  bool is_found = false;
  for (int loop = s.loop; loop >= 0; loop = nest.loops[loop].parent) {
    const double bytes = nest.WholeFootprint(loop).total();
    if (is_found && bytes > capacity) {
      times *= nest.loops[loop].extent;
      continue;
    }
    footprint = bytes, times = 1, is_found = true;
  }
  return footprint * times;
}

// The statement with the most instructions in total, among those that `is_eligible` accepts.
const NestStatement* Heaviest(const NestAnalysis& nest,
                              const std::function<bool(const NestStatement&)>& is_eligible) {
  const NestStatement* heaviest = nullptr;
  double most = -1;
  for (const NestStatement& s : nest.statements) {
    const double instructions = s.executions * s.Instructions();
    if (instructions <= most || !is_eligible(s)) continue;
    most = instructions;
    heaviest = &s;
  }
  return heaviest;
}

// Sums over all roots.
struct Totals {
  double flops = 0, instructions = 0, multiply_adds = 0, arithmetic = 0, transcendental = 0;
  double loads = 0, irregular = 0, stores = 0, moved_bytes = 0, guarded = 0, copies = 0;
  double parallel = 0;   // instructions in parallel loops
  double imbalance = 1;  // weighted by instructions: the slowest thread's share, ≥ 1
};

// The time of the thread with the most iterations, relative to an even distribution.
double Imbalance(double iterations, int threads) {
  return std::ceil(iterations / threads) * threads / iterations;
}

Totals TotalsOf(const NestAnalysis& nest, int threads) {
  Totals t;
  double imbalanced = 0;
  for (const NestStatement& s : nest.statements) {
    const double instructions = s.executions * s.Instructions();
    t.flops += s.executions * s.flops;
    t.instructions += instructions;
    t.multiply_adds += s.executions * s.multiply_adds;
    t.arithmetic += s.executions * s.arithmetic;
    t.transcendental += s.executions * s.transcendental;
    t.copies += s.copies;
    if (s.is_guarded) t.guarded += instructions;
    for (const NestAccess& access : s.accesses) {
      double& kind = access.is_store                          ? t.stores
                     : access.lanes == LaneAccess::kIrregular ? t.irregular
                                                              : t.loads;
      kind += s.executions * access.instructions;
      t.moved_bytes += s.executions * access.bytes;
    }
    int outermost = s.loop;
    while (outermost >= 0 && nest.loops[outermost].parent >= 0) outermost = nest.loops[outermost].parent;
    const bool is_parallel = outermost >= 0 && nest.loops[outermost].kind == LoopKind::kParallel;
    if (is_parallel) t.parallel += instructions;
    imbalanced += instructions * (is_parallel ? Imbalance(nest.loops[outermost].extent, threads) : threads);
  }
  if (t.instructions > 0) t.imbalance = imbalanced / t.instructions;
  return t;
}

void AddTotals(const LoopNest& loop_nest, const NestAnalysis& nest, const Target& target, int threads,
               Sink& sink) {
  const Totals t = TotalsOf(nest, threads);
  const Footprint all = nest.WholeFootprint(-1);
  sink.AddLog("flops", t.flops);
  sink.AddLog("instructions", t.instructions);
  sink.AddLog("multiply_adds", t.multiply_adds);
  sink.AddLog("arithmetic", t.arithmetic);
  sink.AddLog("transcendental", t.transcendental);
  sink.AddLog("loads", t.loads);
  sink.AddLog("irregular_loads", t.irregular);
  sink.AddLog("stores", t.stores);
  sink.AddRatio("flops_per_instruction", t.flops, t.instructions);
  sink.AddRatio("multiply_adds_per_load", t.multiply_adds, t.loads + t.irregular);
  sink.AddRatio("flops_per_moved_byte", t.flops, t.moved_bytes);
  sink.AddLog("statements", static_cast<double>(nest.statements.size()));
  sink.AddLog("unrolled_statements", t.copies);
  sink.AddLog("branches", nest.branches);
  sink.AddLog("prefetches", nest.prefetches);
  sink.Add("guarded_share", t.instructions == 0 ? 0 : t.guarded / t.instructions);
  sink.AddLog("roots", static_cast<double>(loop_nest.roots.size()));
  sink.AddRatio("scratch_l1", nest.scratch_bytes, static_cast<double>(target.l1_bytes));
  sink.AddRatio("scratch_l2", nest.scratch_bytes, static_cast<double>(target.l2_bytes));
  for (int use = 0; use < kNumMemoryUses; ++use) sink.AddLog(kUseNames[use], all.bytes[use]);
  sink.AddRatio("l2", all.total(), static_cast<double>(target.l2_bytes));
  sink.AddRatio("l3", all.total(), static_cast<double>(target.l3_bytes));
  sink.Add("threads", threads);
  sink.Add("parallel_share", t.instructions == 0 ? 0 : t.parallel / t.instructions);
  sink.Add("imbalance", t.imbalance);
  sink.Add("vector_bits", target.vector_bits);
  sink.Add("registers", target.num_vector_registers);
  sink.Add("multiply_adds_per_cycle", target.fma_per_cycle);
  sink.AddLog("l1_bytes", static_cast<double>(target.l1_bytes));
  sink.AddLog("l2_bytes", static_cast<double>(target.l2_bytes));
  sink.AddLog("l3_bytes", static_cast<double>(target.l3_bytes));
}

// A rough breakdown of the time around the heaviest statement: cycles for computing, for loading, and for
// moving data in from each cache, each relative to the work.
void AddRoofline(const NestAnalysis& nest, const NestStatement& s, const Target& target, Sink& sink) {
  const Totals t = TotalsOf(nest, 1);
  const double computing =
      (t.multiply_adds + t.arithmetic + 8 * t.transcendental) / std::max(target.fma_per_cycle, 0.1);
  const double loading = (t.loads + t.irregular + t.stores) / std::max(target.loads_per_cycle, 0.1);
  const double from_l2 = Traffic(nest, s, static_cast<double>(target.l1_bytes)) / target.l2_bytes_per_cycle;
  const double from_l3 = Traffic(nest, s, static_cast<double>(target.l2_bytes)) / target.l3_bytes_per_cycle;
  sink.AddRatio("l2_to_computing", from_l2, computing);
  sink.AddRatio("l3_to_computing", from_l3, computing);
  sink.AddRatio("loading_to_computing", loading, computing);
  const double cycles = std::max(computing, loading) + from_l2 + from_l3;
  sink.AddRatio("flops_per_cycle", t.flops, cycles);
  sink.AddLog("cycles", cycles);
}

void AddChain(const NestAnalysis& nest, const NestStatement& s, std::string_view name, int count,
              const Target& target, Sink& sink) {
  std::vector<Level> levels = LevelsAround(nest, s, count);
  sink.set_prefix(absl::StrCat(name, "tile."));
  AddTile(nest, s, levels[0], target, sink);
  // If there are fewer levels, the rest are loops of one iteration around everything.
  levels.resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    sink.set_prefix(absl::StrCat(name, "loop", i, "."));
    AddLevel(nest, levels[i], target, sink);
  }
}

void Extract(const LoopNest& loop_nest, const Target& target, int threads, Sink& sink) {
  const NestAnalysis nest = AnalyzeNest(loop_nest, target);
  const NestStatement nothing;
  const NestStatement* first = Heaviest(nest, [](const NestStatement&) { return true; });
  // The loop around the first statement's tile; all of its iterations are treated together.
  int around = -1;
  if (first != nullptr) {
    for (around = first->loop; around >= 0 && IsExpanded(nest.loops[around].kind);)
      around = nest.loops[around].parent;
  }
  const NestStatement* second = Heaviest(
      nest, [&](const NestStatement& s) { return &s != first && (around < 0 || !nest.IsInside(s, around)); });
  sink.set_prefix("nest.");
  AddTotals(loop_nest, nest, target, threads, sink);
  sink.set_prefix("roofline.");
  AddRoofline(nest, first == nullptr ? nothing : *first, target, sink);
  AddChain(nest, first == nullptr ? nothing : *first, "", kLevels, target, sink);
  AddChain(nest, second == nullptr ? nothing : *second, "second.", kSecondLevels, target, sink);
}

}  // namespace

const std::vector<std::string>& FeatureNames() {
  static const auto* names = [] {
    auto* made = new std::vector<std::string>();
    FeatureVector ignored;
    Sink sink(&ignored, made);
    Extract(LoopNest{}, Target{}, 1, sink);
    return made;
  }();
  return *names;
}

FeatureVector ExtractFeatures(const LoopNest& nest, const Target& target, int threads) {
  FeatureVector features;
  features.reserve(FeatureNames().size());
  Sink sink(&features, nullptr);
  Extract(nest, target, std::max(threads, 1), sink);
  return features;
}

}  // namespace attune
