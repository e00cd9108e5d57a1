// Appends canonical operators to a graph: the vocabulary for lowering operators.
#ifndef ATTUNE_IMPORT_COMMON_EMITTER_H_
#define ATTUNE_IMPORT_COMMON_EMITTER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "import/common/evaluator.h"
#include "import/common/failure.h"
#include "import/common/sizes.h"

namespace attune::importing {

// Limits what an import may create in total: unrolled loops and nested function calls multiply, and a few
// bytes can ask for a large table. ResourceExhausted when it is spent, Aborted when the caller cancels.
struct Budget {
  int64_t nodes = 0;
  int64_t bytes = 0;  // for constants that are not in the file
  WorkControl control = {};
  int64_t made = 0;  // nodes created so far
  void SpendNodes(int64_t count = 1);
  // Spends one node of the file, or more if its names are long, since these take time to read.
  void SpendNamed(size_t name_bytes);
  void SpendBytes(int64_t count);
};

// Every member that returns a value throws ImportFailure if the operator does not accept its inputs.
// Operators without effect (a cast to the same type, a reshape to the same shape) are not emitted.
class Emitter {
 public:
  Emitter(Graph* graph, Budget* budget, Evaluator* evaluator, std::string name)
      : graph_(graph), budget_(budget), evaluator_(evaluator), name_(std::move(name)) {}

  Graph* graph() const { return graph_; }
  const std::string& name() const { return name_; }  // name of the model's operator
  // The same for another graph, such as a region of the operator.
  Emitter Within(Graph* graph) const { return Emitter(graph, budget_, evaluator_, name_); }

  Node* EmitNode(Op op, std::vector<Value*> inputs, Attributes attrs = {}, int num_outputs = -1,
                 std::vector<std::unique_ptr<Graph>> regions = {});
  Value* Emit(Op op, std::vector<Value*> inputs, Attributes attrs = {}) {
    return EmitNode(op, std::move(inputs), std::move(attrs))->output();
  }

  // Constants. Use NewConstant for data that is not from the file. Filled is a broadcast scalar, which
  // takes no memory however large the shape.
  Value* Constant(Tensor data);
  Value* NewConstant(Tensor data);
  // Zeros for a table that the model asks for but does not contain; fill it and make it a Constant. Its
  // memory is counted before it is allocated.
  Tensor NewTable(DType dtype, const Shape& shape);
  Value* Scalar(DType dtype, const ExactNumber& value) { return Constant(Tensor::Scalar(dtype, value)); }
  Value* ScalarLike(const Value* like, const ExactNumber& value) { return Scalar(like->type().dtype, value); }
  Value* Filled(DType dtype, const ExactNumber& value, const Shape& shape) {
    return Broadcast(Scalar(dtype, value), shape);
  }
  // 0, 1, …, count - 1.
  Value* Count(DType dtype, int64_t count);
  Value* IntVector(const Ints& values) { return NewConstant(Tensor::FromInts(values)); }
  Value* Integer(int64_t value) { return Constant(Tensor::FromInts(Ints{value}).Reshaped({})); }

  // Elementwise.
  Value* Add(Value* a, Value* b) { return Emit(Op::kAdd, {a, b}); }
  Value* Sub(Value* a, Value* b) { return Emit(Op::kSub, {a, b}); }
  Value* Mul(Value* a, Value* b) { return Emit(Op::kMul, {a, b}); }
  Value* Div(Value* a, Value* b) { return Emit(Op::kDiv, {a, b}); }
  Value* Add(Value* a, const ExactNumber& b) { return Add(a, ScalarLike(a, b)); }
  Value* Mul(Value* a, const ExactNumber& b) { return b == 1 ? a : Mul(a, ScalarLike(a, b)); }
  Value* Div(Value* a, const ExactNumber& b) { return Div(a, ScalarLike(a, b)); }
  // The quotient of integers, rounded down. Only that of the least number and -1 wraps.
  Value* FloorDiv(Value* a, Value* b);
  Value* Min(Value* a, Value* b) { return Emit(Op::kMin, {a, b}); }
  Value* Max(Value* a, Value* b) { return Emit(Op::kMax, {a, b}); }
  Value* Where(Value* condition, Value* a, Value* b) { return Emit(Op::kWhere, {condition, a, b}); }
  Value* Cast(Value* x, DType to);
  // Infinite min and max stand for the limits of the type.
  Value* Clip(Value* x, const ExactNumber& min, const ExactNumber& max);

