#include "import/tensorflow/inputs.h"

#include <optional>
#include <string>

#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/status.h"
#include "import/common/input_shapes.h"
#include "import/tensorflow/tensor_proto.h"

namespace attune::tensorflow {
namespace {

// A given shape for an input must agree with the model's declaration.
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

}  // namespace

absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<Endpoint>& inputs,
                                              const ImportOptions& options) {
  std::vector<Shape> shapes;
  OpenInputs open("model", /*channels_last=*/true);
  for (const Endpoint& input : inputs) {
    std::optional<Shape> shape = GivenShape(input.name, options);
    if (shape) {
      RETURN_IF_ERROR(CheckGiven(input, *shape));
    } else if (input.shape != nullptr) {
      shape = WholeShape(*input.shape);
    }
    if (!shape) {
      open.Add(Describe(input));
    }
    shapes.push_back(shape.value_or(Shape()));
  }
  RETURN_IF_ERROR(open.status());
  return shapes;
}

}  // namespace attune::tensorflow
