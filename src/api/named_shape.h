// The shape of one input as text: "input=1x3x224x224".
#ifndef ATTUNE_API_NAMED_SHAPE_H_
#define ATTUNE_API_NAMED_SHAPE_H_

#include <optional>
#include <string>
#include <utility>

#include "graph/tensor.h"

namespace attune {

// Nothing if the text is malformed. "input=" is a scalar, and "?" a size that stays open, -1.
std::optional<std::pair<std::string, Shape>> ParseNamedShape(const std::string& text);

}  // namespace attune

#endif  // ATTUNE_API_NAMED_SHAPE_H_
