// The words of the text form, with the position of each for messages.
#ifndef ATTUNE_GRAPH_LEXER_H_
#define ATTUNE_GRAPH_LEXER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

struct Token {
  enum class Kind {
    kEnd,
    kWord,         // an identifier or a number: letters, digits, '_', '.', a sign in front or after an e
    kString,       // in quotes, which `text` includes
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
  explicit Lexer(std::string_view input) : input_(input) { Next(); }

  const Token& token() const { return token_; }
  void Next();

  bool At(std::string_view text) const { return token_.kind != Token::Kind::kString && token_.text == text; }
  bool AtWord() const { return token_.kind == Token::Kind::kWord; }
  bool AtString() const { return token_.kind == Token::Kind::kString; }

  // Passes a token if it is `text`; Expect fails if it is not.
  bool Take(std::string_view text);
  absl::Status Expect(std::string_view text);

  // Passes the string at hand and returns its content, with escapes resolved.
  absl::StatusOr<std::string> TakeString();

  // "line 3:14: message, at "the token at hand"". ErrorAt is for a position that has been passed, and names
  // no token.
  absl::Status Error(std::string_view message) const;
  absl::Status ErrorAt(size_t offset, std::string_view message) const;

 private:
  std::string_view input_;
  size_t position_ = 0;
  Token token_;
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_LEXER_H_
