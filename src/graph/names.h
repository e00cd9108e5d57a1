// How the text form spells names: bare where they are identifiers, else in quotes.
#ifndef ATTUNE_GRAPH_NAMES_H_
#define ATTUNE_GRAPH_NAMES_H_

#include <string>
#include <string_view>

namespace attune {

// Whether `name` is a letter or underscore, then letters, digits, underscores and dots (all ASCII). A lone
// underscore is not an identifier: it stands for an absent input.
bool IsIdentifier(std::string_view name);

// `text` in double quotes. Quotes, backslashes and control characters are escaped (\" \\ \n \t \r, \xHH
// with two hexadecimal digits otherwise), and so is every byte above 0x7E: the result is printable ASCII.
std::string Quote(std::string_view text);

std::string QuoteUnlessIdentifier(std::string_view name);

}  // namespace attune

#endif  // ATTUNE_GRAPH_NAMES_H_
