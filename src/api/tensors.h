// The inputs and outputs of a network: declarations of inputs, named tensors, random values.
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
#include "base/picture_format.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// The declaration of an input, or of an output, in a model file or an artifact.
struct InputDeclaration {
  std::string name;
  // Empty for a type that Attune does not support; then only dtype_name, the file's name of the type, is
  // set.
  std::optional<DType> dtype;
  std::string dtype_name;
  // -1 for an open dimension. `ranked` is false if the file gives no shape at all.
  Shape shape;
  // One per dimension: its size, its symbol, or "?".
  std::vector<std::string> dims;
  bool ranked = true;
  // The format of pictures for this input, if the model or the artifact says it.
  std::optional<PictureFormat> picture = {};
};

// "f32[1,3,224,224]"; open dimensions are shown by their symbol; "f32[?]" without a shape.
std::string ToString(const InputDeclaration& declaration);
std::string DescribeType(DType dtype, const Shape& shape);

InputDeclaration DeclarationOf(const std::string& name, const TensorType& type);

// The error for something that is given for an input that is not among these.
absl::Status UnknownInput(std::string_view name, const std::vector<InputDeclaration>& declarations);

// Sets the open dimensions of `declarations` to the sizes in `shapes`, by input name; -1 leaves one as it is.
// A symbol that one input binds is bound for all inputs. Errors: an unknown input, a different rank, a size
// that contradicts the file or another size.
absl::Status BindShapes(const std::map<std::string, Shape>& shapes,
                        std::vector<InputDeclaration>& declarations);

// Ok if `tensor` matches the declaration. Otherwise the error says what it is instead.
absl::Status CheckInput(const InputDeclaration& declaration, const Tensor& tensor);

// The default bound of random integers.
inline constexpr int64_t kRandomLimit = 100;

// Standard normal floats, integers in [0, limit), or random booleans. The same seed gives the same numbers
// everywhere.
absl::StatusOr<Tensor> RandomTensor(DType dtype, const Shape& shape, uint64_t seed,
                                    int64_t limit = kRandomLimit);

// For each input of `graph`, the limit for RandomTensor with which every index computed from the input is
// in range (a token of a vocabulary, a row of an embedding): kRandomLimit, or the size of the indexed
// dimension if smaller.
std::vector<int64_t> RandomLimits(const Graph& graph);

// Parses an ONNX TensorProto, as in the .pb files that accompany models. Errors begin with `name` (the
// file).
absl::StatusOr<Tensor> ParseTensorProto(std::string_view bytes, std::string_view name);

}  // namespace attune

#endif  // ATTUNE_API_TENSORS_H_
