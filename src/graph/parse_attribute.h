// The parts of the text form that need no graph: types and attributes.
#ifndef ATTUNE_GRAPH_PARSE_ATTRIBUTE_H_
#define ATTUNE_GRAPH_PARSE_ATTRIBUTE_H_

#include "absl/status/statusor.h"
#include "base/text/lexer.h"
#include "graph/attributes.h"
#include "graph/type.h"

namespace attune {

// A type as ToString prints it, valid by CheckType (infer.h).
absl::StatusOr<TensorType> ParseType(Lexer& lexer);

// A value of `kind`. A tensor has exactly as many elements as its shape says, so that it never takes more
// memory than a small multiple of the text.
absl::StatusOr<Attribute> ParseAttribute(Lexer& lexer, AttributeKind kind);

}  // namespace attune

#endif  // ATTUNE_GRAPH_PARSE_ATTRIBUTE_H_
