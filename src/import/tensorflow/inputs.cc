#include "import/tensorflow/inputs.h"

#include <optional>
#include <string>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/status.h"
#include "import/tensorflow/tensor_proto.h"

namespace attune::tensorflow {
namespace {

// The shape that the options give an input, if any.
std::optional<Shape> GivenShape(const std::string& name, const TensorflowImportOptions& options) {
  if (const auto it = options.input_shapes.find(name); it != options.input_shapes.end()) return it->second;
  if (const auto it = options.input_values.find(name); it != options.input_values.end())
    return it->second.shape();
  return std::nullopt;
}

std::string ShapeText(const DeclaredTensor& info) {
  return info.ranked ? absl::StrCat("[", absl::StrJoin(info.dims, ","), "]") : "of any shape";
}

// A shape given for an input must agree with what the model says of it.
absl::Status CheckGiven(const Endpoint& input, const Shape& given) {
  if (!CheckedProduct(given))
    return InvalidInput("the shape given for input '", input.name, "' is negative or overflows");
  if (input.shape == nullptr || input.shape->unknown_rank()) return absl::OkStatus();
  bool fits = input.shape->dim_size() == static_cast<int>(given.size());
  for (int i = 0; fits && i < input.shape->dim_size(); ++i) {
    const int64_t size = input.shape->dim(i).size();
    fits = size < 0 || size == given[i];
  }
  if (fits) return absl::OkStatus();
  return InvalidInput("input '", input.name, "' is ", ShapeText(Describe(input)), " in the model, but [",
                      absl::StrJoin(given, ","), "] was given");
}

// "x=1x224x224x3": the open dimensions as 1, but the image-like ones of four as 224.
std::string Example(const DeclaredTensor& info) {
  std::vector<std::string> dims = info.dims;
  if (!info.ranked) dims = {"1", "224", "224", "3"};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == "?") dims[i] = dims.size() == 4 && (i == 1 || i == 2) ? "224" : "1";
  }
  return absl::StrCat("--shape ", info.name, "=", absl::StrJoin(dims, "x"));
}

}  // namespace

absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<Endpoint>& inputs,
                                              const TensorflowImportOptions& options) {
  std::vector<Shape> shapes;
  std::vector<std::string> unbound;
  std::vector<std::string> examples;
  for (const Endpoint& input : inputs) {
    std::optional<Shape> shape = GivenShape(input.name, options);
    if (shape) {
      RETURN_IF_ERROR(CheckGiven(input, *shape));
    } else if (input.shape != nullptr) {
      shape = WholeShape(*input.shape);
    }
    if (!shape) {
      const DeclaredTensor info = Describe(input);
      unbound.push_back(absl::StrCat("'", info.name, "' ", ShapeText(info)));
      examples.push_back(Example(info));
    }
    shapes.push_back(shape.value_or(Shape()));
  }
  if (unbound.empty()) return shapes;
  return InvalidInput("the model leaves dimensions open: input ", absl::StrJoin(unbound, ", "),
                      "; give the shapes, for example ", absl::StrJoin(examples, " "));
}

}  // namespace attune::tensorflow
