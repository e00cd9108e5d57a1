// What a loop nest does: how often each statement runs, what it computes, and how much of which memory it
// touches while an inner part of the loops around it runs.
#ifndef ATTUNE_TUNE_COST_MODEL_NEST_ANALYSIS_H_
#define ATTUNE_TUNE_COST_MODEL_NEST_ANALYSIS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

// How the lanes of a vectorized loop lie in memory, or whether there are none.
enum class LaneAccess : uint8_t {
  kUniform,     // one element for all lanes, or no lanes
  kContiguous,  // neighbours
  kIrregular,   // apart by a stride, or gathered
};

struct NestLoop {
  int parent = -1;  // an index in NestAnalysis::loops; -1: none
  int depth = 0;    // how many loops are around it
  LoopKind kind = LoopKind::kSerial;
  double extent = 1;  // of a dynamic one the largest, or a guess where that is unknown
};

// An index along one dimension: low + Σ coefficient · iteration of loop, where no other than its own
// statement's loops occur. Divisions make coefficients fractions; one that is infinite may be anything.
struct NestIndex {
  struct Term {
    int loop;
    double coefficient;
    bool is_exact;  // not the guess of a division, say
  };
  double low = 0;
  std::vector<Term> terms;
};

// A load or store of memory (not of registers) in one of the statements.
struct NestAccess {
  const BufferNode* buffer = nullptr;
  bool is_store = false;
  LaneAccess lanes = LaneAccess::kUniform;
  std::vector<NestIndex> indices;  // one a dimension
  double instructions = 1;         // of one execution
  double bytes = 0;                // that one execution moves

  // How far apart in memory two iterations of a loop are, in bytes; may be infinite.
  double StrideAlong(int loop) const;
};

// A store with all that is computed for it. One execution handles all lanes and all terms of a dot product.
struct NestStatement {
  int loop = -1;            // the innermost around it
  int vector_loop = -1;     // the vectorized one, if any
  bool is_guarded = false;  // by a condition that is tested at run time
  double executions = 1;    // in the whole nest, guards taken to hold
  double copies = 1;        // of its code, by unrolling
  // Of one execution, in instructions: a vector that fills several registers counts several times.
  double multiply_adds = 0;
  double arithmetic = 0;      // simple operations beside those
  double transcendental = 0;  // exponentials and the like, divisions and roots
  double flops = 0;           // operations on elements, of one execution
  double vector_bytes = 0;    // of the widest operand; of a scalar its size
  double live_registers = 0;  // vector registers that the register buffers in scope fill
  std::vector<NestAccess> accesses;

  double Instructions() const;
};

// Memory by how it is used. Scratch is private to one part of a parallel kernel.
enum class MemoryUse : uint8_t { kContiguousRead, kUniformRead, kIrregularRead, kWritten, kScratch };
inline constexpr int kNumMemoryUses = 5;
MemoryUse UseOf(const NestAccess& access);

// What a part of a nest touches. An element counts once however often it is touched; the elements of a buffer
// are taken to fill a box.
struct Footprint {
  std::array<double, kNumMemoryUses> bytes = {};
  double total() const;
};

// The nest must outlive it.
struct NestAnalysis {
  std::vector<NestLoop> loops;  // those of more than one iteration, parents first
  std::vector<NestStatement> statements;
  double branches = 0;       // conditions tested in the whole nest
  double prefetches = 0;     // in the whole nest
  double scratch_bytes = 0;  // of all scratch buffers

  // Whether a statement is inside of a loop; everything is inside of -1, none at all.
  bool IsInside(const NestStatement& statement, int loop) const;
  // How often a statement runs in one iteration of a loop around it.
  double ExecutionsWithin(const NestStatement& statement, int loop) const;
  // Of all iterations of a loop, the others around it standing still; of -1, of the whole nest.
  Footprint WholeFootprint(int loop) const;
  // Of one iteration.
  Footprint IterationFootprint(int loop) const;

 private:
  Footprint FootprintBelow(int loop, int depth) const;
};

// Of a nest that VerifyLoopNest() accepts; `target` gives the width of vectors. Takes well under a
// millisecond.
NestAnalysis AnalyzeNest(const LoopNest& nest, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_NEST_ANALYSIS_H_
