#include "import/common/input_shapes.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/dtype.h"
#include "base/status.h"
#include "graph/infer.h"
#include "import/common/failure.h"

namespace attune::importing {
namespace {

using Symbols = std::map<std::string, int64_t>;

std::optional<Shape> GivenShape(const std::string& name, const ImportOptions& options) {
  if (const auto it = options.input_shapes.find(name); it != options.input_shapes.end()) return it->second;
  if (const auto it = options.input_values.find(name); it != options.input_values.end())
    return it->second.shape();
  return std::nullopt;
}

// The number that a dimension is; nullopt if it is open.
std::optional<int64_t> SizeOf(const std::string& dim) {
  int64_t size = 0;
  return absl::SimpleAtoi(dim, &size) ? std::optional(size) : std::nullopt;
}

// "[1,n,?]", or "of any shape".
std::string ShapeText(const DeclaredTensor& tensor) {
  return tensor.ranked ? absl::StrCat("[", absl::StrJoin(tensor.dims, ","), "]") : "of any shape";
}

// Checks that a given shape agrees with the declaration, and notes the sizes of symbols.
absl::Status CheckGiven(const DeclaredTensor& input, const Shape& given, const InputRules& rules,
                        Symbols& symbols) {
  if (!CheckedProduct(given))
    return InvalidInput("the shape given for input '", input.name, "' is negative or overflows");
  if (!input.ranked) return absl::OkStatus();
  bool fits = input.dims.size() == given.size();
  for (size_t i = 0; fits && i < given.size(); ++i) {
    const std::string& dim = input.dims[i];
    if (const std::optional<int64_t> size = SizeOf(dim)) {
      fits = *size == given[i];
    } else if (dim != "?") {
      const int64_t bound = symbols.emplace(dim, given[i]).first->second;
      fits = bound == given[i] || !rules.has_unique_symbols;
    }
  }
  if (fits) return absl::OkStatus();
  return InvalidInput("input '", input.name, "' is ", ShapeText(input), " in the ", rules.what, ", but [",
                      absl::StrJoin(given, ","), "] was given", rules.advice);
}

// The declared shape with symbols replaced; nullopt if a dimension is still open.
std::optional<Shape> Resolve(const DeclaredTensor& input, const Symbols& symbols) {
  if (!input.ranked) return std::nullopt;
  Shape shape;
  for (const std::string& dim : input.dims) {
    const auto symbol = symbols.find(dim);
    const std::optional<int64_t> size = symbol != symbols.end() ? std::optional(symbol->second) : SizeOf(dim);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

// The sizes of all dimensions of an input that states no shape: an image, or ids of a text.
std::vector<std::string> ExampleOfAnyShape(std::string_view dtype, const InputRules& rules) {
  const std::optional<DType> known = ParseDType(dtype);
  if (known && !IsFloat(*known) && *known != DType::kU8) return {"1", "128"};
  if (rules.channels_last) return {"1", "224", "224", "3"};
  return {"1", "3", "224", "224"};
}

}  // namespace

WrittenShape ExampleShape(const DeclaredTensor& input, const InputRules& rules) {
  if (!input.ranked) return {input.name, ExampleOfAnyShape(input.dtype, rules)};
  constexpr size_t kImageRank = 4;
  const size_t channels = rules.channels_last ? kImageRank - 1 : 1;
  std::vector<std::string> dims = input.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (SizeOf(dims[i])) continue;
    const bool is_image = dims.size() == kImageRank;
    if (i == 0 || (is_image && i == channels)) {
      dims[i] = "1";
    } else {
      dims[i] = is_image ? "224" : "128";
    }
  }
  return {input.name, std::move(dims)};
}

absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<DeclaredTensor>& inputs,
                                              const ImportOptions& options, const InputRules& rules) {
  Symbols symbols;
  for (const DeclaredTensor& input : inputs) {
    if (const std::optional<Shape> given = GivenShape(input.name, options))
      RETURN_IF_ERROR(CheckGiven(input, *given, rules, symbols));
  }
  std::vector<Shape> shapes;
  std::vector<std::string> open;
  std::vector<WrittenShape> examples;
  for (const DeclaredTensor& input : inputs) {
    std::optional<Shape> shape = GivenShape(input.name, options);
    if (!shape) shape = Resolve(input, symbols);
    if (!shape) {
      open.push_back(absl::StrCat("'", input.name, "' ", ShapeText(input)));
      examples.push_back(ExampleShape(input, rules));
    }
    shapes.push_back(shape.value_or(Shape()));
  }
  if (open.empty()) return shapes;
  return InvalidInput("the ", rules.what, " leaves dimensions open: input ", absl::StrJoin(open, ", "),
                      "; give the shapes, for example ", ShapesAsGiven(examples));
}

Value* AddInput(Graph& graph, const std::string& name, TensorType type, const ImportOptions& options,
                Evaluator& evaluator) {
  OrThrow(Annotate(CheckType(type), absl::StrCat("input '", name, "'")));
  Value* value = graph.AddInput(name, std::move(type));
  const auto known = options.input_values.find(name);
  if (known == options.input_values.end()) return value;
  if (known->second.dtype() != value->type().dtype) {
    Invalid("input '", name, "' is ", ToString(value->type()), ", but values of ",
            DTypeName(known->second.dtype()), " were given");
  }
  evaluator.SetInput(value, known->second);
  return value;
}

}  // namespace attune::importing
