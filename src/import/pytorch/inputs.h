// The user's inputs of a program, and their shapes.
#ifndef ATTUNE_IMPORT_PYTORCH_INPUTS_H_
#define ATTUNE_IMPORT_PYTORCH_INPUTS_H_

#include <optional>
#include <string>
#include <vector>

#include "import/common/declared_tensor.h"
#include "import/pytorch/program.h"

namespace attune::pytorch {

struct UserInput {
  std::string name;
  std::optional<TensorMeta> meta = {};  // for a tensor of a supported type
  std::string unsupported = {};         // why it is not such a tensor
};

// In the order of the program, without inputs that are None. Throws ImportFailure.
std::vector<UserInput> ReadUserInputs(const Json& program);

// The description of a tensor as the program declares it.
DeclaredTensor Describe(const std::string& name, const TensorMeta& meta);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_INPUTS_H_
