// The loop-nest IR: statements, and a kernel as a whole.
#ifndef ATTUNE_TENSOR_STMT_H_
#define ATTUNE_TENSOR_STMT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensor/expr.h"

namespace attune {

enum class StmtKind {
  kStore,     // buffer[indices] = value
  kFor,       // for var in [min, min + extent): body
  kIf,        // if (condition) body else else_body (may be null)
  kSequence,  // children in order
  kLet,       // let var = value in body
  kAllocate,  // buffer exists within body; its content starts out unspecified
  kWhile,     // while (condition) body; the condition reads buffers that the body writes
  kPrefetch,  // hint: the cache line of buffer[indices] is read soon
};

enum class LoopKind {
  kSerial,
  kUnrolled,    // constant bounds; the body is emitted once for each iteration
  kVectorized,  // constant extent; iterations are lanes. Stores inside whose indices do not depend on the
                // variable reduce across lanes: buffer[i] = op(buffer[i], x) with op one of add, mul, min,
                // max, and, or
  kParallel,    // only as the outermost loop of a root statement: split into parts for threads
  kDot,         // around one store, in a vectorized loop: the terms that a dot product instruction adds to
                // each lane at once, rounding as it does. Where the target has none for them, unrolled
  kMatrix,      // as kUnrolled: the rows of a tile that a matrix instruction computes at once. Inside are at
                // most the terms that it adds up, unrolled and dot, around a vectorized loop over its columns
  kBound,       // bound to a hardware index (`binding`), for GPUs
};
std::string_view LoopKindName(
    LoopKind kind);  // "for", "unroll", "vector", "parallel", "dot", "matrix", "bind"

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

struct StmtNode {
  StmtKind kind = StmtKind::kSequence;
  Buffer buffer;              // kStore, kAllocate, kPrefetch
  std::vector<Expr> indices;  // kStore, kPrefetch
  Expr value;                 // kStore, kLet
  Expr condition;             // kIf, kWhile
  Var var;                    // kFor, kLet
  Expr min, extent;           // kFor
  LoopKind loop = LoopKind::kSerial;
  std::string binding;         // kFor with kBound: "block.x", "thread.x", …
  Stmt body, else_body;        // kFor, kIf, kLet, kAllocate, kWhile
  std::vector<Stmt> children;  // kSequence
};

Stmt MakeStore(const Buffer& buffer, std::vector<Expr> indices, Expr value);
Stmt MakeFor(const Var& var, Expr min, Expr extent, LoopKind loop, Stmt body);
Stmt MakeIf(Expr condition, Stmt body, Stmt else_body = nullptr);
Stmt MakeSequence(std::vector<Stmt> children);  // flattens nested sequences; of one statement, that one
Stmt MakeLet(const Var& var, Expr value, Stmt body);
Stmt MakeAllocate(const Buffer& buffer, Stmt body);
Stmt MakeWhile(Expr condition, Stmt body);
Stmt MakePrefetch(const Buffer& buffer, std::vector<Expr> indices);

// How a kernel uses a buffer that it is given.
enum class BufferRole { kInput, kOutput, kWorkspace };

// A number that a kernel is given with each call, and that open extents are made of.
struct SizeParam {
  Var var;  // i64
  int64_t min, max;
};

// A kernel: its buffers in the order of the calling convention, and its root statements, which run one
// after the other with a barrier between them. A root statement that is a parallel loop runs on all
// threads, any other on one. `dims_buffer` (i64) has an element for each dynamic dimension: the
// kernel stores those that it makes, and reads those of its inputs; null where it does neither. `sizes` are
// bound in all of the kernel; a kernel that has some has no dims buffer.
struct LoopNest {
  std::string name;
  struct Param {
    Buffer buffer;
    BufferRole role;
  };
  std::vector<Param> params;
  Buffer dims_buffer;
  std::vector<SizeParam> sizes = {};
  std::vector<Stmt> roots;
};

// Ok, or the first broken rule: every variable bound once and used in scope, buffers declared before use,
// index counts and types, types of operands, register buffers indexed by constants after unrolling, parallel
// loops outermost, vector loops innermost but for unrolled ones.
absl::Status VerifyLoopNest(const LoopNest& nest);

// The text form; ParseLoopNest(Print(n)) prints identically. Input of the parser is hostile.
std::string Print(const LoopNest& nest);
std::string Print(const Expr& e);
absl::StatusOr<LoopNest> ParseLoopNest(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_TENSOR_STMT_H_
