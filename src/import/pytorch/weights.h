// Parameters, buffers and constants: raw storages in the archive, and which tensor lies how in which.
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

// Members throw ImportFailure. Unimplemented: a tensor that is pickled, or of a type that Attune does not
// have.
class Weights {
 public:
  // Reads both configurations of `model`. The archive and the budget must outlive this. What is loaded is
  // spent from the budget: tensors may share a storage, or lie over it many times.
  Weights(const Archive* archive, const std::string& model, Budget* budget);

  // The tensor that the program knows as `name` ("layer1.0.conv1.weight"), dense. Equal ones share their
  // bytes.
  Tensor Load(const std::string& name);

 private:
  struct Payload {
    std::string path;
    bool pickled = false;
    TensorMeta meta = {};
  };

  void ReadConfig(const std::string& path, const std::string& folder);
  Tensor ReadDense(const Payload& payload, DType dtype, const Shape& shape);
  Tensor ReadStrided(const Payload& payload, DType dtype, const Shape& shape, const Shape& strides,
                     int64_t offset);

  const Archive* archive_;
  Budget* budget_;
  std::map<std::string, Payload, std::less<>> payloads_;
  std::map<std::string, Tensor> loaded_;  // by storage, type and layout
  // The storage that was cut last: the next tensor may lie in it too.
  std::string storage_path_;
  std::string storage_;
};

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_WEIGHTS_H_
