// The shapes of inputs that a model leaves open: those from the options, and the error for missing ones.
#ifndef ATTUNE_IMPORT_COMMON_INPUT_SHAPES_H_
#define ATTUNE_IMPORT_COMMON_INPUT_SHAPES_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "import/common/declared_tensor.h"
#include "import/common/import_options.h"

namespace attune::importing {

// The shape that the options give an input, directly or by its value.
std::optional<Shape> GivenShape(const std::string& name, const ImportOptions& options);

// "[1,n,?]", or "of any shape".
std::string ShapeText(const DeclaredTensor& tensor);

// Collects the inputs whose shapes are still open, for one error that lists them all with an example of how
// to give them: open dimensions as 1, but 224 for an image with four dimensions.
class OpenInputs {
 public:
  // `what` has the open inputs: "model", "program". `channels_last`: the position of channels in images.
  OpenInputs(std::string what, bool channels_last) : what_(std::move(what)), channels_last_(channels_last) {}

  void Add(const DeclaredTensor& input);
  absl::Status status() const;  // ok if there are none

 private:
  std::string Example(const DeclaredTensor& input) const;

  std::string what_;
  bool channels_last_;
  std::vector<std::string> inputs_, examples_;
};

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_INPUT_SHAPES_H_
