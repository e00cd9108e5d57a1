#include "tensor/lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "base/status.h"

namespace attune {
namespace {

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

// The length of the word that `text` starts with, 0 where it starts with none.
size_t WordLength(std::string_view text) {
  size_t length = text.size() > 1 && text[0] == '-' && IsWordCharacter(text[1]) ? 1 : 0;
  const bool number = length < text.size() && IsDigit(text[length]);
  while (length < text.size()) {
    const bool sign = number && (text[length] == '-' || text[length] == '+') && text[length - 1] == 'e';
    if (!IsWordCharacter(text[length]) && !sign) break;
    ++length;
  }
  return length;
}

}  // namespace

void LoopNestLexer::Next() {
  while (position_ < input_.size()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(input_[position_]))) {
      ++position_;
    } else if (absl::StartsWith(input_.substr(position_), "//")) {
      position_ = std::min(input_.find('\n', position_), input_.size());
    } else {
      break;
    }
  }
  const std::string_view rest = input_.substr(position_);
  const size_t word = WordLength(rest);
  is_word_ = word > 0;
  text_ = rest.substr(0, std::max<size_t>(word, 1));
  offset_ = position_;
  position_ += text_.size();
}

bool LoopNestLexer::Take(std::string_view text) {
  if (text_ != text) return false;
  Next();
  return true;
}

absl::Status LoopNestLexer::Expect(std::string_view text) {
  if (Take(text)) return absl::OkStatus();
  return Error(absl::StrCat("expected '", text, "'"));
}

absl::StatusOr<std::string> LoopNestLexer::TakeName(std::string_view what) {
  if (!is_word_ || IsDigit(text_[0]) || text_[0] == '-' || text_[0] == '.') {
    return Error(absl::StrCat("expected the name of ", what));
  }
  std::string name(text_);
  Next();
  return name;
}

absl::StatusOr<int64_t> LoopNestLexer::TakeInteger() {
  int64_t value;
  if (!is_word_ || !absl::SimpleAtoi(text_, &value)) return Error("expected an integer of 64 bits");
  Next();
  return value;
}

absl::Status LoopNestLexer::Error(std::string_view message) const {
  constexpr size_t kMaxShown = 20;
  const std::string shown =
      text_.empty() ? "the end" : absl::StrCat("'", absl::CHexEscape(text_.substr(0, kMaxShown)), "'");
  return ErrorAt(offset_, absl::StrCat(message, ", at ", shown));
}

absl::Status LoopNestLexer::ErrorAt(size_t offset, std::string_view message) const {
  const std::string_view before = input_.substr(0, offset);
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t column = offset - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0: the first line
  return InvalidInput("line ", line, ":", column, ": ", message);
}

}  // namespace attune
