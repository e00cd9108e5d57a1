#include "import/common/asked_shapes.h"

#include <span>
#include <string>

#include "import/common/failure.h"

namespace attune::importing {

Value* ReshapeToAsked(Emitter& emitter, Value* x, Shape shape, const std::vector<bool>& copied) {
  const std::string type = ToString(x->type());
  std::vector<bool> is_number(shape.size());
  int64_t inferred = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    is_number[i] = shape[i] > 0 && (copied.empty() || !copied[i]);
    if (shape[i] >= 0) continue;
    if (shape[i] != -1) Invalid("its shape has the dimension ", shape[i]);
    if (inferred >= 0) Invalid("its shape has two -1");
    inferred = static_cast<int64_t>(i);
    shape[i] = 1;
  }
  if (inferred >= 0) {
    const int64_t known = Product(shape);
    const int64_t total = Product(x->type().shape());
    if (known == 0 ? total != 0 : total % known != 0) {
      throw ImportFailure{AsFailureOf(std::span<Value* const>(&x, 1),
                                      InvalidInput(type, " cannot take the shape that it asks for"))};
    }
    shape[inferred] = known == 0 ? 0 : total / known;
  }
  // Inference finds the dynamic dimensions in the new shape by their bounds.
  Value* y = emitter.Reshape(x, shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (is_number[i] && !y->type().dims[i].is_constant())
      Unsupported("whether ", type, " has the shape that it asks for depends on data");
  }
  return y;
}

Value* BroadcastToAsked(Emitter& emitter, Value* x, const Shape& shape) {
  if (!x->type().is_static())
    Unsupported("whether ", ToString(x->type()), " fits the shape that it asks for depends on data");
  return emitter.Broadcast(x, shape);
}

Value* SqueezeOnes(Emitter& emitter, Value* x) {
  Ints axes;
  const std::vector<Dim>& dims = x->type().dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].is_constant())
      Unsupported("which axes of ", ToString(x->type()), " it removes depends on data");
    if (dims[i].size == 1) axes.push_back(static_cast<int64_t>(i));
  }
  return emitter.Squeeze(x, axes);
}

}  // namespace attune::importing
