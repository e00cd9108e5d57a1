// One text of several parts, for messages. A chain of + does the same in ten times as many bytes of code,
// which the size of the runtime feels. Uses only the standard library, since the runtime includes it.
#ifndef ATTUNE_BASE_JOINED_H_
#define ATTUNE_BASE_JOINED_H_

#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace attune {

// A text or an integer. Lives as long as the text that it is made of.
class TextPart {
 public:
  TextPart(const char* text) : text_(text) {}         // NOLINT(google-explicit-constructor)
  TextPart(const std::string& text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
  TextPart(T number)  // NOLINT(google-explicit-constructor)
      : is_negative_(number < T{0}), number_(static_cast<uint64_t>(number)) {}

  [[gnu::noinline]] void AppendTo(std::string& text) const {
    if (text_.data() != nullptr) {
      text += text_;
      return;
    }
    if (is_negative_) text += '-';
    char digits[20];
    const uint64_t magnitude = is_negative_ ? 0 - number_ : number_;
    text.append(digits, std::to_chars(digits, digits + sizeof(digits), magnitude).ptr);
  }

 private:
  std::string_view text_;
  bool is_negative_ = false;
  uint64_t number_ = 0;
};

[[gnu::noinline]] inline std::string Joined(std::initializer_list<TextPart> parts) {
  std::string text;
  for (const TextPart& part : parts) part.AppendTo(text);
  return text;
}

}  // namespace attune

#endif  // ATTUNE_BASE_JOINED_H_
