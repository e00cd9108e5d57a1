// Lists of tensors. A TensorList is a value, and each change makes a new list; a TensorArray is a resource
// with a flow that represents its state. During import, both are lists of values of the graph.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include "import/tensorflow/importer.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

constexpr int64_t kMaxItems = 1 << 20;

// Members throw ImportFailure.
class ListContext {
 public:
  // `shape_input`: the index of the input with the items' shape; -1 if there is none.
  explicit ListContext(OpContext& c, int shape_input = -1) : c_(c), shape_input_(shape_input) {}

  const TensorItems& Items(int input) const;
  // Item i; zeros if it was never written.
  Value* Item(const TensorItems& items, size_t i);
  // Stacks all items along a new first axis, and the inverse.
  Value* Stack(const TensorItems& items);
  TensorItems Unstack(Value* tensor);
  // Spends budget for lists, which may add no nodes.
  void Spend(int64_t work) { c_.importer().budget().SpendNodes(work); }

 private:
  std::optional<Shape> ItemShape();
  DType ItemType() const;

  OpContext& c_;
  int shape_input_;
};

Binding ListOf(TensorItems items) {
  Binding binding;
  binding.items = std::make_shared<const TensorItems>(std::move(items));
  return binding;
}

// Copies a list, and spends budget for its items.
TensorItems CopyOf(ListContext& l, int input) {
  const TensorItems& items = l.Items(input);
  l.Spend(1 + static_cast<int64_t>(items.size()) / 16);
  return items;
}

size_t ItemIndex(OpContext& c, int input, size_t size) {
  const int64_t index = c.KnownInt(c.In(input), "index");
  if (index < 0 || index >= static_cast<int64_t>(size)) {
    Invalid("its index is ", index, ", the list has ", size, " items");
  }
  return static_cast<size_t>(index);
}

int64_t CheckedCount(ListContext& l, int64_t count) {
  if (count < 0 || count > kMaxItems) Invalid("a list of ", count, " items");
  l.Spend(1 + count / 16);
  return count;
}

const TensorItems& ListContext::Items(int input) const {
  const Binding& binding = c_.BindingOf(input);
  if (binding.items == nullptr) Unsupported("its input ", input, " is not a list of tensors that is known");
  return *binding.items;
}

Value* ListContext::Item(const TensorItems& items, size_t i) {
  if (items[i] != nullptr) return items[i];
  for (const Value* other : items) {
    if (other != nullptr) return c_.Filled(other->type().dtype, 0, c_.ShapeOf(other));
  }
  const std::optional<Shape> shape = ItemShape();
  if (!shape) Unsupported("an item that was never written, whose shape is not known");
  return c_.Filled(ItemType(), 0, *shape);
}

DType ListContext::ItemType() const {
  return c_.TypeAttribute(c_.Find("element_dtype") != nullptr ? "element_dtype" : "dtype");
}

// The shape of items according to the node: an attribute for TensorArrays, otherwise the input named
// element_shape.
std::optional<Shape> ListContext::ItemShape() {
  if (c_.Find("element_shape") != nullptr) return c_.ShapeAttribute("element_shape");
  if (shape_input_ < 0 || shape_input_ >= c_.num_inputs()) return std::nullopt;
  const std::optional<Tensor> known = c_.KnownConstant(c_.In(shape_input_));
  if (!known) return std::nullopt;
  const Shape shape = known->ToInts();
  // A scalar -1 means an unknown shape.
  const bool whole = known->rank() == 1 && std::ranges::all_of(shape, [](int64_t size) { return size >= 0; });
  return whole ? std::optional<Shape>(shape) : std::nullopt;
}

Value* ListContext::Stack(const TensorItems& items) {
  if (items.empty()) {
    std::optional<Shape> shape = ItemShape();
    if (!shape) Unsupported("a list without items, of which the shape is not known");
    shape->insert(shape->begin(), 0);
    return c_.Filled(ItemType(), 0, *shape);
  }
  std::vector<Value*> rows;
  for (size_t i = 0; i < items.size(); ++i) rows.push_back(c_.Unsqueeze(Item(items, i), {0}));
  return c_.Concat(rows, 0);
}

TensorItems ListContext::Unstack(Value* tensor) {
  if (tensor->type().rank() == 0) Invalid("a list of the rows of a single number");
  TensorItems items;
  const int64_t count = CheckedCount(*this, c_.DimOf(tensor, 0));
  for (int64_t i = 0; i < count; ++i) items.push_back(c_.Squeeze(c_.SliceAxis(tensor, 0, i, 1), {0}));
  return items;
}

}  // namespace

Outputs TensorListReserve(OpContext& c) {
  ListContext l(c);
  const int64_t count = CheckedCount(l, c.KnownInt(c.In(1), "number of items"));
  return {ListOf(TensorItems(static_cast<size_t>(count), nullptr))};
}

