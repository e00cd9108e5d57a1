#include "base/text/lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "base/status.h"
#include "base/text/quote.h"

namespace attune {
namespace {

bool IsWordCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

// The length of the word that `text` starts with, 0 where it starts with none.
size_t WordLength(std::string_view text) {
  size_t length = text.size() > 1 && text[0] == '-' && IsWordCharacter(text[1]) ? 1 : 0;
  const bool decimal = length < text.size() &&
                       absl::ascii_isdigit(static_cast<unsigned char>(text[length])) &&
                       !absl::StartsWith(text.substr(length), "0x");
  while (length < text.size()) {
    const bool sign = decimal && (text[length] == '-' || text[length] == '+') && text[length - 1] == 'e';
    if (!IsWordCharacter(text[length]) && !sign) break;
    ++length;
  }
  return length;
}

// The length of the string literal that `text` starts with, or of all of it where that does not end.
size_t StringLength(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && text[length] != '"' && text[length] != '\n') {
    length += text[length] == '\\' ? 2 : 1;
  }
  return std::min(length + 1, text.size());
}

// The character that the escape at the front of `text` (after the backslash) stands for, or -1. Passes it.
int TakeEscape(std::string_view& text) {
  if (text.empty()) return -1;
  const char kind = text.front();
  text.remove_prefix(1);
  switch (kind) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '"':
    case '\\':
      return kind;
    case 'x': {
      if (text.size() < 2 || HexDigit(text[0]) < 0 || HexDigit(text[1]) < 0) return -1;
      const int byte = HexDigit(text[0]) * 16 + HexDigit(text[1]);
      text.remove_prefix(2);
      return byte;
    }
    default:
      return -1;
  }
}

}  // namespace

void Lexer::Next() {
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
  size_t length = 0;
  if (rest.empty()) {
    token_.kind = Token::Kind::kEnd;
  } else if (rest[0] == '"') {
    token_.kind = Token::Kind::kString;
    length = StringLength(rest);
  } else if (length = WordLength(rest); length > 0) {
    token_.kind = Token::Kind::kWord;
  } else {
    token_.kind = Token::Kind::kPunctuation;
    length = 1;
  }
  token_.text = rest.substr(0, length);
  token_.offset = position_;
  position_ += length;
}

bool Lexer::AtName() const {
  return AtWord() &&
         (absl::ascii_isalpha(static_cast<unsigned char>(token_.text[0])) || token_.text[0] == '_');
}

bool Lexer::Take(std::string_view text) {
  if (!At(text)) return false;
  Next();
  return true;
}

absl::Status Lexer::Expect(std::string_view text) {
  if (Take(text)) return absl::OkStatus();
  return Error(absl::StrCat("expected '", text, "'"));
}

absl::StatusOr<std::string> Lexer::TakeString() {
  if (!AtString()) return Error("expected a string in quotes");
  std::string_view body = token_.text.substr(1);
  std::string content;
  while (!body.empty() && body.front() != '"') {
    int c = static_cast<unsigned char>(body.front());
    body.remove_prefix(1);
    if (c == '\\') c = TakeEscape(body);
    if (c < 0) return Error("the string has an unknown escape");
    content += static_cast<char>(c);
  }
  if (body != "\"") return Error("the string does not end on its line");
  Next();
  return content;
}

absl::StatusOr<int64_t> Lexer::TakeInteger(int64_t low, int64_t high) {
  int64_t value;
  if (!AtWord() || !absl::SimpleAtoi(token_.text, &value)) return Error("expected an integer of 64 bits");
  if (value < low || value > high) {
    return Error(absl::StrCat("expected an integer in [", low, ", ", high, "]"));
  }
  Next();
  return value;
}

absl::Status Lexer::Error(std::string_view message) const {
  constexpr size_t kMaxShown = 20;
  const std::string shown = AtEnd() ? "the end" : Quote(token_.text.substr(0, kMaxShown), quote_);
  return ErrorAt(token_.offset, absl::StrCat(message, ", at ", shown));
}

absl::Status Lexer::ErrorAt(size_t offset, std::string_view message) const {
  const std::string_view before = input_.substr(0, offset);
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t column = offset - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0: the first line
  return InvalidInput("line ", line, ":", column, ": ", message);
}

}  // namespace attune
