// The words of a loop nest's text form, with the position of each for messages.
#ifndef ATTUNE_TENSOR_LEXER_H_
#define ATTUNE_TENSOR_LEXER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

// Reads one token ahead. Spaces and comments (from // to the end of the line) separate tokens. The input
// must outlive the lexer.
class LoopNestLexer {
 public:
  explicit LoopNestLexer(std::string_view input) : input_(input) { Next(); }

  // A word (letters, digits, '_', '.', a sign in front or after the e of a number), or one other character;
  // empty at the end. Part of the input.
  std::string_view text() const { return text_; }
  bool AtWord() const { return is_word_; }
  // Whether the word at hand is directly followed by `c`.
  bool FollowedBy(char c) const { return position_ < input_.size() && input_[position_] == c; }
  size_t offset() const { return offset_; }
  void Next();

  // Passes a token if it is `text`; Expect fails if it is not.
  bool Take(std::string_view text);
  absl::Status Expect(std::string_view text);
  // Passes the word at hand, which names something: it starts with a letter or '_'.
  absl::StatusOr<std::string> TakeName(std::string_view what);
  absl::StatusOr<int64_t> TakeInteger();

  // "line 3:14: message, at 'the token at hand'". ErrorAt is for a position that has been passed, and names
  // no token.
  absl::Status Error(std::string_view message) const;
  absl::Status ErrorAt(size_t offset, std::string_view message) const;

 private:
  std::string_view input_;
  size_t position_ = 0;
  std::string_view text_;
  bool is_word_ = false;
  size_t offset_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_LEXER_H_
