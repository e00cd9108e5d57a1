#include "graph_maker.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "absl/strings/str_cat.h"
#include "facts.h"
#include "reference/interpreter.h"

namespace attune::graph_fuzz {
namespace {

constexpr int64_t kMaxElements = 1 << 15, kMaxIntegers = 1 << 9;
constexpr int64_t kMaxMacs = 4 << 20;

bool IsNumber(const Value& value) { return IsFloat(value.type().dtype) || IsInt(value.type().dtype); }

// An upper bound of a contraction's multiply-adds: output elements times the weights that each of them
// needs.
int64_t MacsOf(const Node& node) {
  if (GetOpInfo(node.op()).category != OpCategory::kContraction) return 0;
  const int weight = node.op() == Op::kDeformConv ? 2 : 1;
  const Shape w = node.input(weight)->type().shape();
  int64_t terms = 1;
  if (IsMatMul(node.op()) || node.op() == Op::kAttention) {
    terms = node.op() == Op::kAttention ? 2 * w[2] * w[3]
                                        : node.input(0)->type().shape()[node.input(0)->type().rank() - 1];
    if (IsMatMul(node.op())) terms = std::max(terms, w[w.size() - 2]);
  } else {
    for (size_t i = 1; i < w.size(); ++i) terms *= w[i];
  }
  return node.output()->type().num_elements() * terms;
}

// Whether BroadcastDims(from, to) is `to`.
bool BroadcastsTo(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  const size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[i + shift]) return false;
  }
  return true;
}

}  // namespace

Tensor RandomData(DType dtype, const Shape& shape, const Range& range, Random& random) {
  Tensor data(dtype, shape);
  const double low = IsUnsignedInt(dtype) ? std::max(range.low, 0.0) : range.low;
  for (int64_t i = 0; i < data.num_elements(); ++i) {
    if (dtype == DType::kBool) {
      data.SetInt(i, random.Integer(0, 1));
    } else if (IsFloat(dtype)) {
      const double x = low + (range.high - low) * random.Uniform();
      data.SetDouble(i, range.step == 0 ? x : std::round(x / range.step) * range.step);
    } else {
      data.SetInt(i, random.Integer(std::llround(low), std::llround(std::max(low, range.high))));
    }
  }
  return data;
}

int64_t CountNodes(const Graph& graph) {
  int64_t count = 0;
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kConstant) continue;
    ++count;
    for (int i = 0; i < node->num_regions(); ++i) count += CountNodes(node->region(i));
  }
  return count;
}

void RemoveUnused(RandomCase& random) {
  Graph& graph = *random.graph;
  std::vector<Node*> nodes;
  for (const auto& node : graph.nodes()) nodes.push_back(node.get());
  for (Node* node : std::views::reverse(nodes)) {
    bool used = false;
    for (int i = 0; i < node->num_outputs(); ++i) used |= graph.NumUses(node->output(i)) > 0;
    if (!used) graph.Erase(node);
  }
  for (int i = static_cast<int>(graph.inputs().size()) - 1; i >= 0; --i) {
    if (graph.NumUses(graph.inputs()[static_cast<size_t>(i)].get()) > 0) continue;
    graph.EraseInput(i);
    random.inputs.erase(random.inputs.begin() + i);
  }
}

GraphMaker::GraphMaker(uint64_t seed, int max_nodes, Numbers numbers)
    : random_(seed), max_nodes_(max_nodes), numbers_(numbers), is_wild_(OneIn(25)) {
  switch (Pick(4)) {
    case 0:
      range_ = {.low = -4, .high = 4, .step = 1};
      break;
    case 1:
      range_ = {.low = -2, .high = 2, .step = 0.125};
      break;
    default:
      break;
  }
}

int64_t GraphMaker::Extent() {
  switch (Pick(8)) {
    case 0:
      return 1;
    case 1:
      return random_.Integer(9, 20);
    case 2:
      return OneIn(4) ? random_.Integer(21, 70) : 16;
    default:
      return random_.Integer(1, 9);
  }
}

