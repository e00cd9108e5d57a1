// The shapes that a model states for what its nodes make, in their attribute _output_shapes.
#ifndef ATTUNE_IMPORT_TENSORFLOW_DECLARED_SHAPES_H_
#define ATTUNE_IMPORT_TENSORFLOW_DECLARED_SHAPES_H_

#include "import/common/shape_notices.h"
#include "import/tensorflow/op_context.h"

namespace attune::tensorflow {

// Compares the results of `node` with the shapes that it states, if it does. `version` is the graph's.
void CompareDeclared(const NodeDef& node, int version, const Outputs& outputs,
                     importing::ShapeNotices& notices);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_DECLARED_SHAPES_H_
