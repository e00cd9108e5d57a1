#include "graph/ops/checks.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "graph/infer.h"

namespace attune::infer {

std::string ToString(const Dims& dims) {
  const std::string text = ToString(TensorType(DType::kF32, dims));
  return text.substr(text.find('['));
}

absl::Status CheckFloat(const TensorType& type, std::string_view what) {
  if (IsFloat(type.dtype)) return absl::OkStatus();
  return InvalidInput(what, " is ", ToString(type), ", must be of floats");
}

absl::Status CheckNumber(const TensorType& type, std::string_view what) {
  if (IsFloat(type.dtype) || IsInt(type.dtype)) return absl::OkStatus();
  return InvalidInput(what, " is ", ToString(type), ", must be of floats or integers");
}

absl::Status CheckDType(const TensorType& type, std::string_view what, std::initializer_list<DType> allowed) {
  if (std::ranges::find(allowed, type.dtype) != allowed.end()) return absl::OkStatus();
  const std::string names = absl::StrJoin(
      allowed, " or ", [](std::string* out, DType dtype) { absl::StrAppend(out, DTypeName(dtype)); });
  return InvalidInput(what, " is ", ToString(type), ", must be ", names);
}

absl::Status CheckSameDType(const TensorType& type, std::string_view what, const TensorType& as,
                            std::string_view as_what) {
  if (type.dtype == as.dtype) return absl::OkStatus();
  return InvalidInput(what, " is ", ToString(type), ", must have the dtype of ", as_what, ", ", ToString(as));
}

absl::Status CheckRank(const TensorType& type, std::string_view what, int rank) {
  if (type.rank() == rank) return absl::OkStatus();
  return InvalidInput(what, " is ", ToString(type), ", must have ", rank, " dimensions");
}

absl::Status CheckMinRank(const TensorType& type, std::string_view what, int rank) {
  if (type.rank() >= rank) return absl::OkStatus();
  return InvalidInput(what, " is ", ToString(type), ", must have at least ", rank, " dimensions");
}

absl::Status CheckDims(const TensorType& type, std::string_view what, const Dims& expected) {
  if (type.dims == expected) return absl::OkStatus();
  return InvalidInput(what, " is ", ToString(type), ", must have the shape ", ToString(expected));
}

absl::StatusOr<int> AxisAttribute(const Node& node, std::string_view name, int rank) {
  const int64_t axis = node.attrs().Int(name);
  if (axis >= 0 && axis < rank) return static_cast<int>(axis);
  return InvalidInput(name, " ", axis, " is not an axis of a tensor of ", rank, " dimensions");
}

absl::StatusOr<int> AxisAttribute(const Node& node, int rank) { return AxisAttribute(node, "axis", rank); }

absl::StatusOr<int64_t> ConstantDim(const TensorType& type, int axis, std::string_view doing) {
  const Dim& dim = type.dims[static_cast<size_t>(axis)];
  if (dim.is_constant()) return dim.size;
  return NotSupported("cannot ", doing, " the dynamic dimension ", axis, " of ", ToString(type));
}

absl::Status CheckConstantFrom(const TensorType& type, int axis, std::string_view doing) {
  for (int i = axis; i < type.rank(); ++i) RETURN_IF_ERROR(ConstantDim(type, i, doing).status());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> IntAttribute(const Node& node, std::string_view name, int64_t absent, int64_t low,
                                     int64_t high) {
  const int64_t value = node.attrs().Int(name, absent);
  if (value >= low && value <= high) return value;
  return InvalidInput(name, " is ", value, ", must be in [", low, ", ", high, "]");
}

absl::StatusOr<bool> BoolAttribute(const Node& node, std::string_view name, bool absent) {
  ASSIGN_OR_RETURN(const int64_t value, IntAttribute(node, name, absent ? 1 : 0, 0, 1));
  return value != 0;
}

absl::StatusOr<DType> SumType(const Node& node, DType operands) {
  if (!node.attrs().Has("to")) return operands;
  const DType to = node.attrs().Type("to");
  const bool is_half = operands == DType::kF16 || operands == DType::kBF16;
  if (to == operands || (is_half && to == DType::kF32)) return to;
  return InvalidInput("to is ", DTypeName(to), ", which no sum of products of ", DTypeName(operands),
                      " is in");
}

absl::StatusOr<Ints> IntsAttribute(const Node& node, std::string_view name, size_t count, int64_t absent,
                                   int64_t low, int64_t high) {
  if (!node.attrs().Has(name)) return Ints(count, absent);
  return RequiredInts(node, name, count, low, high);
}

absl::StatusOr<Ints> RequiredInts(const Node& node, std::string_view name, size_t count, int64_t low,
                                  int64_t high) {
  const Ints& values = node.attrs().IntList(name);
  if (values.size() != count) return InvalidInput(name, " has ", values.size(), " values, needs ", count);
  for (int64_t value : values) {
    if (value < low || value > high) {
      return InvalidInput(name, " has the value ", value, ", must be in [", low, ", ", high, "]");
    }
  }
  return values;
}

absl::StatusOr<std::string> ChoiceAttribute(const Node& node, std::string_view name,
                                            std::initializer_list<std::string_view> allowed) {
  std::string value = node.attrs().String(name, *allowed.begin());
  if (std::ranges::find(allowed, value) != allowed.end()) return value;
  return InvalidInput(name, " is '", value, "', must be ", absl::StrJoin(allowed, ", "));
}

Dim DataDependentDim(const Node& node, int axis, int64_t bound) {
  const Dims& known = node.output()->type().dims;
  const bool has_symbol = axis < std::ssize(known) && !known[static_cast<size_t>(axis)].is_constant();
  return Dim(has_symbol ? known[static_cast<size_t>(axis)].symbol : std::string(kNewSymbol), bound);
}

absl::StatusOr<int64_t> Product(std::initializer_list<int64_t> factors, std::string_view what) {
  if (const auto product = CheckedProduct(std::span(factors.begin(), factors.size()))) return *product;
  return InvalidInput(what, ", ", absl::StrJoin(factors, " x "), ", overflows");
}

}  // namespace attune::infer
