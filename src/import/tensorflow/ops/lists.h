// Shared by the operators on lists of tensors.
#ifndef ATTUNE_IMPORT_TENSORFLOW_OPS_LISTS_H_
#define ATTUNE_IMPORT_TENSORFLOW_OPS_LISTS_H_

#include <cstddef>
#include <optional>

#include "import/tensorflow/importer.h"
#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

// Members throw ImportFailure.
class ListContext {
 public:
  // `shape_input`: the index of the input with the items' shape; -1 if there is none.
  explicit ListContext(OpContext& c, int shape_input = -1) : c_(c), shape_input_(shape_input) {}

  const TensorItems& Items(int input) const;
  // Item i; zeros if it was never written.
  Value* Item(const TensorItems& items, size_t i);
  // Stacks all items along a new first axis, and the inverse.
  Value* Stack(const TensorItems& items);
  TensorItems Unstack(Value* tensor);
  // Spends budget for lists, which may add no nodes.
  void Spend(int64_t work) { c_.importer().budget().SpendNodes(work); }

 private:
  std::optional<Shape> ItemShape();
  DType ItemType() const;

  OpContext& c_;
  int shape_input_;
};

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_OPS_LISTS_H_
