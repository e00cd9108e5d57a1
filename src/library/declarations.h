// Declarations of inputs and outputs as results of the C interface.
#ifndef ATTUNE_LIBRARY_DECLARATIONS_H_
#define ATTUNE_LIBRARY_DECLARATIONS_H_

#include <vector>

#include "api/tensors.h"
#include "attune/results.h"

namespace attune::library {

const attune_ports* NewPorts(const std::vector<InputDeclaration>& declarations);

}  // namespace attune::library

#endif  // ATTUNE_LIBRARY_DECLARATIONS_H_
