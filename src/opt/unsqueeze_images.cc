// Problem: strategies for convolutions and pools tile images of rows and columns; windows along one axis,
// as over sound or time, would have none. Idea: their operand is an image of a single row. One reshape
// makes it such an image and one makes the result [N,C,L] again. Both cost nothing, and those of neighbours
// cancel.
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

bool IsOverOneAxis(const Node& node) {
  switch (node.op()) {
    case Op::kConv:
    case Op::kConvInteger:
    case Op::kConvTranspose:
    case Op::kMaxPool:
    case Op::kAvgPool:
      return node.input(0)->type().rank() == 3 && node.input(0)->type().is_static() &&
             node.num_outputs() == 1 && node.output()->type().is_static();
    default:
      return false;
  }
}

// `shape` with an axis of 1 before the last.
Shape WithRow(const Shape& shape) {
  Shape longer = shape;
  longer.insert(longer.end() - 1, 1);
  return longer;
}

// `value` as an image of one row; a constant stays a constant.
Value* Unsqueezed(Graph& graph, Node* before, Value* value) {
  const Shape shape = WithRow(value->type().shape());
  if (const Tensor* constant = value->constant())
    return graph.AddConstant(constant->Reshaped(shape), before->name(), before);
  return AddBefore(graph, before, Op::kReshape, {value}, {{"shape", shape}});
}

// Makes a list for one axis one for rows and columns: `row` is its value for the row.
void AddRow(Attributes& attributes, const char* name, int64_t row) {
  if (!attributes.Has(name)) return;
  Ints list = attributes.IntList(name);
  // Begins and then ends.
  if (list.size() == 2) list.insert(list.begin() + 1, row);
  list.insert(list.begin(), row);
  attributes.Set(name, std::move(list));
}

bool Unsqueeze(Graph& graph, Node* node) {
  if (!IsOverOneAxis(*node)) return false;
  Attributes attributes = node->attrs();
  for (const char* name : {"kernel", "strides", "dilations"}) AddRow(attributes, name, 1);
  for (const char* name : {"pads", "output_padding"}) AddRow(attributes, name, 0);
  std::vector<Value*> inputs = node->inputs();
  inputs[0] = Unsqueezed(graph, node, inputs[0]);
  const bool has_weights = node->op() != Op::kMaxPool && node->op() != Op::kAvgPool;
  if (has_weights) inputs[1] = Unsqueezed(graph, node, inputs[1]);
  Value* image = AddBefore(graph, node, node->op(), std::move(inputs), std::move(attributes));
  ReplaceNode(graph, node,
              AddBefore(graph, node, Op::kReshape, {image}, {{"shape", node->output()->type().shape()}}));
  return true;
}

}  // namespace

absl::StatusOr<bool> UnsqueezeImagesPass(Graph& graph, const PassContext&) {
  return ForEachNode(graph, Unsqueeze);
}

}  // namespace attune
