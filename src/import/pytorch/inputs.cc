#include "import/pytorch/inputs.h"

#include <map>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/status.h"
#include "import/common/input_shapes.h"
#include "import/pytorch/vocabulary.h"

namespace attune::pytorch {
namespace {

using Symbols = std::map<std::string, int64_t>;

// A given shape for an input must agree with the program's declaration. Stores the sizes of symbols in
// `symbols`.
absl::Status CheckGiven(const UserInput& input, const Shape& given, Symbols& symbols) {
  if (!CheckedProduct(given))
    return InvalidInput("the shape given for input '", input.name, "' is negative or overflows");
  const std::vector<SymbolicInt>& sizes = input.meta->sizes;
  bool fits = sizes.size() == given.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    if (sizes[i].value) {
      fits = *sizes[i].value == given[i];
    } else if (!sizes[i].symbol.empty()) {
      fits = symbols.emplace(sizes[i].symbol, given[i]).first->second == given[i];
    }
  }
  if (fits) return absl::OkStatus();
  return InvalidInput("input '", input.name, "' is ", ShapeText(Describe(input.name, *input.meta)),
                      " in the program, but [", absl::StrJoin(given, ","), "] was given",
                      "; torch.export.export leaves open what dynamic_shapes names");
}

// The declared shape with symbols replaced; nullopt if a dimension is still open.
std::optional<Shape> Resolve(const TensorMeta& meta, const Symbols& symbols) {
  Shape shape;
  for (const SymbolicInt& size : meta.sizes) {
    const auto symbol = symbols.find(size.symbol);
    if (size.value) {
      shape.push_back(*size.value);
    } else if (symbol != symbols.end()) {
      shape.push_back(symbol->second);
    } else {
      return std::nullopt;
    }
  }
  return shape;
}

UserInput ReadTensorInput(const std::string& name, const Json& tensor_values) {
  UserInput input{.name = name};
  TensorMeta meta = ReadTensorMeta(Field(tensor_values, name));
  for (const SymbolicInt& size : meta.sizes) {
    if (size.value && *size.value < 0) Invalid("input '", name, "' has the size ", *size.value);
  }
  if (!DTypeFromTorch(meta.scalar_type)) {
    input.unsupported = absl::StrCat("its type is ", TorchTypeName(meta.scalar_type));
  } else if (!meta.strided) {
    input.unsupported = "it is a sparse tensor";
  } else {
    input.meta = std::move(meta);
  }
  return input;
}

}  // namespace

std::vector<UserInput> ReadUserInputs(const Json& program) {
  const Json& module = Field(program, "graph_module");
  const Json& tensor_values = Field(Field(module, "graph"), "tensor_values");
  std::vector<UserInput> inputs;
  for (const Json& spec : ListField(Field(module, "signature"), "input_specs")) {
    const auto [kind, held] = ReadUnion(spec);
    if (kind != "user_input") continue;
    const Argument argument = ReadArgument(Field(*held, "arg"));
    if (argument.kind == Argument::Kind::kNone || argument.kind == Argument::Kind::kString) continue;
    if (argument.kind == Argument::Kind::kTensor) {
      inputs.push_back(ReadTensorInput(argument.items[0].name, tensor_values));
      continue;
    }
    const bool named = argument.items.size() == 1 && !argument.items[0].name.empty();
    // The export has built a number without a name into the program.
    if (argument.kind == Argument::Kind::kNumber && !named) continue;
    inputs.push_back({.name = named ? argument.items[0].name : argument.text,
                      .unsupported = "it is not a tensor; export the model with a constant in its place"});
  }
  return inputs;
}

DeclaredTensor Describe(const std::string& name, const TensorMeta& meta) {
  DeclaredTensor tensor;
  tensor.name = name;
  const std::optional<DType> dtype = DTypeFromTorch(meta.scalar_type);
  tensor.dtype = dtype ? std::string(DTypeName(*dtype)) : TorchTypeName(meta.scalar_type);
  for (const SymbolicInt& size : meta.sizes) {
    tensor.dims.push_back(size.value ? absl::StrCat(*size.value) : size.symbol.empty() ? "?" : size.symbol);
  }
  return tensor;
}

absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<UserInput>& inputs,
                                              const PytorchImportOptions& options) {
  Symbols symbols;
  for (const UserInput& input : inputs) {
    const std::optional<Shape> given = GivenShape(input.name, options);
    if (given && input.meta) RETURN_IF_ERROR(CheckGiven(input, *given, symbols));
  }
  std::vector<Shape> shapes;
  OpenInputs open("program", /*channels_last=*/false);
  for (const UserInput& input : inputs) {
    std::optional<Shape> shape = GivenShape(input.name, options);
    if (!shape && input.meta) shape = Resolve(*input.meta, symbols);
    if (!shape && input.meta) {
      open.Add(Describe(input.name, *input.meta));
    }
    shapes.push_back(shape.value_or(Shape()));
  }
  RETURN_IF_ERROR(open.status());
  return shapes;
}

}  // namespace attune::pytorch