  // Movement. Axes may be negative here; sizes and permutations must be complete.
  Value* Reshape(Value* x, const Shape& shape);
  Value* Transpose(Value* x, const Ints& perm);
  Value* Broadcast(Value* x, const Shape& shape);
  Value* Slice(Value* x, Ints starts, Ints sizes, Ints steps);
  Value* SliceAxis(Value* x, int64_t axis, int64_t start, int64_t size, int64_t step = 1);
  // Joins hundreds of parts step by step, or with a single gather if they are slices of the same value.
  Value* Concat(const std::vector<Value*>& values, int64_t axis);
  // Consecutive parts of these sizes along an axis; a broken model if they are not the whole of it.
  std::vector<Value*> Split(Value* x, int64_t axis, const Ints& sizes);
  // Repeats x along each of its axes.
  Value* Tile(Value* x, const Ints& repeats);
  Value* Pad(Value* x, Ints pads, const ExactNumber& value = 0);
  // Mirrors at the edges, repeating the outermost elements; pads by at most the size of the axis.
  Value* PadSymmetric(Value* x, const Ints& pads);
  Value* Squeeze(Value* x, const Ints& axes);
  Value* Unsqueeze(Value* x, const Ints& axes);
  Value* Gather(Value* x, Value* indices, int64_t axis);
  // `indices` of which none counts from the end: checked to be at least 0, for formats where a negative one
  // is an error. Canonical operators take negative ones. `sizes` are as check_index has them, those of the
  // `count` axes of `x` from `first` on; `reader` is the operator that takes the indices.
  Value* NonNegative(Value* indices, const Ints& sizes, std::string_view reader);
  Value* NonNegative(Value* indices, const Value* x, int64_t first, int64_t count, std::string_view reader);
  // `lengths` checked to be from 0 to `most`, where no canonical operator takes them as such.
  Value* LengthsUpTo(Value* lengths, int64_t most, std::string_view reader);
  // If x is a constant, computes the result immediately and adds no node: for weights that a format stores
  // in another order.
  Value* TransposeStored(Value* x, const Ints& perm);
  Value* ReshapeStored(Value* x, const Shape& shape);

  // Reductions and contractions.
  Value* Reduce(Op op, Value* x, Ints axes, bool keepdims = true);
  Value* MatMul(Value* a, Value* b, bool transpose_a = false, bool transpose_b = false);

  // A rank-1 [C] tensor as [C, 1, 1, …], so that it broadcasts along axis 1 of a tensor of `rank`.
  Value* PerChannel(Value* x, int rank);

  // The shape of a value; throws if a dimension depends on data.
  Shape ShapeOf(const Value* x) const;
  int64_t DimOf(const Value* x, int64_t axis) const;  // throws if data decides this dimension

  // The value's data, computed if it follows from known values; otherwise it throws: "its <what> must be
  // known: …".
  Tensor Known(const Value* value, std::string_view what) const { return evaluator_->Require(value, what); }
  Ints KnownInts(const Value* value, std::string_view what) const {
    return evaluator_->RequireInts(value, what);
  }
  ExactNumber KnownScalar(const Value* value, std::string_view what) const {
    return evaluator_->RequireScalar(value, what);
  }
  int64_t KnownInt(const Value* value, std::string_view what) const {
    return evaluator_->RequireInt(value, what);
  }
  // nullopt unless the value follows from constants alone.
  std::optional<Tensor> KnownConstant(const Value* value) const { return evaluator_->FromConstants(value); }

  // A possibly negative axis as 0 … rank - 1; a broken model if it is out of range.
  static int64_t Axis(int64_t axis, int64_t rank);
  // Non-negative axes in their given order; a broken model if one occurs twice.
  static Ints DistinctAxes(Ints axes, int64_t rank);
  // Sorted, unique and non-negative.
  static Ints Axes(Ints axes, int64_t rank);

 protected:
  Budget& budget() const { return *budget_; }

 private:
  // `reader` is the whole text of check_index.
  Value* CheckedIndices(Value* indices, const Ints& sizes, std::string reader);
  // nullptr if the parts are not all slices of one value, or have too many elements along the axis.
  Value* GatherParts(const std::vector<Value*>& values, int64_t axis);

  Graph* graph_;
  Budget* budget_;
  Evaluator* evaluator_;
  std::string name_;
};

// The transpose whose axis i is axis perm[i] of `x`; `perm` must be a permutation of x's axes.
Tensor Permuted(const Tensor& x, const Ints& perm);
}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_EMITTER_H_
