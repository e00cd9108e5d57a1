// The canonical operators and the table that describes them.
#ifndef ATTUNE_GRAPH_OP_H_
#define ATTUNE_GRAPH_OP_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/attributes.h"

namespace attune {

enum class Op {
#define OP(enumerator, ...) k##enumerator,
#include "graph/op_table.inc"
#undef OP
};

inline constexpr size_t kNumOps = 0
#define OP(...) +1
#include "graph/op_table.inc"
#undef OP
    ;

enum class OpCategory {
  kData,
  kUnary,
  kBinary,
  kTernary,
  kMovement,
  kIndexed,
  kReduction,
  kScan,
  kSort,
  kContraction,
  kQuantized,
  kWindow,
  kNormalization,
  kSampling,
  kDynamic,
  kLinearAlgebra,
  kControl,
};

struct AttributeInfo {
  std::string_view name;
  AttributeKind kind;
  bool required;
  std::string_view default_text;  // what the table writes after "=", or empty
};

// Which elementwise operators may be computed in the kernel of an operator: none, those that follow it, or
// those before it as well. Where that depends on a node's attributes, fusion checks the attributes too.
enum class Fusing { kNothing, kEpilogue, kBoth };

// Whether channels of the result lie in blocks (Layout): never; as this operator itself decides; where the
// first input's do, and stay where they are; or where any operand's do.
enum class Blocks { kNone, kMakes, kKeeps, kJoins };

// How a result of floats is computed.
enum class Rounding {
  kNone,      // returns values of its inputs: movement, selection, comparison
  kOnce,      // exact, then rounded: a product
  kFunction,  // several steps
  kAdd,       // a sum of two, into which a factor may be folded
  kSum,       // sums of products, and perhaps more
};

struct OpInfo {
  Op op;
  std::string_view name;
  int min_inputs;
  int max_inputs;   // -1: any number
  int num_outputs;  // 0: the node says
  OpCategory category;
  std::vector<AttributeInfo> attributes;

  // Traits. The operator of the highest rank in a kernel is its anchor: the kernel is named after it and
  // scheduled around it. 0: never an anchor; from kLeastAnchorRank on, other work is done around it.
  int anchor_rank = 0;
  // Operations for an element of the result, where CountFlops() has no rule for the operator. A function
  // counts the additions, multiplications, divisions and clamps of its f32 approximation
  // (codegen/elementary.cc).
  int flops = 1;
  int reads = 1;          // how often the formula of an element reads each of its operands, at most
  bool cheap = false;     // a few instructions: may be computed several times instead of stored
  bool commutes = false;  // its two operands may be swapped
  // How many of the first inputs the elements of the result are taken from, unchanged: -1 for all, 0 where
  // the operator computes. NumMovedInputs() also looks at the attributes.
  int moves = 0;
  Fusing fuses = Fusing::kNothing;
  Blocks blocks = Blocks::kNone;
  Rounding rounds = Rounding::kNone;
  bool jumps = false;  // a small change of an input may make the result jump, as for a floor or an argmax

  const AttributeInfo* FindAttribute(std::string_view attribute) const;
};

inline constexpr int kLeastAnchorRank = 3;

const OpInfo& GetOpInfo(Op op);
std::span<const OpInfo> AllOps();
std::optional<Op> ParseOp(std::string_view name);

inline std::string_view OpName(Op op) { return GetOpInfo(op).name; }
inline bool IsElementwise(Op op) {
  const OpCategory c = GetOpInfo(op).category;
  return c == OpCategory::kUnary || c == OpCategory::kBinary || c == OpCategory::kTernary ||
         op == Op::kIdentity;
}

// Products of floats or of integers.
inline bool IsConv(Op op) { return op == Op::kConv || op == Op::kConvInteger; }
inline bool IsMatMul(Op op) { return op == Op::kMatMul || op == Op::kMatMulInteger; }
inline bool IsIntegerProduct(Op op) { return op == Op::kConvInteger || op == Op::kMatMulInteger; }

}  // namespace attune

#endif  // ATTUNE_GRAPH_OP_H_
