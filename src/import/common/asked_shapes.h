// Shapes that a model asks for. Where data decides the size of a dimension, its bound stands for it in the
// graph, but not in the model: a number there is a number, even if it equals the bound.
#ifndef ATTUNE_IMPORT_COMMON_ASKED_SHAPES_H_
#define ATTUNE_IMPORT_COMMON_ASKED_SHAPES_H_

#include <vector>

#include "import/common/emitter.h"

namespace attune::importing {

// `x` in a shape in which one -1 may stand for what is left. Not supported where a number in it would have to
// be a size that data decides. `copied` are those of its dimensions that the model has taken from x, by their
// bounds; empty: none.
Value* ReshapeToAsked(Emitter& emitter, Value* x, Shape shape, const std::vector<bool>& copied = {});

// `x` broadcast to a shape of numbers. Not supported if x has a dimension that data decides.
Value* BroadcastToAsked(Emitter& emitter, Value* x, const Shape& shape);

// `x` without its dimensions of 1. Not supported if data decides which they are.
Value* SqueezeOnes(Emitter& emitter, Value* x);

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_ASKED_SHAPES_H_
