// The version and the build of the library.
#include "attune/compiler.hpp"
#include "library/build_id.h"

namespace attune::compiler {

std::string version() { return attune_version(); }
std::string build_id() { return kBuildId; }

}  // namespace attune::compiler
