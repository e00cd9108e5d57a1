// Tensors of the file: types, shapes, data and quantization. Members throw ImportFailure.
#ifndef ATTUNE_IMPORT_TFLITE_TENSORS_H_
#define ATTUNE_IMPORT_TFLITE_TENSORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "graph/tensor.h"
#include "import/common/emitter.h"
#include "import/tflite/model.h"

namespace attune::tflite {

// Integers of under 8 bits come as i8 or u8. Nothing for a type that Attune does not have.
std::optional<DType> DTypeOf(schema::TensorType type);
// "f32", …, or "string", "resource", …
std::string TypeName(schema::TensorType type);
// NS where Attune does not have it.
DType RequireDType(schema::TensorType type);

// The stated shape; dimensions are not negative, their product fits.
Shape RequireShape(const schema::Tensor& tensor);

// real = scale (stored - zero), with one pair for the whole tensor, or one for each index along `axis`.
struct Quantization {
  std::vector<float> scales;
  Ints zeros;  // as many
  int64_t axis = 0;

  bool per_channel() const { return scales.size() > 1; }
  bool operator==(const Quantization&) const = default;
};

// The integers that a type holds; of 64 bits without a sign those that an int64_t holds.
struct IntegerRange {
  int64_t min;
  int64_t max;
};
IntegerRange RangeOf(DType dtype);

// Nothing where the tensor has none, or has one of another kind (blocks).
std::optional<Quantization> QuantizationOf(const schema::Tensor& tensor);
// Whether it is of 8 or 16 bits and stands for real numbers.
bool IsQuantized(const schema::Tensor& tensor);

// Whether the file has data for it.
bool HasData(const Model& model, const schema::Tensor& tensor);
// The data, spread out where they are stored sparsely or in less than a byte. Their bytes are charged first.
Tensor ReadData(const Model& model, const schema::Tensor& tensor, Budget& budget);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_TENSORS_H_
