// The canonical operators and the table that describes them.
#ifndef ATTUNE_GRAPH_OP_H_
#define ATTUNE_GRAPH_OP_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/attributes.h"

namespace attune {

enum class Op {
#define OP(enumerator, name, min_inputs, max_inputs, outputs, category, attributes) k##enumerator,
#include "graph/op_table.inc"
#undef OP
};

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

struct OpInfo {
  Op op;
  std::string_view name;
  int min_inputs;
  int max_inputs;   // -1: any number
  int num_outputs;  // 0: the node says
  OpCategory category;
  std::vector<AttributeInfo> attributes;

  const AttributeInfo* FindAttribute(std::string_view attribute) const;
};

const OpInfo& GetOpInfo(Op op);
std::span<const OpInfo> AllOps();
std::optional<Op> ParseOp(std::string_view name);

inline std::string_view OpName(Op op) { return GetOpInfo(op).name; }
inline bool IsElementwise(Op op) {
  const OpCategory c = GetOpInfo(op).category;
  return c == OpCategory::kUnary || c == OpCategory::kBinary || c == OpCategory::kTernary ||
         op == Op::kIdentity;
}

// Of floats or integers.
inline bool IsConv(Op op) { return op == Op::kConv || op == Op::kConvInteger; }
inline bool IsMatMul(Op op) { return op == Op::kMatMul || op == Op::kMatMulInteger; }
inline bool IsIntegerProduct(Op op) { return op == Op::kConvInteger || op == Op::kMatMulInteger; }

}  // namespace attune

#endif  // ATTUNE_GRAPH_OP_H_
