#include "api/tensors.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "base/status.h"
#include "graph/index_bounds.h"
#include "import/onnx/import.h"

namespace attune {
namespace {

// Sets every open dimension with that symbol. Two "?" never mean the same dimension.
absl::Status BindSymbol(const std::string& symbol, int64_t size,
                        std::vector<InputDeclaration>& declarations) {
  if (symbol == "?") return absl::OkStatus();
  for (InputDeclaration& declaration : declarations) {
    for (size_t d = 0; d < declaration.dims.size(); ++d) {
      if (declaration.dims[d] != symbol) continue;
      int64_t& bound = declaration.shape[d];
      if (bound >= 0 && bound != size) {
        return InvalidInput("dimension ", symbol, " of input \"", declaration.name, "\" is both ", bound,
                            " and ", size);
      }
      bound = size;
    }
  }
  return absl::OkStatus();
}

absl::Status BindShape(const Shape& shape, InputDeclaration& input, std::vector<InputDeclaration>& all) {
  if (!input.ranked) {
    input.ranked = true;
    input.shape = shape;
    input.dims.assign(shape.size(), "?");
    return absl::OkStatus();
  }
  const auto mismatch = [&] {
    return InvalidInput("input \"", input.name, "\" is ", ToString(input), ", the shape [",
                        absl::StrJoin(shape, ","), "] does not fit it");
  };
  if (shape.size() != input.shape.size()) return mismatch();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) continue;
    if (input.shape[d] >= 0 && input.shape[d] != shape[d]) return mismatch();
    input.shape[d] = shape[d];
    RETURN_IF_ERROR(BindSymbol(input.dims[d], shape[d], all));
  }
  return absl::OkStatus();
}

// The least of `limit` and the sizes of the axes that `value` indexes, through operators that keep it an
// index.
int64_t SmallestIndexed(const Value* value, int64_t limit, std::set<const Value*>& seen) {
  std::vector<const Value*> pending = {value};
  while (!pending.empty()) {
    const Value* v = pending.back();
    pending.pop_back();
    if (!seen.insert(v).second) continue;
    for (const Node* user : v->users()) {
      const std::optional<IndexOperand> operand = IndexOperandOf(*user);
      if (operand.has_value() && user->input(operand->input) == v)
        limit = std::min(limit, std::ranges::min(operand->bounds.sizes));
      const OpCategory category = GetOpInfo(user->op()).category;
      const bool keeps =
          IsElementwise(user->op()) || category == OpCategory::kMovement || user->op() == Op::kCheckIndex;
      if (keeps && IsInt(user->output()->type().dtype)) pending.push_back(user->output());
    }
  }
  return std::max<int64_t>(limit, 1);
}

}  // namespace

std::string ToString(const InputDeclaration& declaration) {
  std::vector<std::string> dims = declaration.dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (declaration.shape[d] >= 0) dims[d] = absl::StrCat(declaration.shape[d]);
  }
  return absl::StrCat(declaration.dtype_name, "[", declaration.ranked ? absl::StrJoin(dims, ",") : "?", "]");
}

std::string DescribeType(DType dtype, const Shape& shape) {
  return absl::StrCat(DTypeName(dtype), "[", absl::StrJoin(shape, ","), "]");
}

InputDeclaration DeclarationOf(const std::string& name, const TensorType& type) {
  InputDeclaration declaration;
  declaration.name = name;
  declaration.dtype = type.dtype;
  declaration.dtype_name = DTypeName(type.dtype);
  for (const Dim& dim : type.dims) {
    declaration.shape.push_back(dim.is_constant() ? dim.size : -1);
    declaration.dims.push_back(dim.is_constant() ? absl::StrCat(dim.size) : dim.symbol);
  }
  return declaration;
}

absl::Status UnknownInput(std::string_view name, const std::vector<InputDeclaration>& declarations) {
  std::vector<std::string> known;
  for (const InputDeclaration& declaration : declarations) known.push_back(declaration.name);
  return InvalidInput("there is no input \"", name, "\"; the inputs are ", absl::StrJoin(known, ", "));
}

absl::Status BindShapes(const std::map<std::string, Shape>& shapes,
                        std::vector<InputDeclaration>& declarations) {
  for (const auto& [name, shape] : shapes) {
    const auto input = std::find_if(declarations.begin(), declarations.end(),
                                    [&](const InputDeclaration& d) { return d.name == name; });
    if (input == declarations.end()) return UnknownInput(name, declarations);
    RETURN_IF_ERROR(BindShape(shape, *input, declarations));
  }
  return absl::OkStatus();
}

absl::Status CheckInput(const InputDeclaration& declaration, const Tensor& tensor) {
  bool fits = declaration.dtype == tensor.dtype();
  if (declaration.ranked) {
    fits &= declaration.shape.size() == tensor.shape().size();
    for (size_t d = 0; fits && d < tensor.shape().size(); ++d) {
      fits = declaration.shape[d] < 0 || declaration.shape[d] == tensor.shape()[d];
    }
  }
  if (fits) return absl::OkStatus();
  return InvalidInput("input \"", declaration.name, "\" must be ", ToString(declaration), ", not ",
                      DescribeType(tensor.dtype(), tensor.shape()));
}

absl::StatusOr<Tensor> RandomTensor(DType dtype, const Shape& shape, uint64_t seed, int64_t limit) {
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  Random random(seed);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (IsFloat(dtype)) {
      tensor.SetDouble(i, random.Normal());
    } else {
      tensor.SetInt(i, random.Integer(0, dtype == DType::kBool ? 1 : limit - 1));
    }
  }
  return tensor;
}

std::vector<int64_t> RandomLimits(const Graph& graph) {
  std::vector<int64_t> limits;
  for (const auto& input : graph.inputs()) {
    std::set<const Value*> seen;
    limits.push_back(SmallestIndexed(input.get(), kRandomLimit, seen));
  }
  return limits;
}

absl::StatusOr<Tensor> ParseTensorProto(std::string_view bytes, std::string_view name) {
  absl::StatusOr<Tensor> tensor = TensorFromOnnxProto(bytes);
  if (!tensor.ok()) return Annotate(tensor.status(), name);
  return tensor;
}

}  // namespace attune