int64_t GraphMaker::Channels() {
  switch (Pick(6)) {
    case 0:
      return Extent();
    case 1:
      return 8 * random_.Integer(1, 6);
    case 2:
      return 16 * random_.Integer(1, 4);
    case 3:
      return 16 * random_.Integer(1, 3) + random_.Integer(-3, 3);
    default:
      return OneOf<int64_t>({3, 4, 8, 16, 24, 32});
  }
}

DType GraphMaker::FloatType() {
  if (integers()) return IntType();
  switch (Pick(20)) {
    case 0:
    case 1:
      return DType::kF16;
    case 2:
    case 3:
      return DType::kBF16;
    case 4:
      return DType::kF64;
    default:
      return DType::kF32;
  }
}

DType GraphMaker::IntType() {
  return OneOf({DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kU8, DType::kU16, DType::kU32,
                DType::kU64, DType::kI32, DType::kI64, DType::kU8});
}

ExactNumber GraphMaker::Edge(DType dtype) {
  constexpr int64_t k31 = int64_t{1} << 31, k53 = int64_t{1} << 53;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Tensor held(dtype, {});
  while (true) {
    const auto edge = OneOf<ExactNumber>({0, 1, -1, k31, -k31, k53 - 1, k53 + 1, -k53 + 1, -k53 - 1,
                                          uint64_t{1} << 63, -0x1p63, UINT64_MAX, kInfinity, -kInfinity});
    held.SetNumber(0, edge);  // the infinities give the limits
    if (!edge.is_integer() || held.ToNumber(0) == edge) return held.ToNumber(0);
  }
}

DType GraphMaker::AnyType() {
  if (OneIn(8)) return DType::kBool;
  return OneIn(3) ? IntType() : FloatType();
}

Shape GraphMaker::AnyShape(int max_rank) {
  Shape shape(static_cast<size_t>(OneIn(12) ? 0 : random_.Integer(1, max_rank)));
  int64_t elements = 1;
  for (int64_t& size : shape) {
    size = elements > (integers() ? 24 : 512) ? random_.Integer(1, 3) : Extent();
    elements *= size;
  }
  if (!shape.empty() && OneIn(60)) shape[static_cast<size_t>(Pick(std::ssize(shape)))] = 0;
  return shape;
}

Shape GraphMaker::ShapeWithin(const Shape& shape) {
  Shape part = shape;
  for (int64_t& size : part) {
    if (OneIn(3)) size = 1;
  }
  if (OneIn(4)) part.erase(part.begin(), part.begin() + Pick(std::ssize(part) + 1));
  return part;
}

Value* GraphMaker::Input(DType dtype, const Shape& shape, const Range& range) {
  return NewOf(RandomData(dtype, shape, range, random_), 0);
}

Value* GraphMaker::Constant(Tensor data) {
  Value* value = graph_->AddConstant(data, absl::StrCat("c", num_values()));
  Keep(value, std::move(data));
  return value;
}

Tensor GraphMaker::EdgeData(DType dtype, const Shape& shape) {
  Tensor data(dtype, shape);
  for (int64_t i = 0; i < data.num_elements(); ++i) data.SetNumber(i, Edge(dtype));
  return data;
}

Value* GraphMaker::NewOf(Tensor data, int constants) {
  if (Pick(3) < constants) return Constant(std::move(data));
  Value* value =
      graph_->AddInput(absl::StrCat("x", graph_->inputs().size()), TensorType(data.dtype(), data.shape()));
  Keep(value, std::move(data));
  return value;
}

Value* GraphMaker::New(DType dtype, const Shape& shape, int constants) {
  if (IsInt(dtype) && (integers() ? !OneIn(3) : OneIn(8))) return NewOf(EdgeData(dtype, shape), constants);
  const Range range = {.low = OneIn(4) ? -120.0 : -6, .high = OneIn(4) ? 120.0 : 6};
  return New(dtype, shape, IsFloat(dtype) ? range_ : range, constants);
}

