// Tensors of the file: types, shapes, data and quantization. Members throw ImportFailure.
#ifndef ATTUNE_IMPORT_TFLITE_TENSORS_H_
#define ATTUNE_IMPORT_TFLITE_TENSORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/dtype.h"
#include "graph/tensor.h"
#include "import/common/declared_tensor.h"
#include "import/common/emitter.h"
#include "import/tflite/model.h"

namespace attune::tflite {

// Integers of fewer than 8 bits become i8 or u8. nullopt for a type that Attune does not support.
std::optional<DType> DTypeOf(schema::TensorType type);
// "f32", …, or "string", "resource", …
std::string TypeName(schema::TensorType type);
// Not supported if Attune lacks it.
DType RequireDType(schema::TensorType type);

// The stated shape; checks that dimensions are not negative and that their product does not overflow.
Shape RequireShape(const schema::Tensor& tensor);
// The stated shape; a size that the signature leaves open is -1. nullopt if none is stated: writers leave it
// out both for a scalar and for a tensor of unknown rank.
std::optional<Shape> DeclaredShape(const schema::Tensor& tensor);
// The declaration of an input or an output with this name.
DeclaredTensor Describe(const schema::Tensor& tensor, std::string name);

// real = scale (stored - zero), with one pair for the whole tensor, or one per index along `axis`.
struct Quantization {
  std::vector<float> scales;
  Ints zeros;  // as many as scales
  int64_t axis = 0;

  bool per_channel() const { return scales.size() > 1; }
  bool operator==(const Quantization&) const = default;
};

// The integers that a type represents; for unsigned 64 bits, those that also fit int64_t.
struct IntegerRange {
  int64_t min;
  int64_t max;
};
IntegerRange RangeOf(DType dtype);

// nullopt if the tensor has none, or another kind (blocks).
std::optional<Quantization> QuantizationOf(const schema::Tensor& tensor);
// Whether it has 8 or 16 bits and represents real numbers.
bool IsQuantized(const schema::Tensor& tensor);

// Whether the file has data for it.
bool HasData(const Model& model, const schema::Tensor& tensor);
// The data of tensors. All imports of a model share it.
class TensorData {
 public:
  // The data of one of the model's tensors; expanded, by the first call for it, if it is sparse or has fewer
  // than 8 bits per element. Spends the budget for the bytes first.
  Tensor Read(const Model& model, const schema::Tensor& tensor, Budget& budget);

 private:
  std::unordered_map<const schema::Tensor*, Tensor> tensors_;
};

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_TENSORS_H_
