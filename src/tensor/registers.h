// Which buffers can live in registers.
//
// A register has a name and no address: an element that lives there is chosen when code is emitted. So every
// index of such a buffer must be a constant once loops are unrolled and vectorized.
#ifndef ATTUNE_TENSOR_REGISTERS_H_
#define ATTUNE_TENSOR_REGISTERS_H_

#include <map>

#include "tensor/stmt.h"

namespace attune {

// The variables in scope, and whether each is a constant when its statement is emitted, in each lane.
using EmittedVariables = std::map<const VarNode*, bool>;

// Whether each iteration of a loop is emitted by itself, or as a lane, so that the variable is a constant
// where the start of the loop is one.
bool EmitsIterations(const StmtNode& loop);

// Whether an expression is a constant when it is emitted.
bool IsEmittedConstant(const Expr& e, const EmittedVariables& variables);

// Whether matrix loops write the buffer of an allocation, which then becomes tile registers, where the target
// has any.
bool IsOfTiles(const StmtNode& allocate);

// The nest with those register buffers moved to scratch memory that an access indexes by anything but
// constants: a schedule asks for registers before it is known which loops around an access stay loops.
LoopNest WithIndexedBuffersInMemory(LoopNest nest);

}  // namespace attune

#endif  // ATTUNE_TENSOR_REGISTERS_H_