Outputs EmptyTensorList(OpContext&) { return {ListOf({})}; }

Outputs TensorListFromTensor(OpContext& c) { return {ListOf(ListContext(c).Unstack(c.In(0)))}; }

// The handle is only used together with the flow.
Outputs TensorArray(OpContext& c) {
  ListContext l(c);
  const int64_t count = CheckedCount(l, c.KnownInt(c.In(0), "size"));
  const Binding list = ListOf(TensorItems(static_cast<size_t>(count), nullptr));
  return {list, list};
}

Outputs CloseTensorArray(OpContext&) { return {}; }

Outputs ListGet(OpContext& c, int list, int index, int shape) {
  ListContext l(c, shape);
  const TensorItems& items = l.Items(list);
  return {l.Item(items, ItemIndex(c, index, items.size()))};
}

// A write beyond the end of a TensorArray makes it larger.
Outputs ListSet(OpContext& c, int list, int index, int item) {
  ListContext l(c);
  TensorItems items = CopyOf(l, list);
  const int64_t at = c.KnownInt(c.In(index), "index");
  if (at >= static_cast<int64_t>(items.size()))
    items.resize(static_cast<size_t>(CheckedCount(l, at + 1)), nullptr);
  items[ItemIndex(c, index, items.size())] = c.In(item);
  return {ListOf(std::move(items))};
}

Outputs ListStack(OpContext& c, int list, int shape) {
  ListContext l(c, shape);
  return {l.Stack(l.Items(list))};
}

Outputs ListGather(OpContext& c, int list, int indices, int shape) {
  ListContext l(c, shape);
  const TensorItems& items = l.Items(list);
  TensorItems gathered;
  for (int64_t index : c.KnownInts(c.In(indices), "indices")) {
    if (index < 0 || index >= static_cast<int64_t>(items.size())) {
      Invalid("an index is ", index, ", the list has ", items.size(), " items");
    }
    gathered.push_back(l.Item(items, static_cast<size_t>(index)));
  }
  return {l.Stack(gathered)};
}

Outputs ListScatter(OpContext& c, int list, int indices, int tensor) {
  ListContext l(c);
  TensorItems items = CopyOf(l, list);
  const TensorItems rows = l.Unstack(c.In(tensor));
  const Ints at = c.KnownInts(c.In(indices), "indices");
  if (at.size() != rows.size()) Invalid("it scatters ", rows.size(), " rows to ", at.size(), " places");
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0 || at[i] >= kMaxItems) Invalid("an index is ", at[i]);
    const auto place = static_cast<size_t>(at[i]);
    if (place >= items.size()) items.resize(static_cast<size_t>(CheckedCount(l, at[i] + 1)), nullptr);
    items[place] = rows[i];
  }
  return {ListOf(std::move(items))};
}

Outputs ListLength(OpContext& c, int list) {
  return {c.Scalar(DType::kI32, ListContext(c).Items(list).size())};
}

// Joins items of any length along their first axis; also returns these lengths.
Outputs ListConcat(OpContext& c, int list, int shape) {
  ListContext l(c, shape);
  const TensorItems& items = l.Items(list);
  std::vector<Value*> parts;
  Ints lengths;
  for (size_t i = 0; i < items.size(); ++i) {
    Value* item = l.Item(items, i);
    if (item->type().rank() == 0) Invalid("it joins single numbers");
    lengths.push_back(c.DimOf(item, 0));
    parts.push_back(item);
  }
  if (parts.empty()) Unsupported("a list without items");
  return {c.Concat(parts, 0), c.IntVector(lengths)};
}

Outputs TensorListPushBack(OpContext& c) {
  ListContext l(c);
  TensorItems items = CopyOf(l, 0);
  items.push_back(c.In(1));
  return {ListOf(std::move(items))};
}

Outputs TensorListPopBack(OpContext& c) {
  ListContext l(c, 1);
  TensorItems items = CopyOf(l, 0);
  if (items.empty()) Invalid("it takes an item from an empty list");
  Value* last = l.Item(items, items.size() - 1);
  items.pop_back();
  return {ListOf(std::move(items)), last};
}

Outputs TensorListResize(OpContext& c) {
  ListContext l(c);
  TensorItems items = CopyOf(l, 0);
  items.resize(static_cast<size_t>(CheckedCount(l, c.KnownInt(c.In(1), "size"))), nullptr);
  return {ListOf(std::move(items))};
}

Outputs TensorListElementShape(OpContext& c) {
  const DType dtype = c.TypeAttribute("shape_type", DType::kI32);
  for (const Value* item : ListContext(c).Items(0)) {
    if (item != nullptr) return {c.NewConstant(Tensor::FromInts(c.ShapeOf(item), dtype))};
  }
  return {c.Scalar(dtype, -1)};
}

}  // namespace attune::tensorflow