Value* GraphMaker::New(DType dtype, const Shape& shape, const Range& range, int constants) {
  return NewOf(RandomData(dtype, shape, range, random_), constants);
}

Value* GraphMaker::Existing(const Predicate& wanted) {
  if (preferred_ != nullptr && wanted(*preferred_)) return std::exchange(preferred_, nullptr);
  std::vector<Value*> found;
  for (Value* value : values_) {
    if (wanted(*value)) found.push_back(value);
  }
  if (found.empty()) return nullptr;
  const int64_t late = std::min<int64_t>(std::ssize(found), 3);
  if (!OneIn(3)) return found[static_cast<size_t>(std::ssize(found) - 1 - Pick(late))];
  return found[static_cast<size_t>(Pick(std::ssize(found)))];
}

Value* GraphMaker::Any(const Predicate& wanted, const std::function<Value*()>& otherwise) {
  Value* existing = preferred_ == nullptr && OneIn(12) ? nullptr : Existing(wanted);
  return existing != nullptr ? existing : otherwise();
}

Value* GraphMaker::AnyFloat() {
  if (integers()) return AnyNumber();
  return Any([](const Value& v) { return IsFloat(v.type().dtype); },
             [this] { return New(FloatType(), AnyShape(), 0); });
}

Value* GraphMaker::AnyNumber() {
  return Any(IsNumber, [this] { return New(OneIn(2) ? IntType() : FloatType(), AnyShape(), 0); });
}

Value* GraphMaker::AnyValue() {
  return Any([](const Value&) { return true; }, [this] { return New(AnyType(), AnyShape(), 0); });
}

Value* GraphMaker::FeatureMap(int spatial) {
  return Any(
      [spatial](const Value& v) {
        return IsFloat(v.type().dtype) && v.type().rank() == spatial + 2 && v.type().is_static() &&
               v.type().num_elements() > 0;
      },
      [this, spatial] {
        Shape shape = {OneIn(3) ? 2 : 1, OneIn(5) ? 1 + Pick(4) : Channels()};
        for (int i = 0; i < spatial; ++i) shape.push_back(spatial == 1 ? Extent() + 6 : 2 + Pick(14));
        return New(FloatType(), shape, 0);
      });
}

Value* GraphMaker::Like(const TensorType& type) {
  return Any([&type](const Value& v) { return v.type() == type; },
             [this, &type] { return New(type.dtype, type.shape()); });
}

Value* GraphMaker::Operand(const TensorType& type) {
  const Shape shape = type.shape();
  return Any(
      [&](const Value& v) {
        return v.type().dtype == type.dtype && v.type().is_static() && BroadcastsTo(v.type().shape(), shape);
      },
      [&] { return New(type.dtype, OneIn(2) ? shape : ShapeWithin(shape)); });
}

Value* GraphMaker::Indices(const Shape& shape, int64_t limit, bool negative) {
  if (limit == 0) return nullptr;
  Value* computed = OneIn(2) ? nullptr : Existing([&](const Value& v) {
    const auto known = index_limits_.find(&v);
    return known != index_limits_.end() && known->second <= limit && v.type().is_static() &&
           v.type().shape() == shape;
  });
  if (computed != nullptr) return computed;
  const double low = negative && OneIn(3) ? -static_cast<double>(limit) : 0;
  return New(OneOf({DType::kI32, DType::kI64}), shape, {.low = low, .high = static_cast<double>(limit - 1)});
}

void GraphMaker::Keep(Value* value, Tensor data) {
  values_.push_back(value);
  data_[value] = std::move(data);
}

