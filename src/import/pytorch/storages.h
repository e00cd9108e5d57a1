// Which tensors of a program share memory, and which memory outlives a run.
#ifndef ATTUNE_IMPORT_PYTORCH_STORAGES_H_
#define ATTUNE_IMPORT_PYTORCH_STORAGES_H_

#include <cstdint>
#include <map>
#include <string>

#include "import/pytorch/op_context.h"
#include "import/pytorch/ops.h"

namespace attune::pytorch {

// Decides the storage and the tensor of bindings. A storage that is given to a new tensor was never given
// before; only the memory of weights outlives a run.
class Storages {
 public:
  // Gives a tensor its own memory.
  void PlaceNew(Binding& binding);
  // Gives a tensor that an operator makes its own memory, or that of the operator's first tensor `input`, as
  // the row says.
  void Place(Binding& binding, const Binding& input, Memory memory);
  // Gives a weight its own memory, which outlives a run. `name` is the one in the program.
  void PlaceWeight(Binding& binding, const std::string& name);

  // Returns the name of the weight with this memory; null if it does not outlive a run.
  const std::string* WeightIn(int64_t storage) const;

 private:
  int64_t next_ = 0;
  std::map<int64_t, std::string> weights_;  // by storage
};

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_STORAGES_H_
