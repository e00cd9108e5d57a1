#include "import/onnx/inputs.h"

#include <optional>
#include <string>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "import/onnx/tensor_proto.h"

namespace attune::onnx {
namespace {

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

}  // namespace attune::onnx