bool GraphMaker::IsJudgeable(const Tensor& data) const {
  if (!IsFloat(data.dtype()) || is_wild_) return true;
  const bool narrow = data.dtype() == DType::kF16 || data.dtype() == DType::kBF16;
  const double limit = narrow ? 500 : 1e5;
  for (int64_t i = 0; i < data.num_elements(); ++i) {
    if (!(std::abs(data.ToDouble(i)) < limit)) return false;
  }
  return true;
}

Value* GraphMaker::Add(Op op, std::vector<Value*> inputs, Attributes attrs, int num_outputs,
                       std::vector<std::unique_ptr<Graph>> regions) {
  std::vector<Tensor> data;
  for (const Value* input : inputs) data.push_back(input == nullptr ? Tensor() : data_.at(input));
  // Drops absent inputs at the end.
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back(), data.pop_back();
  int num_added = 1;
  for (const auto& region : regions) num_added += static_cast<int>(CountNodes(*region));
  if (num_added > max_nodes_ - num_nodes_) return nullptr;
  const absl::StatusOr<Node*> node =
      graph_->Add(op, std::move(inputs), std::move(attrs), absl::StrCat("n", num_nodes_), nullptr,
                  std::move(regions), num_outputs);
  if (!node.ok()) return nullptr;
  bool fits = MacsOf(**node) <= kMaxMacs;
  for (int i = 0; i < (*node)->num_outputs(); ++i) {
    const int64_t limit = integers() ? kMaxIntegers : kMaxElements;
    fits = fits && (*node)->output(i)->type().num_elements() <= limit;
  }
  std::vector<Tensor> results;
  if (fits) {
    absl::StatusOr<std::vector<Tensor>> outputs = EvaluateNode(**node, data);
    fits = outputs.ok() && std::ranges::all_of(*outputs, [this](const Tensor& t) { return IsJudgeable(t); });
    if (fits) results = *std::move(outputs);
  }
  if (!fits) {
    graph_->Erase(*node);
    return nullptr;
  }
  for (int i = 0; i < (*node)->num_outputs(); ++i) {
    (*node)->output(i)->set_name(absl::StrCat("v", num_nodes_, i == 0 ? "" : absl::StrCat("_", i)));
    Keep((*node)->output(i), std::move(results[static_cast<size_t>(i)]));
  }
  num_nodes_ += num_added;
  return (*node)->output();
}

void GraphMaker::StateZero(Value* value) { graph_->AddOutput(ZeroFactName(num_facts_++), value); }

void GraphMaker::StateSame(Value* a, Value* b) {
  const auto [first, second] = SameFactNames(num_facts_++);
  graph_->AddOutput(first, a);
  graph_->AddOutput(second, b);
}

void GraphMaker::AddOutputs() {
  std::vector<Value*> sinks, others;
  for (Value* value : values_) {
    const bool computed = value->producer() != nullptr && value->producer()->op() != Op::kConstant;
    if (!computed || graph_->IsOutput(value)) continue;
    (value->users().empty() ? sinks : others).push_back(value);
  }
  constexpr size_t kMaxSinks = 8;
  while (sinks.size() > kMaxSinks) sinks.erase(sinks.begin() + Pick(std::ssize(sinks)));
  for (Value* value : others) {
    if (OneIn(12)) sinks.push_back(value);
  }
  if (!sinks.empty() && OneIn(15)) sinks.push_back(sinks.front());
  if (!graph_->inputs().empty() && OneIn(30)) sinks.push_back(graph_->inputs()[0].get());
  for (Value* value : sinks) graph_->AddOutput(absl::StrCat("y", graph_->outputs().size()), value);
}

RandomCase GraphMaker::Finish() {
  AddOutputs();
  RandomCase random;
  for (const auto& input : graph_->inputs()) random.inputs.push_back(data_.at(input.get()));
  random.graph = std::move(graph_);
  // Graphs of real users also contain nodes that no output needs.
  if (!OneIn(10)) RemoveUnused(random);
  return random;
}

}  // namespace attune::graph_fuzz
