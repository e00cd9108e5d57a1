// From a fused group of operators to a compute definition.
//
// Every operator's lowering is written once, in logical indices, and knows nothing of layouts: Read() and
// Define() map logical indices to where elements lie in memory. How fast the result runs is a matter of the
// schedule, and of the layouts that the plan chose.
#ifndef ATTUNE_LOWER_DEFINITION_H_
#define ATTUNE_LOWER_DEFINITION_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "tensor/compute.h"

namespace attune {

using Indices = std::vector<Expr>;

// The type that values of `dtype` are computed in: f32 for f16 and bf16, else `dtype`.
DType ComputeType(DType dtype);

// A sum, product, maximum, … over `extents`.
struct Reduction {
  std::vector<int64_t> extents;
  std::vector<std::string> names;  // of the reduce axes; "r0", "r1", … when empty
  MathOp combiner = MathOp::kAdd;
  DType dtype = DType::kF32;  // of init and of the terms; what is accumulated in
  Expr init;                  // 0, or what fits the combiner and dtype, when null
  // The term for logical output indices and reduce indices.
  std::function<Expr(const Indices& i, const Indices& r)> term;
  // Which terms count; null or a null result: all.
  std::function<Expr(const Indices& i, const Indices& r)> where;
  // What the accumulated value becomes; itself when null.
  std::function<Expr(const Expr& accumulated, const Indices& i)> finish;
};

// The symbols of the dynamic dimensions that a group makes, in the order of its outputs.
std::vector<std::string> SymbolsOf(const Graph& region);

// A box of a value's logical indices.
struct Part {
  std::string suffix;  // of the stage's name, after a dot; empty for one part of each value
  Ints begins, sizes;  // empty: the whole
};

// The names of the buffers of a region's i-th input and output, "in0" and "out0", and i again.
std::string InputName(size_t i);
std::string OutputName(size_t i);
int InputIndex(std::string_view name);
int OutputIndex(std::string_view name);

// Builds a ComputeDef stage by stage. Inputs of the region become input parameters in order, then the
// region's outputs output parameters in order.
class Definition {
 public:
  // Symbols count with their bounds. `symbols` are the program's: a symbol's place is the slot of dims that
  // the kernel writes. The definition does not refer to `region` once built.
  Definition(const Graph& region, std::string name, std::vector<std::string> symbols = {});

  // The element of `value` at logical indices, in bounds. Of scalar constants inside the region, the number.
  Expr Read(const Value* value, const Indices& indices) const;
  // The same in the compute type.
  Expr ReadComputed(const Value* value, const Indices& indices) const;
  // The same, where `indices` are those of a tensor that `value` broadcasts to.
  Expr ReadBroadcast(const Value* value, const Indices& indices) const;

  // Adds the stage that computes `value`, an output of `node`. The formula's result is cast to the type of
  // the value's buffer, which within a kernel may be the one that it is computed in. The stage is called
  // after the operator and its place in the region: "relu2".
  void Define(const Node& node, const Value* value, const std::function<Expr(const Indices&)>& formula);
  // The same for a part of the value; other stages compute the rest, before or after.
  void DefinePart(const Node& node, const Value* value, const Part& part,
                  const std::function<Expr(const Indices&)>& formula);
  // Two stages: "sum1.acc" accumulates, "sum1" finishes and stores.
  void DefineReduction(const Node& node, const Value* value, const Reduction& reduction);

  // Stages for what is no value of the graph: the maximum of a softmax's row, a packed weight. The name is
  // made unique by the node's: "softmax0.max". The buffer of a reduction is plain and of `shape`.
  Buffer AddTemporary(const Node& node, const std::string& suffix, const TensorType& type,
                      const std::function<Expr(const Indices&)>& formula);
  Buffer AddTemporary(const Node& node, const std::string& suffix, DType dtype, std::vector<int64_t> shape,
                      const std::function<Expr(const Indices&)>& formula) {
    return AddTemporary(node, suffix, TensorType(dtype, Shape(std::move(shape))), formula);
  }
  Buffer AddTemporaryReduction(const Node& node, const std::string& suffix, std::vector<int64_t> shape,
                               const Reduction& reduction);

  // A stage in statements: for what no formula expresses. `body` writes the buffers of `values`, and may use
  // BufferOf() and allocate scratch.
  void DefineImperative(const Node& node, const std::string& suffix, const std::vector<const Value*>& values,
                        Stmt body);

  // The buffer of a value, of its physical shape. A region input or output is a parameter.
  Buffer BufferOf(const Value* value) const;
  // The physical indices of logical ones.
  static Indices Physical(const TensorType& type, const Indices& logical);
  // The pseudo-buffer of dynamic dimensions: one i64 for each symbol of the region's outputs, in order of
  // first appearance. Created on first use; DimIndex is a symbol's place in it.
  Buffer DimsBuffer();
  int64_t DimIndex(const std::string& symbol) const;

  // "conv0": the operator and the node's place in the region.
  std::string StageName(const Node& node) const;

  ComputeDef Take() { return std::move(def_); }

 private:
  std::string SuffixedName(const Node& node, const std::string& suffix) const;
  Stage MakeStage(const std::string& name, const TensorType& type, const Buffer& output, Indices& logical);
  Indices PlaceOf(const TensorType& type, const Indices& logical) const;
  void AddReduction(const std::string& name, const TensorType& type, const Buffer& buffer,
                    const Reduction& reduction);

  ComputeDef def_;
  std::map<const Value*, Buffer> buffers_;
  std::map<const Node*, std::string> names_;
  std::vector<std::string> symbols_;
  // Channels that are made of a block and a place in it: who reads such a one in blocks of the same size
  // reads there. To divide it again would double an index with each of the stages that are inlined into one
  // another.
  struct Channel {
    Expr channel, block, lane;
    int64_t block_size;
  };
  std::map<const ExprNode*, Channel> channels_;
};

// Adds the stages of one operator. The tables of operators are in lower/operators.cc.
absl::Status DefineOperator(Definition& definition, const Node& node);

// The compute definition of a whole region: `define` for each node in order.
using OperatorDefinition = std::function<absl::Status(Definition&, const Node&)>;
absl::StatusOr<ComputeDef> DefineRegion(const Graph& region, const std::string& name,
                                        const std::vector<std::string>& symbols = {},
                                        const OperatorDefinition& define = DefineOperator);

// The value of an elementwise operator's output for `args`, its inputs in their compute types. `node` gives
// attributes and types.
absl::StatusOr<Expr> ElementwiseFormula(const Node& node, const std::vector<Expr>& args);

// The neutral element of a combiner: 0, 1, or the lowest or highest number (infinities for floats).
Expr NeutralElement(MathOp combiner, DType dtype);

}  // namespace attune

#endif  // ATTUNE_LOWER_DEFINITION_H_
