#include "codegen/llvm_version.h"

#include "llvm/Config/llvm-config.h"

namespace attune {

std::string LlvmVersion() { return LLVM_VERSION_STRING; }

}  // namespace attune
