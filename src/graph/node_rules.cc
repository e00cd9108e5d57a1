#include "graph/node_rules.h"

#include "base/status.h"
#include "graph/infer.h"

namespace attune {
namespace {

absl::Status CheckInputs(const Node& node, const OpInfo& info) {
  const int count = node.num_inputs();
  const bool variadic = info.max_inputs < 0;
  if (count < info.min_inputs) return InvalidInput("has ", count, " inputs, needs ", info.min_inputs);
  if (!variadic && count > info.max_inputs) {
    return InvalidInput("has ", count, " inputs, takes at most ", info.max_inputs);
  }
  for (int i = 0; i < count; ++i) {
    if (node.input(i) == nullptr && (variadic || i < info.min_inputs)) {
      return InvalidInput("input ", i, " is required but absent");
    }
  }
  if (count > 0 && node.inputs().back() == nullptr) return InvalidInput("its last input is absent: drop it");
  return absl::OkStatus();
}

int NumRegions(Op op) {
  switch (op) {
    case Op::kIf:
      return 2;
    case Op::kLoop:
    case Op::kFused:
      return 1;
    default:
      return 0;
  }
}

absl::Status CheckAttributes(const Node& node, const OpInfo& info) {
  for (const auto& [name, value] : node.attrs()) {
    const AttributeInfo* attribute = info.FindAttribute(name);
    if (attribute == nullptr) return InvalidInput("has no attribute '", name, "'");
    const auto kind = static_cast<AttributeKind>(value.index());
    if (kind != attribute->kind) {
      return InvalidInput("attribute '", name, "' is of kind ", AttributeKindName(kind), ", must be ",
                          AttributeKindName(attribute->kind));
    }
    if (kind == AttributeKind::kTensor && std::get<Tensor>(value).data() == nullptr) {
      return InvalidInput("attribute '", name, "' is a tensor without data");
    }
  }
  for (const AttributeInfo& attribute : info.attributes) {
    if (attribute.required && !node.attrs().Has(attribute.name)) {
      return InvalidInput("attribute '", attribute.name, "' is missing");
    }
  }
  return absl::OkStatus();
}

bool PlanningChoosesLayout(Op op) { return !IsElementwise(op) && op != Op::kLayoutTransform; }

}  // namespace

bool IsPointwise(const Node& node) {
  if (IsElementwise(node.op())) return true;
  return (node.op() == Op::kQuantize || node.op() == Op::kDequantize || node.op() == Op::kRequantize) &&
         node.attrs().Int("block_size", 0) == 0;
}

int NumMovedInputs(const Node& node) {
  // The zero point stands for 0; there may be no integer for any other padding value.
  if (node.op() == Op::kPad && node.attrs().String("mode", "constant") == "constant" &&
      node.attrs().Number("value", 0).ToDouble() != 0) {
    return 0;
  }
  if (node.op() == Op::kMaxPool && node.num_outputs() != 1) return 0;
  const int moves = GetOpInfo(node.op()).moves;
  return moves < 0 ? node.num_inputs() : moves;
}

bool HasZeroPoints(const Node& node) {
  return IsIntegerProduct(node.op()) && (node.input(2) != nullptr || node.input(3) != nullptr);
}

absl::Status CheckNode(const Node& node) {
  const OpInfo& info = GetOpInfo(node.op());
  RETURN_IF_ERROR(CheckInputs(node, info));
  if (info.num_outputs > 0 && node.num_outputs() != info.num_outputs) {
    return InvalidInput("has ", node.num_outputs(), " outputs, makes ", info.num_outputs);
  }
  if (const int regions = NumRegions(node.op()); node.num_regions() != regions) {
    return InvalidInput("has ", node.num_regions(), " regions, needs ", regions);
  }
  return CheckAttributes(node, info);
}

absl::Status CheckOutputTypes(const Node& node) {
  ASSIGN_OR_RETURN(const std::vector<TensorType> inferred, InferTypes(node));
  if (std::ssize(inferred) != node.num_outputs()) {
    return InvalidInput("has ", node.num_outputs(), " outputs, makes ", inferred.size());
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    const TensorType& type = node.output(i)->type();
    RETURN_IF_ERROR(CheckType(type));
    TensorType expected = inferred[static_cast<size_t>(i)];
    if (PlanningChoosesLayout(node.op())) expected.layout = type.layout;
    if (type != expected) {
      return InvalidInput("output ", i, " has the type ", ToString(type), ", inference gives ",
                          ToString(expected));
    }
  }
  return absl::OkStatus();
}

}  // namespace attune
