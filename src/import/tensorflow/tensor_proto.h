// TensorProto and TensorShapeProto → Tensor and Shape.
#ifndef ATTUNE_IMPORT_TENSORFLOW_TENSOR_PROTO_H_
#define ATTUNE_IMPORT_TENSORFLOW_TENSOR_PROTO_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "import/common/emitter.h"
#include "import/tensorflow/tensorflow.pb.h"

namespace attune::tensorflow {

using namespace attune_tensorflow;  // NOLINT: the schema's messages, and nothing else

// "float", "string", …; "type 77" for a number that the format does not define.
std::string TypeName(int type);

// The dtype that holds a TensorFlow type, or a reference to a variable of it. Nothing for strings, complex
// numbers, resources and the like.
std::optional<DType> DTypeOf(int type);

// The same, or Unimplemented with the type's name.
absl::StatusOr<DType> RequireDType(int type);

// The shape where it is whole: of a known rank, with no dimension open.
std::optional<Shape> WholeShape(const TensorShapeProto& proto);

// One a dimension: a number, or "?".
std::vector<std::string> DescribeDims(const TensorShapeProto& proto);

// Throws ImportFailure: Unimplemented for element types that Attune does not have, InvalidArgument where
// shape and data disagree, ResourceExhausted where `budget` does not have the bytes that the shape asks for
// and the file does not hold (the last value of a list stands for all that follow).
Tensor TensorFromProto(const TensorProto& proto, importing::Budget& budget);

// Bytes in a file may be anything; a bool in memory is 0 or 1.
void NormalizeBools(Tensor& tensor);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_TENSOR_PROTO_H_
