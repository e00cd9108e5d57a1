// The version of LLVM that generates code.
#ifndef ATTUNE_CODEGEN_LLVM_VERSION_H_
#define ATTUNE_CODEGEN_LLVM_VERSION_H_

#include <string>

namespace attune {

// "19.1.7".
std::string LlvmVersion();

}  // namespace attune

#endif  // ATTUNE_CODEGEN_LLVM_VERSION_H_
