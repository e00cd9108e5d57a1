// The shapes of inputs that a model leaves open: what a person gave, and what to say where nothing was.
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

// The shape that the options give an input, by itself or with a value.
std::optional<Shape> GivenShape(const std::string& name, const ImportOptions& options);

// "[1,n,?]", or "of any shape".
std::string ShapeText(const DeclaredTensor& tensor);

// The inputs whose shapes stay open, for one error that lists them all, with an example of how to give them:
// open dimensions as 1, but those of an image among four as 224.
class OpenInputs {
 public:
  // `what` leaves them open: "model", "program". `channels_last`: where images have their channels.
  OpenInputs(std::string what, bool channels_last) : what_(std::move(what)), channels_last_(channels_last) {}

  void Add(const DeclaredTensor& input);
  absl::Status status() const;  // ok where there are none

 private:
  std::string Example(const DeclaredTensor& input) const;

  std::string what_;
  bool channels_last_;
  std::vector<std::string> inputs_, examples_;
};

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_INPUT_SHAPES_H_
