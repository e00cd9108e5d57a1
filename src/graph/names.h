// How the text form spells names: bare where they are identifiers, else in quotes.
#ifndef ATTUNE_GRAPH_NAMES_H_
#define ATTUNE_GRAPH_NAMES_H_

#include <string>
#include <string_view>

namespace attune {

// Whether `name` is a letter or underscore, then letters, digits, underscores and dots (all ASCII). A lone
// underscore is not an identifier: it stands for an absent input.
bool IsIdentifier(std::string_view name);

// Returns an identifier as it is, and another name in double quotes (base/text/quote.h).
std::string QuoteUnlessIdentifier(std::string_view name);

}  // namespace attune

#endif  // ATTUNE_GRAPH_NAMES_H_
