// Matrix loops: tiles of sums that stay in tile registers.
//
// Problem: a matrix unit multiplies whole tiles, but only between its few registers, which no other
// instruction reads. Idea: a register buffer on which matrix loops do nothing but the unit's own operations
// becomes tile registers: tiles are set to zero, products are added to them, and they are stored. The
// nests, with rows r, columns v in lanes and terms k and t:
//
//   matrix r { vector v { acc[r, v] = 0 } }
//   matrix r { unroll k { vector v { dot t { acc[r, v] += a[r, k, t] b[k, v, t] }}}}
//   matrix r { vector v { out[r, v] = acc[r, v] } }
//
// If one of them looks different, or the target has no such unit, matrix loops are unrolled and the buffer
// lies in vector registers.
#ifndef ATTUNE_CODEGEN_TILE_PLAN_H_
#define ATTUNE_CODEGEN_TILE_PLAN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "target/products.h"
#include "target/target.h"
#include "tensor/affine.h"
#include "tensor/stmt.h"

namespace attune {

// One operation on a tile of `sums`, as a matrix loop asks for it.
struct TileStep {
  enum Kind { kZero, kMultiply, kStore } kind;
  Stmt store;
  Buffer sums;
  std::vector<Expr> sum_indices;
  std::vector<Var> variables;  // of its loops
  int64_t rows, columns, groups;
  int64_t store_stride = 0;  // bytes from row to row, as the other strides
  // kMultiply
  const ProductInstruction* instruction = nullptr;
  Expr left, right;
  int64_t left_stride = 0, right_stride = 0;
};

// The tile registers of one buffer: how many hold sums, and how many hold operands.
struct TilePlan {
  int64_t rows = 0, columns = 0, groups = 0;
  const ProductInstruction* instruction = nullptr;
  int64_t sums = 0, lefts = 1, rights = 1;
};

// Finds out what a matrix unit can do; emits nothing.
class TilePlanner {
 public:
  // Both must outlive this. When a statement is asked about, `bounds` holds the ranges at that statement.
  TilePlanner(const Target& target, Bounds& bounds) : target_(target), bounds_(bounds) {}

  // Matches a matrix loop with an operation of the unit; nothing if there is none that does the same.
  std::optional<TileStep> Match(const Stmt& matrix);
  // Whether the buffer of an allocation outside of vectorized loops can live in tile registers, and how.
  std::optional<TilePlan> Plan(const Stmt& allocate);

 private:
  bool MatchMove(const Stmt& rows, const Stmt& columns, TileStep* step);
  bool MatchProduct(const Stmt& rows, const Stmt& groups, const Stmt& columns, const Stmt& terms,
                    TileStep* step);
  bool Collect(const Stmt& s, const Buffer& buffer, std::vector<Stmt>& unrolled, TilePlan* plan);
  bool Add(const TileStep& step, const std::vector<Stmt>& unrolled, TilePlan* plan);

  const Target& target_;
  Bounds& bounds_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_TILE_PLAN_H_
