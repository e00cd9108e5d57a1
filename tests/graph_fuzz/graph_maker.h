// Makes random valid graphs with data for their inputs.
//
// A graph grows node by node, and the reference interpreter computes each node as it is added. So the maker
// knows the data of its values: it leaves out nodes that overflow, and recipes (recipes.h) can ask for
// operands that make sense for an operator, such as indices in range.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_GRAPH_MAKER_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_GRAPH_MAKER_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune::graph_fuzz {

// The values of a new tensor: numbers in [low, high]. Floats are multiples of `step` unless it is 0.
struct Range {
  double low = -2, high = 2;
  double step = 0;
};

// A tensor of random numbers in `range`; bools are true or false, and unsigned numbers are not negative.
Tensor RandomData(DType dtype, const Shape& shape, const Range& range, Random& random);

// A graph with one tensor for each of its inputs.
struct RandomCase {
  std::unique_ptr<Graph> graph;
  std::vector<Tensor> inputs;
};

// The number of nodes in a graph, without constants and with those in regions.
int64_t CountNodes(const Graph& graph);

// Removes nodes that no output needs, and then inputs that nothing uses, with their tensors.
void RemoveUnused(RandomCase& random);

// Not thread safe. Values belong to the graph.
class GraphMaker {
 public:
  // For integers (and bools): no float is made, and tensors are small.
  enum class Numbers { kAny, kIntegers };
  explicit GraphMaker(uint64_t seed, int max_nodes = std::numeric_limits<int>::max(),
                      Numbers numbers = Numbers::kAny);

  // ---- Choices.

  Random& random() { return random_; }
  int64_t Pick(int64_t n) { return random_.Integer(0, n - 1); }
  bool OneIn(int64_t n) { return Pick(n) == 0; }
  template <typename T>
  T OneOf(std::initializer_list<T> items) {
    return items.begin()[Pick(static_cast<int64_t>(items.size()))];
  }
  // An extent of an axis: mostly small, with every remainder modulo a vector's lanes.
  int64_t Extent();
  // A number of channels: often a multiple of a vector's lanes, otherwise close to one.
  int64_t Channels();
  // f32 most often; f64 seldom.
  DType FloatType();
  DType IntType();
  // One of 0, ±1, ±2^31, ±(2^53 ± 1), ±2^63, 2^64 - 1 and the type's limits, as `dtype`, an integer type,
  // holds it.
  ExactNumber Edge(DType dtype);
  bool integers() const { return numbers_ == Numbers::kIntegers; }
  DType AnyType();
  Shape AnyShape(int max_rank = 4);
  // A shape that broadcasts to `shape`: axes are 1 or left out at random.
  Shape ShapeWithin(const Shape& shape);

  // ---- Values.

  using Predicate = std::function<bool(const Value&)>;

  // The range of new floats unless told otherwise. In an exact graph: small multiples of a power of two.
  Range FloatRange() const { return range_; }
  // A graph input or, `constants` times out of three, a constant. Integers are sometimes edges, among graphs
  // of integers mostly.
  Value* New(DType dtype, const Shape& shape, int constants = 1);
  Value* New(DType dtype, const Shape& shape, const Range& range, int constants = 1);
  Value* Input(DType dtype, const Shape& shape, const Range& range);
  Value* Constant(Tensor data);
  Value* Constant(DType dtype, const Shape& shape) { return New(dtype, shape, 3); }
  // An earlier value that satisfies `wanted`, mostly a late one; null if there is none.
  Value* Existing(const Predicate& wanted);
  // The next operand is this value if that is allowed.
  void Prefer(Value* value) { preferred_ = value; }
  // An existing value; a new one if there is none, and sometimes anyway.
  Value* Any(const Predicate& wanted, const std::function<Value*()>& otherwise);
  Value* AnyFloat();
  Value* AnyNumber();
  Value* AnyValue();
  // A float [N,C,D1,…] with `spatial` dimensions D.
  Value* FeatureMap(int spatial = 2);
  // A value of exactly this type; Operand(): often one that broadcasts to it.
  Value* Like(const TensorType& type);
  Value* Operand(const TensorType& type);
  // Indices in [-limit, limit), or in [0, limit) if not `negative`; new or computed.
  Value* Indices(const Shape& shape, int64_t limit, bool negative = true);

  // ---- Nodes.

  // Adds a node and returns its output 0. Null, and nothing added, if the node is invalid or too large, if
  // the graph has enough nodes, or if no test can judge what the node computes. SetIndexLimit(): every
  // element of an i64 value is below `limit`, as its operator promises.
  Value* Add(Op op, std::vector<Value*> inputs, Attributes attrs = {}, int num_outputs = -1,
             std::vector<std::unique_ptr<Graph>> regions = {});
  void SetIndexLimit(const Value* value, int64_t limit) { index_limits_[value] = limit; }
  // States that all elements of a value are zero, or that two values are equal to the bit, by outputs with
  // such names (facts.h).
  void StateZero(Value* value);
  void StateSame(Value* a, Value* b);

  const Tensor& DataOf(const Value* value) const { return data_.at(value); }
  // Without constants and with nodes in regions.
  int num_nodes() const { return num_nodes_; }
  int num_values() const { return static_cast<int>(values_.size()); }

  // Gives the graph its outputs. The maker must not be used afterwards.
  RandomCase Finish();

 private:
  Tensor EdgeData(DType dtype, const Shape& shape);
  Value* NewOf(Tensor data, int constants);
  void Keep(Value* value, Tensor data);
  bool IsJudgeable(const Tensor& data) const;
  void AddOutputs();

  Random random_;
  const int max_nodes_;
  const Numbers numbers_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>("random");
  Range range_;
  bool is_wild_;  // infinities, NaN and large numbers are allowed
  std::vector<Value*> values_;
  std::map<const Value*, Tensor> data_;
  std::map<const Value*, int64_t> index_limits_;
  Value* preferred_ = nullptr;
  int num_nodes_ = 0;
  int num_facts_ = 0;
};

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_GRAPH_MAKER_H_
