// Lowers a fused group of operators to a compute definition.
//
// Every operator's lowering is written once, in logical indices, and knows nothing of layouts: Read() and
// Define() turn logical indices into physical ones. The schedule, and the layouts that the plan chose,
// decide how fast the result runs.
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
  DType dtype = DType::kF32;  // of init, the terms and the accumulator
  Expr init;                  // null: the neutral element of the combiner
  // The term for logical output indices and reduce indices.
  std::function<Expr(const Indices& i, const Indices& r)> term;
  // The condition for a term to count; null, or a null result: all terms count.
  std::function<Expr(const Indices& i, const Indices& r)> where;
  // The result, given the accumulated value; null: that value.
  std::function<Expr(const Expr& accumulated, const Indices& i)> finish;
};

// The symbols of a group's dynamic dimensions: those of its outputs in their order, then those that only its
// inputs have.
std::vector<std::string> SymbolsOf(const Graph& region);

// A box of a value's logical indices.
struct Part {
  std::string suffix;  // of the stage's name, after a dot; one part of each value has none
  Ints begins, sizes;  // empty: the whole
};

// The names of the buffers of a region's i-th input and output, "in0" and "out0", and i from a name.
std::string InputName(size_t i);
std::string OutputName(size_t i);
int InputIndex(std::string_view name);
int OutputIndex(std::string_view name);

// Builds a ComputeDef stage by stage. Inputs of the region become input parameters in order, then the
// region's outputs output parameters in order.
class Definition {
 public:
  // Dynamic dimensions count with their bounds. `symbols` are the program's: a symbol's index is that of
  // the dims element that the kernel writes or reads. The compute definition does not refer to `region`.
  Definition(const Graph& region, std::string name, std::vector<std::string> symbols = {});

  // The element of `value` at logical indices, in bounds; for a scalar constant in the region, the number.
  Expr Read(const Value* value, const Indices& indices) const;
  // The same in the compute type.
  Expr ReadComputed(const Value* value, const Indices& indices) const;
  // The same, where `indices` are those of a tensor that `value` broadcasts to.
  Expr ReadBroadcast(const Value* value, const Indices& indices) const;

  // Adds the stage that computes `value`, an output of `node`. The formula's result is cast to the type of
  // the value's buffer, which within a kernel may be the compute type. The stage is called after the
  // operator and the node's index in the region: "relu2".
  void Define(const Node& node, const Value* value, const std::function<Expr(const Indices&)>& formula);
  // The same for a part of the value; other stages compute the rest, before or after.
  void DefinePart(const Node& node, const Value* value, const Part& part,
                  const std::function<Expr(const Indices&)>& formula);
  // Two stages: "sum1.acc" accumulates, "sum1" finishes and stores.
  void DefineReduction(const Node& node, const Value* value, const Reduction& reduction);

  // Stages for data that is no value of the graph, such as the maximum of a softmax's row or a packed
  // weight. The node's name makes the stage's name unique: "softmax0.max". The buffer of a reduction is
  // plain and of `shape`.
  Buffer AddTemporary(const Node& node, const std::string& suffix, const TensorType& type,
                      const std::function<Expr(const Indices&)>& formula);
  Buffer AddTemporary(const Node& node, const std::string& suffix, DType dtype, std::vector<int64_t> shape,
                      const std::function<Expr(const Indices&)>& formula) {
    return AddTemporary(node, suffix, TensorType(dtype, Shape(std::move(shape))), formula);
  }
  Buffer AddTemporaryReduction(const Node& node, const std::string& suffix, std::vector<int64_t> shape,
                               const Reduction& reduction);

  // Adds an imperative stage, for what no formula expresses. `body` writes the buffers of `values`, and may
  // use BufferOf() and allocate scratch.
  void DefineImperative(const Node& node, const std::string& suffix, const std::vector<const Value*>& values,
                        Stmt body);

  // The buffer of a value, of its physical shape. A region input or output is a parameter.
  Buffer BufferOf(const Value* value) const;
  // Converts logical indices to physical ones.
  static Indices Physical(const TensorType& type, const Indices& logical);
  // The pseudo-buffer of dynamic dimensions: one i64 for each of the `symbols` given to the constructor, in
  // their order. Created on first use; DimIndex is a symbol's index in it.
  Buffer DimsBuffer();
  int64_t DimIndex(const std::string& symbol) const;
  // How many elements a dimension of an input has: a constant, or what the dims buffer holds for it.
  Expr SizeOf(const Dim& dim);

  // "conv0": the operator and the node's index in the region.
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
  // Channels that were made of a block and a lane. A read in blocks of the same size uses these: dividing
  // the channel again would double an index with each stage that is inlined into another.
  struct Channel {
    Expr channel, block, lane;
    int64_t block_size;
  };
  std::map<const ExprNode*, Channel> channels_;
};

// Adds the stages of one operator. The table of operators is in lower/operators.cc.
absl::Status DefineOperator(Definition& definition, const Node& node);

// The compute definition of a whole region; calls `define` for each node in order.
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
