// Parameters, buffers and constants: raw storages in the archive, and the layout of each tensor in them.
#ifndef ATTUNE_IMPORT_PYTORCH_WEIGHTS_H_
#define ATTUNE_IMPORT_PYTORCH_WEIGHTS_H_

#include <map>
#include <string>
#include <string_view>

#include "graph/tensor.h"
#include "import/pytorch/archive.h"
#include "import/pytorch/program.h"
#include "import/pytorch/vocabulary.h"

namespace attune::pytorch {

// Members throw ImportFailure. Unimplemented: a pickled tensor, or a type that Attune does not support.
class Weights {
 public:
  // Reads both configurations of `model`. The archive must outlive this.
  Weights(const Archive* archive, const std::string& model);

  // The tensor with the name `name` in the program ("layer1.0.conv1.weight"), dense. Equal tensors share
  // their bytes, of all imports of the program. Loading spends the budget, since tensors may share a storage,
  // or overlap in it many times.
  Tensor Load(const std::string& name, Budget& budget);

 private:
  struct Payload {
    std::string path;
    bool pickled = false;
    TensorMeta meta = {};
  };

  void ReadConfig(const std::string& path, const std::string& folder);
  Tensor ReadDense(const Payload& payload, DType dtype, const Shape& shape);
  Tensor ReadStrided(const Payload& payload, DType dtype, const Shape& shape, const Shape& strides,
                     int64_t offset, Budget& budget);

  const Archive* archive_;
  std::map<std::string, Payload, std::less<>> payloads_;
  std::map<std::string, Tensor> loaded_;  // by storage, type and layout
  // The storage that was read last: the next tensor may be in the same one.
  std::string storage_path_;
  std::string storage_;
};

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_WEIGHTS_H_
