// Gathers, which are formulas, and scatters, which copy and then update in the order of the indices.
// Negative indices count from the end; indices out of range are clamped.
#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

Indices Slice(const Indices& indices, size_t begin, size_t end) {
  return Indices(indices.begin() + static_cast<ptrdiff_t>(begin),
                 indices.begin() + static_cast<ptrdiff_t>(end));
}

void Append(Indices& to, const Indices& more) { to.insert(to.end(), more.begin(), more.end()); }

// The new value of an element that is updated. Both have the tensor's type.
Expr Updated(const std::string& reduction, const Expr& old, const Expr& update) {
  if (reduction == "none") return update;
  const DType dtype = ComputeType(old->dtype);
  const Expr a = CastTo(dtype, old), b = CastTo(dtype, update);
  const MathOp op = reduction == "add"   ? MathOp::kAdd
                    : reduction == "mul" ? MathOp::kMul
                    : reduction == "max" ? MathOp::kMax
                                         : MathOp::kMin;
  return CastTo(old->dtype, MakeOp(op, {a, b}));
}

// output = x; then for each of `updates`, output[target] = update. If data decides how many there are, the
// loops end there: what the updates and their indices have left of their bound is anything.
absl::Status DefineScatter(Definition& definition, const Node& node,
                           const std::function<Indices(const Indices& update)>& target) {
  const Value *x = node.input(0), *updates = node.input(2), *y = node.output();
  definition.DefinePart(node, y, {.suffix = "copy", .begins = {}, .sizes = {}},
                        [&](const Indices& i) { return definition.Read(x, i); });
  const std::vector<Dim>& dims = updates->type().dims;
  std::vector<std::string> names;
  Indices extents;
  for (size_t d = 0; d < dims.size(); ++d) {
    names.push_back(absl::StrCat(definition.StageName(node), ".d", d));
    extents.push_back(definition.SizeOf(dims[d]));
  }
  const std::string reduction = node.attrs().String("reduction", "none");
  const Buffer out = definition.BufferOf(y);
  const Stmt body = MakeLoopsUpTo(names, extents, [&](const Indices& i) {
    const Indices at = Definition::Physical(y->type(), target(i));
    return MakeStore(out, at, Updated(reduction, Load(out, at), definition.Read(updates, i)));
  });
  // Nothing is updated in a tensor without elements.
  definition.DefineImperative(node, "", {y}, y->type().num_elements() == 0 ? MakeSequence({}) : body);
  return absl::OkStatus();
}

}  // namespace

absl::Status DefineGather(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *indices = node.input(1);
  const auto axis = static_cast<size_t>(node.attrs().Int("axis"));
  const size_t rank = indices->type().dims.size();
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr index = definition.Read(indices, Slice(i, axis, axis + rank));
    Indices at = Slice(i, 0, axis);
    at.push_back(WrapIndex(index, x->type().dims[axis].size));
    Append(at, Slice(i, axis + rank, i.size()));
    return definition.Read(x, at);
  });
  return absl::OkStatus();
}

absl::Status DefineGatherElements(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *indices = node.input(1);
  const int64_t axis = node.attrs().Int("axis");
  const int64_t size = x->type().dims[static_cast<size_t>(axis)].size;
  definition.Define(node, node.output(), [&](const Indices& i) {
    return definition.Read(x, Replaced(i, axis, WrapIndex(definition.Read(indices, i), size)));
  });
  return absl::OkStatus();
}

absl::Status DefineGatherNd(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *indices = node.input(1);
  const auto batch = static_cast<size_t>(node.attrs().Int("batch_dims", 0));
  const size_t rank = indices->type().dims.size() - 1;
  const int64_t width = indices->type().dims.back().size;
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Indices tuple = Slice(i, 0, rank);
    Indices at = Slice(i, 0, batch);
    for (int64_t k = 0; k < width; ++k) {
      const Expr index = definition.Read(indices, Inserted(tuple, static_cast<int64_t>(rank), Expr(k)));
      at.push_back(WrapIndex(index, x->type().dims[batch + static_cast<size_t>(k)].size));
    }
    Append(at, Slice(i, rank, i.size()));
    return definition.Read(x, at);
  });
  return absl::OkStatus();
}

absl::Status DefineScatterElements(Definition& definition, const Node& node) {
  const int64_t axis = node.attrs().Int("axis");
  const int64_t size = node.input(0)->type().dims[static_cast<size_t>(axis)].size;
  return DefineScatter(definition, node, [&, axis, size](const Indices& update) {
    return Replaced(update, axis, WrapIndex(definition.Read(node.input(1), update), size));
  });
}

absl::Status DefineScatterNd(Definition& definition, const Node& node) {
  const Value *x = node.input(0), *indices = node.input(1);
  const size_t rank = indices->type().dims.size() - 1;
  const int64_t width = indices->type().dims.back().size;
  return DefineScatter(definition, node, [&, rank, width](const Indices& update) {
    const Indices tuple = Slice(update, 0, rank);
    Indices at;
    for (int64_t k = 0; k < width; ++k) {
      const Expr index = definition.Read(indices, Inserted(tuple, static_cast<int64_t>(rank), Expr(k)));
      at.push_back(WrapIndex(index, x->type().dims[static_cast<size_t>(k)].size));
    }
    Append(at, Slice(update, rank, update.size()));
    return at;
  });
}

}  // namespace attune
