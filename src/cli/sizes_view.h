// Sizes of a program as text.
#ifndef ATTUNE_CLI_SIZES_VIEW_H_
#define ATTUNE_CLI_SIZES_VIEW_H_

#include <string>

#include "api/description.h"

namespace attune {

// "f32[batch,3,224,224]": an open dimension has the name of its size, or "?" if it is computed from sizes.
std::string TypeText(const TensorInfo& tensor, const Program& program);

// The memory of a session: "958 KB a session", or the sizes that it depends on: "as batch (1 to 64) needs".
std::string SessionMemory(const Variant& variant);

}  // namespace attune

#endif  // ATTUNE_CLI_SIZES_VIEW_H_
