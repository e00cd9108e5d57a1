// What goes into a network and what comes out: declarations of inputs, named tensors, random values.
#ifndef ATTUNE_API_TENSORS_H_
#define ATTUNE_API_TENSORS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// What a model file or an artifact says of one of its inputs.
struct InputDeclaration {
  std::string name;
  // Empty for a type that Attune does not have; dtype_name is the file's own name of it then.
  std::optional<DType> dtype;
  std::string dtype_name;
  // -1 for a dimension that the file leaves open. `ranked` is false where it states no shape at all.
  Shape shape;
  // One a dimension: its number, its symbol, or "?".
  std::vector<std::string> dims;
  bool ranked = true;
};

// "f32[1,3,224,224]"; open dimensions by their symbol, "f32[?]" where there is no shape.
std::string ToString(const InputDeclaration& declaration);
std::string DescribeType(DType dtype, const Shape& shape);

// The inputs of the model or artifact at `path`, told apart by content. `signature`: as ModelOptions has it.
// A dimension is open that differs among an artifact's sets of input shapes.
absl::StatusOr<std::vector<InputDeclaration>> ReadInputDeclarations(const std::string& path,
                                                                    const std::string& signature = "");

// Gives the open dimensions of `declarations` the sizes of `shapes`, by input name. A symbol that one input
// binds is bound for all. Errors: an unknown input, another rank, a size that contradicts the file or itself.
absl::Status BindShapes(const std::map<std::string, Shape>& shapes,
                        std::vector<InputDeclaration>& declarations);

// Ok where `tensor` is what the declaration asks for. The error says what it is instead.
absl::Status CheckInput(const InputDeclaration& declaration, const Tensor& tensor);

// The default bound of random integers.
inline constexpr int64_t kRandomLimit = 100;

// Standard normal floats, integers in [0, limit), either truth value. The same seed gives the same numbers
// everywhere.
absl::StatusOr<Tensor> RandomTensor(DType dtype, const Shape& shape, uint64_t seed,
                                    int64_t limit = kRandomLimit);

// For each input of `graph`, what RandomTensor's limit must be so that every index that is made of the input
// is in range (a token of a vocabulary, a row of an embedding): kRandomLimit, or the size of what it indexes.
std::vector<int64_t> RandomLimits(const Graph& graph);

// An ONNX TensorProto, as in the .pb files that accompany models. Errors name `name` (the file).
absl::StatusOr<Tensor> ParseTensorProto(std::string_view bytes, std::string_view name);

}  // namespace attune

#endif  // ATTUNE_API_TENSORS_H_
