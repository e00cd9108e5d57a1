// Constants of f32 that kernels read in 16 bits.
//
// A kernel that multiplies a large matrix by few rows waits for the matrix to come from memory. Where 16
// bits hold all numbers of it exactly (attune compile --weights rounds weights so), the kernel reads half
// the bytes and widens them in registers. That takes one instruction for a vector of f16 and two for one of
// bf16, even on processors without arithmetic for these types. Results are the same, bit by bit.
#ifndef ATTUNE_PLAN_NARROW_CONSTANTS_H_
#define ATTUNE_PLAN_NARROW_CONSTANTS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "graph/graph.h"
#include "plan/group_kernel.h"
#include "target/target.h"

namespace attune {

// The types in which a kernel reads inputs of its group, by their indices; the others as the group has them.
using NarrowInputs = std::map<int, DType>;

// The inputs of a group (an Op::kFused node) that are such constants, and that its kernel waits for. An
// inference reads `constant_bytes` of constants, in the types of the graph: they come from the nearest
// memory that has room for all of them.
NarrowInputs FindNarrowInputs(const Node& group, int64_t constant_bytes, const Target& target);

// The bytes of all constants in the graph and its regions.
int64_t ConstantBytes(const Graph& graph);

// The same numbers in the type, which holds them.
Tensor Narrowed(const Tensor& constant, DType dtype);

// Makes the kernel read the inputs, also prepacked ones, in these types. A prepacking that does more than
// move its input keeps its type.
void ReadNarrow(const NarrowInputs& inputs, GroupKernel& kernel);

}  // namespace attune

#endif  // ATTUNE_PLAN_NARROW_CONSTANTS_H_
