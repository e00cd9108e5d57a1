// Analyzes a loop nest: how often each statement runs, what it computes, and how much of which memory it
// touches while an inner part of the loops around it runs.
#ifndef ATTUNE_TUNE_COST_MODEL_NEST_ANALYSIS_H_
#define ATTUNE_TUNE_COST_MODEL_NEST_ANALYSIS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

// How the lanes of a vectorized loop access memory.
enum class LaneAccess : uint8_t {
  kUniform,     // one element for all lanes, or no lanes
  kContiguous,  // adjacent elements
  kIrregular,   // with a stride, or gathered
};

struct NestLoop {
  int parent = -1;  // an index in NestAnalysis::loops; -1: none
  int depth = 0;    // how many loops are around it
  LoopKind kind = LoopKind::kSerial;
  double extent = 1;  // for a dynamic extent the maximum, or a guess if that is unknown
};

// An index along one dimension: low + Σ coefficient · iteration of a loop, where only loops around the
// statement occur. Divisions give fractional coefficients; an infinite coefficient means any dependence.
struct NestIndex {
  struct Term {
    int loop;
    double coefficient;
    bool is_exact;  // false, for example, after a division
  };
  double low = 0;
  std::vector<Term> terms;
};

// A load or store of memory (not of registers) in one of the statements.
struct NestAccess {
  const BufferNode* buffer = nullptr;
  bool is_store = false;
  LaneAccess lanes = LaneAccess::kUniform;
  std::vector<NestIndex> indices;  // one per dimension
  double instructions = 1;         // per execution
  double bytes = 0;                // moved by one execution

  // The distance in memory between two consecutive iterations of a loop, in bytes; may be infinite.
  double StrideAlong(int loop) const;
};

// A store with the computation of its value. One execution covers all lanes and all terms of a dot product.
struct NestStatement {
  int loop = -1;            // the innermost loop around it
  int vector_loop = -1;     // the vectorized one, if any
  bool is_guarded = false;  // by a condition tested at run time
  double executions = 1;    // in the whole nest, assuming that guards hold
  double copies = 1;        // copies of its code made by unrolling
  // Per execution, in instructions: an operation on a vector that fills several registers counts several
  // times.
  double multiply_adds = 0;
  double arithmetic = 0;      // other simple operations
  double transcendental = 0;  // exponentials and the like, divisions and roots
  double flops = 0;           // operations on elements, per execution
  double vector_bytes = 0;    // of the widest operand; for a scalar its size
  double live_registers = 0;  // vector registers for the register buffers in scope
  std::vector<NestAccess> accesses;

  double Instructions() const;
};

// Kinds of memory use. Scratch is private to one part of a parallel kernel.
enum class MemoryUse : uint8_t { kContiguousRead, kUniformRead, kIrregularRead, kWritten, kScratch };
inline constexpr int kNumMemoryUses = 5;
MemoryUse UseOf(const NestAccess& access);

// The bytes that a part of a nest touches. Each element counts once, however often it is touched; the
// touched elements of a buffer are approximated by a box.
struct Footprint {
  std::array<double, kNumMemoryUses> bytes = {};
  double total() const;
};

// The analyzed nest must outlive it.
struct NestAnalysis {
  std::vector<NestLoop> loops;  // only loops with more than one iteration, parents first
  std::vector<NestStatement> statements;
  double branches = 0;       // conditions tested in the whole nest
  double prefetches = 0;     // in the whole nest
  double scratch_bytes = 0;  // of all scratch buffers

  // Whether a statement is inside of a loop; for loop -1 (no loop) always true.
  bool IsInside(const NestStatement& statement, int loop) const;
  // How often a statement runs during one iteration of a loop around it.
  double ExecutionsWithin(const NestStatement& statement, int loop) const;
  // Footprint of all iterations of a loop, with the loops around it fixed; for -1, of the whole nest.
  Footprint WholeFootprint(int loop) const;
  // Footprint of one iteration of a loop.
  Footprint IterationFootprint(int loop) const;

 private:
  Footprint FootprintBelow(int loop, int depth) const;
};

// Analyzes a nest that VerifyLoopNest() accepts; `target` gives the width of vectors. Takes well under a
// millisecond.
NestAnalysis AnalyzeNest(const LoopNest& nest, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_NEST_ANALYSIS_H_
