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

// A kernel: its buffers in the order of the calling convention, and its root statements, which run one
// after the other with a barrier between them. A root statement that is a parallel loop runs on all
// threads, any other on one. `dims_buffer` (i64) has an element for each of the kernel's dynamic
// dimensions, which the kernel stores there; null where the kernel makes no dynamic shape.
//
// src/codegen/access.h src/codegen/addresses.cc src/codegen/addresses.h src/codegen/buffers.cc
// src/codegen/buffers.h src/codegen/codegen.cc src/codegen/codegen.h src/codegen/codegen_test.cc
// src/codegen/convert_test.cc src/codegen/dot.cc src/codegen/dot.h src/codegen/elementary.cc
// src/codegen/elementary.h src/codegen/emitter_parts_test.cc src/codegen/expressions.cc
// src/codegen/expressions.h src/codegen/host_code.cc src/codegen/indices.h src/codegen/link.cc
// src/codegen/loops.cc src/codegen/math.cc src/codegen/math.h src/codegen/math_test.cc
// src/codegen/memory.cc src/codegen/memory.h src/codegen/nest_emitter.cc src/codegen/nest_emitter.h
// src/codegen/power.cc src/codegen/real.h src/codegen/scopes.h src/codegen/sharing.cc src/codegen/sharing.h
// src/codegen/statements_test.cc src/codegen/stores.cc src/codegen/stores.h src/codegen/target_emitter.cc
// src/codegen/target_emitter.h src/codegen/tile_emitter.cc src/codegen/tile_emitter.h
// src/codegen/tile_model.cc src/codegen/tile_plan.cc src/codegen/tile_plan.h src/codegen/tile_unit.h
// src/codegen/tiles_test.cc src/codegen/trigonometric.cc src/codegen/values.cc src/codegen/values.h
// src/codegen/values_convert.cc src/codegen/values_integer.cc src/codegen/values_test.cc
// src/codegen/x86/x86.cc src/codegen/x86/x86.h src/compile/compile.cc src/compile/compile.h
// src/compile/kernels.h src/compile/kernels_test.cc src/compile/variant.cc src/compile/variant.h
// src/compile/weights.cc src/compile/weights.h src/graph/attributes.h src/graph/bounded_executor.h
// src/graph/executor.h src/graph/fixed_point.h src/graph/flops.h src/graph/graph.cc src/graph/graph.h
// src/graph/infer.h src/graph/lexer.h src/graph/literal.cc src/graph/literal.h src/graph/names.h
// src/graph/node_rules.cc src/graph/node_rules.h src/graph/op.h src/graph/op_test.cc src/graph/ops/checks.h
// src/graph/ops/contraction.cc src/graph/ops/control.cc src/graph/ops/elementwise.cc
// src/graph/ops/hostile_test.cc src/graph/ops/indexed.cc src/graph/ops/infer_case.h
// src/graph/ops/movement.cc src/graph/ops/normalization.cc src/graph/ops/ops.h src/graph/ops/quantized.cc
// src/graph/ops/spatial.h src/graph/parse.cc src/graph/parse_attribute.cc src/graph/type.h
// src/graph/verify.h src/graph/verify_test.cc src/graph/work.cc src/graph/work.h src/opt/algebra.cc
// src/opt/apply_rules.cc src/opt/apply_rules.h src/opt/cleanup_passes_test.cc
// src/opt/decompose_conv_transpose.cc src/opt/decompose_group_norm.cc src/opt/decompose_quantization.cc
// src/opt/driver.h src/opt/equivalence_test.cc src/opt/flatten_volumes.cc src/opt/fold_constants.cc
// src/opt/fold_pad.cc src/opt/fold_scales.cc src/opt/fold_zero_points.cc src/opt/fold_zero_points_test.cc
// src/opt/formula_size.cc src/opt/formula_size.h src/opt/fuse_horizontal.cc src/opt/fuse_test.cc
// src/opt/fusion_groups.cc src/opt/hoist_pools.cc src/opt/integer_products.cc src/opt/linearize_integers.cc
// src/opt/linearize_integers_test.cc src/opt/match.cc src/opt/narrow.cc src/opt/narrow_test.cc
// src/opt/narrowing_error.cc src/opt/narrowing_error.h src/opt/pass.h src/opt/pass_plan.h src/opt/passes.h
// src/opt/quantization.h src/opt/quantization_passes_test.cc src/opt/recognition_passes_test.cc
// src/opt/rewrite.h src/opt/rewrite_passes_test.cc src/opt/round_weights.cc src/opt/sink_dequantize.cc
// src/opt/sink_reshapes.cc src/opt/sink_transposes.cc src/opt/split_products.cc
// src/opt/split_products_test.cc src/opt/swap_planes.cc src/opt/testing.h src/opt/testing/rule_instance.cc
// src/opt/testing/rule_instance.h src/opt/unsqueeze_images.cc src/plan/arrange.cc src/plan/arrange.h
// src/plan/blocks.cc src/plan/blocks.h src/plan/blocks_test.cc src/plan/chooser.h src/plan/concat.cc
// src/plan/concat_test.cc src/plan/contractions.cc src/plan/contractions.h src/plan/costs.h
// src/plan/costs_test.cc src/plan/elimination.cc src/plan/elimination.h src/plan/fuse_groups.cc
// src/plan/fuse_groups_test.cc src/plan/group_kernel.cc src/plan/group_kernel.h src/plan/group_merge.h
// src/plan/kernel_cache.h src/plan/layout.cc src/plan/layout.h src/plan/memory.h
// src/plan/narrow_constants.cc src/plan/narrow_constants.h src/plan/program.cc src/plan/program.h
// src/plan/timed_chooser_for_test.h src/plan/widen_bytes.cc src/plan/widen_bytes.h src/target/features.h
// src/target/products.h src/target/target.cc src/target/target.h src/tensor/affine.cc src/tensor/affine.h
// src/tensor/contraction.cc src/tensor/contraction.h src/tensor/expr.h src/tensor/lexer.h
// src/tensor/parse.cc src/tensor/print.cc src/tensor/registers.cc src/tensor/registers.h
// src/tensor/registers_test.cc src/tensor/replace_buffers.h src/tensor/stmt.h
struct LoopNest {
  std::string name;
  struct Param {
    Buffer buffer;
    BufferRole role;
  };
  std::vector<Param> params;
  Buffer dims_buffer;
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
