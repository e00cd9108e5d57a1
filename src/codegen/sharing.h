// Which unrolled loops read the same elements in several iterations.
//
// Problem: the taps of a convolution read overlapping inputs: with pixels x and taps k unrolled, in[x + k] is
// one element for many pairs. Merged into one load each, as compilers do, these elements stay in registers
// over all taps, beside accumulators that fill the register file already, and are spilled: a store and a
// reload where a broadcast straight from memory would have been free. Idea: find the loops of a reduction
// whose iterations share elements by way of another unrolled loop, and hide from the compiler that the
// pointers of two iterations are equal. Cost: a register and a move for each iteration.
#ifndef ATTUNE_CODEGEN_SHARING_H_
#define ATTUNE_CODEGEN_SHARING_H_

#include <unordered_map>
#include <vector>

#include "tensor/affine.h"
#include "tensor/stmt.h"

namespace attune {

class SharedElements {
 public:
  // `bounds` must outlive this. When a loop is asked about, it holds the ranges at that loop.
  explicit SharedElements(Bounds& bounds) : bounds_(bounds) {}

  // The buffers whose elements several iterations of the loop share; empty unless the loop is a reduction.
  // Remembered from the first time that the loop is asked about.
  const std::vector<const BufferNode*>& BetweenIterations(const Stmt& loop);

 private:
  bool SharesElements(const Affine& flat, const std::vector<Stmt>& loops) const;

  Bounds& bounds_;
  std::unordered_map<const StmtNode*, std::vector<const BufferNode*>> known_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_SHARING_H_
