// Declares the functions of the passes in the table.
#ifndef ATTUNE_OPT_PASSES_H_
#define ATTUNE_OPT_PASSES_H_

#include "opt/pass.h"

namespace attune {

#define PASS(function, ...) absl::StatusOr<bool> function##Pass(Graph& graph, const PassContext& context);
#include "opt/pass_table.inc"
#undef PASS

}  // namespace attune

#endif  // ATTUNE_OPT_PASSES_H_
