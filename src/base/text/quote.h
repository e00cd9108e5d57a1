// Text in quotes, for text forms and messages.
#ifndef ATTUNE_BASE_TEXT_QUOTE_H_
#define ATTUNE_BASE_TEXT_QUOTE_H_

#include <string>
#include <string_view>

namespace attune {

// Returns `text` in quotes of the given kind. These quotes, backslashes and control characters are escaped
// (\" \\ \n \t \r, \xHH with two lower-case hexadecimal digits otherwise), and so is every byte above 0x7E:
// the result is printable ASCII.
std::string Quote(std::string_view text, char quote = '"');

// Returns the value of a lower-case hexadecimal digit, -1 for any other character.
constexpr int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace attune

#endif  // ATTUNE_BASE_TEXT_QUOTE_H_
