// The user's inputs of a program, and their shapes.
#ifndef ATTUNE_IMPORT_PYTORCH_INPUTS_H_
#define ATTUNE_IMPORT_PYTORCH_INPUTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "import/pytorch/import.h"
#include "import/pytorch/program.h"

namespace attune::pytorch {

struct UserInput {
  std::string name;
  std::optional<TensorMeta> meta = {};  // of a tensor of a type that Attune has
  std::string unsupported = {};         // why it is not one
};

// In the program's order, without those that are None. Throws ImportFailure.
std::vector<UserInput> ReadUserInputs(const Json& program);

// What ReadPytorchInfo shows of a tensor.
DeclaredTensor Describe(const std::string& name, const TensorMeta& meta);

// The shape of each input that is a tensor, from the options or the program. An error lists all inputs whose
// shapes stay open, and how to give them.
absl::StatusOr<std::vector<Shape>> BindShapes(const std::vector<UserInput>& inputs,
                                              const PytorchImportOptions& options);

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_INPUTS_H_
