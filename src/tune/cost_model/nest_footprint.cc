// Computes how much memory a part of a loop nest touches: for each buffer the smallest box around all
// touched elements, with the loops outside of that part fixed at their first iteration.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tune/cost_model/nest_analysis.h"

namespace attune {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The box of those elements of a buffer that are used in one way.
struct Box {
  const BufferNode* buffer;
  MemoryUse use;
  std::vector<double> low, high;
};

}  // namespace

double NestStatement::Instructions() const {
  double sum = multiply_adds + arithmetic + transcendental;
  for (const NestAccess& access : accesses) sum += access.instructions;
  return sum;
}

double NestAccess::StrideAlong(int loop) const {
  double stride = 0, step = DTypeSize(buffer->dtype);
  for (size_t d = indices.size(); d-- > 0; step *= static_cast<double>(buffer->shape[d])) {
    for (const NestIndex::Term& term : indices[d].terms) {
      if (term.loop == loop) stride += term.coefficient * step;
    }
  }
  return std::isnan(stride) ? kInfinite : std::abs(stride);
}

MemoryUse UseOf(const NestAccess& access) {
  if (access.buffer->space != MemorySpace::kGlobal) return MemoryUse::kScratch;
  if (access.is_store) return MemoryUse::kWritten;
  switch (access.lanes) {
    case LaneAccess::kContiguous:
      return MemoryUse::kContiguousRead;
    case LaneAccess::kUniform:
      return MemoryUse::kUniformRead;
    case LaneAccess::kIrregular:
      return MemoryUse::kIrregularRead;
  }
  return MemoryUse::kIrregularRead;
}

double Footprint::total() const {
  double sum = 0;
  for (double b : bytes) sum += b;
  return sum;
}

bool NestAnalysis::IsInside(const NestStatement& statement, int loop) const {
  if (loop < 0) return true;
  int at = statement.loop;
  while (at > loop) at = loops[at].parent;  // parents come first
  return at == loop;
}

double NestAnalysis::ExecutionsWithin(const NestStatement& statement, int loop) const {
  double executions = 1;
  for (int at = statement.loop; at != loop && at >= 0;) {
    const NestLoop& around = loops[at];
    if (around.kind != LoopKind::kVectorized && around.kind != LoopKind::kDot) executions *= around.extent;
    at = around.parent;
  }
  return executions;
}

Footprint NestAnalysis::WholeFootprint(int loop) const {
  return FootprintBelow(loop, loop < 0 ? 0 : loops[loop].depth);
}

Footprint NestAnalysis::IterationFootprint(int loop) const {
  return FootprintBelow(loop, loop < 0 ? 0 : loops[loop].depth + 1);
}

// The footprint of the statements inside of `loop`, while the loops from `depth` on run.
Footprint NestAnalysis::FootprintBelow(int loop, int depth) const {
  std::vector<Box> boxes;
  for (const NestStatement& statement : statements) {
    if (!IsInside(statement, loop)) continue;
    for (const NestAccess& access : statement.accesses) {
      const MemoryUse use = UseOf(access);
      auto box = std::ranges::find_if(
          boxes, [&](const Box& b) { return b.buffer == access.buffer && b.use == use; });
      const size_t rank = access.indices.size();
      if (box == boxes.end()) {
        boxes.push_back({access.buffer, use, std::vector<double>(rank, kInfinite),
                         std::vector<double>(rank, -kInfinite)});
        box = boxes.end() - 1;
      }
      for (size_t d = 0; d < rank; ++d) {
        double low = access.indices[d].low, high = low;
        for (const NestIndex::Term& term : access.indices[d].terms) {
          const NestLoop& over = loops[term.loop];
          if (over.depth < depth) continue;
          (term.coefficient < 0 ? low : high) += term.coefficient * (over.extent - 1);
        }
        box->low[d] = std::min(box->low[d], low);
        box->high[d] = std::max(box->high[d], high);
      }
    }
  }
  Footprint footprint;
  for (const Box& box : boxes) {
    double bytes = DTypeSize(box.buffer->dtype);
    for (size_t d = 0; d < box.low.size(); ++d) {
      const double width = std::ceil(box.high[d] - box.low[d]) + 1;
      bytes *= std::min(width, static_cast<double>(box.buffer->shape[d]));
    }
    footprint.bytes[static_cast<size_t>(box.use)] += bytes;
  }
  return footprint;
}

}  // namespace attune
