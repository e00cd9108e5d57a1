#include "import/pytorch/inputs.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "import/pytorch/vocabulary.h"

namespace attune::pytorch {
namespace {

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

}  // namespace attune::pytorch
