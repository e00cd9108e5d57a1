#include "import/onnx/inputs.h"

#include <map>
#include <optional>
#include <unordered_set>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/status.h"
#include "import/common/input_shapes.h"
#include "import/onnx/tensor_proto.h"

namespace attune::onnx {
namespace {

using importing::GivenShape;
using importing::OpenInputs;
using importing::ShapeText;

std::string DescribeType(const TypeProto& type) {
  switch (type.value_case()) {
    case TypeProto::kTensorType: {
      const std::optional<DType> dtype = DTypeFromOnnx(type.tensor_type().elem_type());
      return dtype ? std::string(DTypeName(*dtype)) : OnnxTypeName(type.tensor_type().elem_type());
    }
    case TypeProto::kSequenceType:
      return absl::StrCat("sequence(", DescribeType(type.sequence_type().elem_type()), ")");
    case TypeProto::kOptionalType:
      return absl::StrCat("optional(", DescribeType(type.optional_type().elem_type()), ")");
    case TypeProto::kMapType:
      return "map";
    case TypeProto::kSparseTensorType:
      return "sparse tensor";
    case TypeProto::kOpaqueType:
      return "opaque";
    case TypeProto::VALUE_NOT_SET:
      return "unknown";
  }
}

bool IsOpen(const TensorShapeProto::Dimension& dim) { return !dim.has_dim_value() || dim.dim_value() < 0; }

// A given shape for an input must agree with the model's declaration.
absl::Status CheckGiven(const ValueInfoProto& info, const Shape& given) {
  if (!CheckedProduct(given))
    return InvalidInput("the shape given for input '", info.name(), "' is negative or overflows");
  const auto& tensor = info.type().tensor_type();
  if (!tensor.has_shape()) return absl::OkStatus();
  bool fits = tensor.shape().dim_size() == static_cast<int>(given.size());
  for (int i = 0; fits && i < tensor.shape().dim_size(); ++i) {
    const auto& dim = tensor.shape().dim(i);
    fits = IsOpen(dim) || dim.dim_value() == given[i];
  }
  if (fits) return absl::OkStatus();
  return InvalidInput("input '", info.name(), "' is ", ShapeText(DescribeValue(info)), " in the model, but [",
                      absl::StrJoin(given, ","), "] was given");
}

using Symbols = std::map<std::string, int64_t>;

void LearnSymbols(const ValueInfoProto& info, const Shape& given, Symbols& symbols) {
  const auto& dims = info.type().tensor_type().shape().dim();
  for (int i = 0; i < dims.size(); ++i) {
    if (!dims[i].dim_param().empty()) symbols.emplace(dims[i].dim_param(), given[i]);
  }
}

// The declared shape with symbols replaced; nullopt if a dimension is still open.
std::optional<Shape> Resolve(const ValueInfoProto& info, const Symbols& symbols) {
  const auto& tensor = info.type().tensor_type();
  if (!tensor.has_shape()) return std::nullopt;
  Shape shape;
  for (const auto& dim : tensor.shape().dim()) {
    const auto symbol = symbols.find(dim.dim_param());
    if (!IsOpen(dim)) {
      shape.push_back(dim.dim_value());
    } else if (symbol != symbols.end()) {
      shape.push_back(symbol->second);
    } else {
      return std::nullopt;
    }
  }
  return shape;
}

}  // namespace

std::vector<const ValueInfoProto*> RealInputs(const GraphProto& graph) {
  std::unordered_set<std::string> initialized;
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) initialized.insert(tensor.values().name());
  std::vector<const ValueInfoProto*> inputs;
  for (const auto& input : graph.input()) {
    if (!initialized.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

DeclaredTensor DescribeValue(const ValueInfoProto& info) {
  DeclaredTensor out;
  out.name = info.name();
  out.dtype = DescribeType(info.type());
  const auto& tensor = info.type().tensor_type();
  out.ranked = tensor.has_shape();
  for (const auto& dim : tensor.shape().dim()) {
    if (!IsOpen(dim)) {
      out.dims.push_back(absl::StrCat(dim.dim_value()));
    } else {
      out.dims.push_back(dim.dim_param().empty() ? "?" : dim.dim_param());
    }
  }
  return out;
}

absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<const ValueInfoProto*>& inputs,
                                              const OnnxImportOptions& options) {
  Symbols symbols;
  for (const ValueInfoProto* input : inputs) {
    const std::optional<Shape> given = GivenShape(input->name(), options);
    if (!given) continue;
    RETURN_IF_ERROR(CheckGiven(*input, *given));
    LearnSymbols(*input, *given, symbols);
  }
  std::vector<Shape> shapes;
  OpenInputs open("model", /*channels_last=*/false);
  for (const ValueInfoProto* input : inputs) {
    std::optional<Shape> shape = GivenShape(input->name(), options);
    if (!shape) shape = Resolve(*input, symbols);
    if (!shape) {
      open.Add(DescribeValue(*input));
    }
    shapes.push_back(shape.value_or(Shape()));
  }
  RETURN_IF_ERROR(open.status());
  return shapes;
}

}  // namespace attune::onnx
