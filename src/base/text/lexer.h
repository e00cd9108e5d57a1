// Reads the tokens of the text forms: of graphs, of loop nests and of rewrite rules.
#ifndef ATTUNE_BASE_TEXT_LEXER_H_
#define ATTUNE_BASE_TEXT_LEXER_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

struct Token {
  enum class Kind {
    kEnd,
    kWord,         // an identifier or a number: letters, digits, '_', '.', a sign in front or after an e
    kString,       // in double quotes, which `text` includes
    kPunctuation,  // one character
  };
  Kind kind = Kind::kEnd;
  std::string_view text;  // part of the input
  size_t offset = 0;
};

// Reads one token ahead. Spaces and comments (from // to the end of the line) separate tokens. The input
// must outlive the lexer.
class Lexer {
 public:
  // Error puts tokens in quotes of the given kind.
  explicit Lexer(std::string_view input, char quote = '"') : input_(input), quote_(quote) { Next(); }

  const Token& token() const { return token_; }
  void Next();

  bool At(std::string_view text) const { return token_.kind != Token::Kind::kString && token_.text == text; }
  bool AtEnd() const { return token_.kind == Token::Kind::kEnd; }
  bool AtWord() const { return token_.kind == Token::Kind::kWord; }
  bool AtString() const { return token_.kind == Token::Kind::kString; }
  // Whether the token is a word that starts with a letter or an underscore.
  bool AtName() const;
  // Whether the token is directly followed by `c`.
  bool IsFollowedBy(char c) const { return position_ < input_.size() && input_[position_] == c; }

  // Passes the token if it is `text`; Expect fails if it is not.
  bool Take(std::string_view text);
  absl::Status Expect(std::string_view text);

  // Passes the string at hand and returns its content, with escapes resolved.
  absl::StatusOr<std::string> TakeString();

  // Passes the integer at hand and returns it. Fails if it is not in [low, high].
  absl::StatusOr<int64_t> TakeInteger(int64_t low = std::numeric_limits<int64_t>::min(),
                                      int64_t high = std::numeric_limits<int64_t>::max());

  // "line 3:14: message, at "the token at hand"". ErrorAt is for a position that has been passed, and names
  // no token.
  absl::Status Error(std::string_view message) const;
  absl::Status ErrorAt(size_t offset, std::string_view message) const;

 private:
  std::string_view input_;
  char quote_;
  size_t position_ = 0;
  Token token_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_TEXT_LEXER_H_
