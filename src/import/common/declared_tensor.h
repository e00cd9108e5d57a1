// The declaration of an input or an output in a model file, in a form common to all formats.
#ifndef ATTUNE_IMPORT_COMMON_DECLARED_TENSOR_H_
#define ATTUNE_IMPORT_COMMON_DECLARED_TENSOR_H_

#include <optional>
#include <string>
#include <vector>

#include "base/picture_format.h"

namespace attune {

struct DeclaredTensor {
  std::string name;
  // "f32", …, or the format's own name of a type that Attune does not support ("string").
  std::string dtype;
  // One entry per dimension: a number, a symbol's name, or "?". `ranked` is false if the model states no
  // shape.
  std::vector<std::string> dims;
  bool ranked = true;
  // The format of pictures for this input, if the file says it.
  std::optional<PictureFormat> picture = {};
};

}  // namespace attune

#endif  // ATTUNE_IMPORT_COMMON_DECLARED_TENSOR_H_
