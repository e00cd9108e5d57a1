// TensorProto and TensorShapeProto → Tensor and Shape.
#ifndef ATTUNE_IMPORT_TENSORFLOW_TENSOR_PROTO_H_
#define ATTUNE_IMPORT_TENSORFLOW_TENSOR_PROTO_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "import/common/emitter.h"
#include "import/tensorflow/tensorflow.pb.h"

namespace attune::tensorflow {

using namespace attune_tensorflow;  // NOLINT: the schema's messages, and nothing else

// "float", "string", …; "type 77" for a number that the format does not define.
std::string TypeName(int type);

// The dtype for a TensorFlow type, or for a reference to a variable of that type. nullopt for strings,
// complex numbers, resources and the like.
std::optional<DType> DTypeOf(int type);

// The same; Unimplemented with the type's name instead of nullopt.
absl::StatusOr<DType> RequireDType(int type);

// Whether a graph of this version, TensorFlow's number for formats of graphs, states a shape by `proto`.
bool StatesShape(const TensorShapeProto& proto, int version);
// The sizes of a stated shape; those that it leaves open are -1.
Shape SizesOf(const TensorShapeProto& proto);
// The shape if it is complete: the rank is known, and no dimension is open.
std::optional<Shape> WholeShape(const TensorShapeProto& proto);

// One entry per dimension: a number, or "?".
std::vector<std::string> DescribeDims(const TensorShapeProto& proto);

// Throws ImportFailure: Unimplemented for element types that Attune does not support, InvalidArgument if
// shape and data disagree, ResourceExhausted if `budget` does not cover the bytes that the shape needs and
// the file does not contain (the last value of a list is repeated).
Tensor TensorFromProto(const TensorProto& proto, importing::Budget& budget);

// The tensors of a model's messages. All imports of the model share them.
class Constants {
 public:
  // The tensor of a message, made by the first call. Throws and spends the budget as TensorFromProto() does.
  Tensor Read(const TensorProto& proto, importing::Budget& budget);

 private:
  std::unordered_map<const TensorProto*, Tensor> tensors_;
};

// A bool may be any byte in the file, but must be 0 or 1 in memory.
void NormalizeBools(Tensor& tensor);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_TENSOR_PROTO_H_
