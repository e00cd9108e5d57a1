// Makes text from a possibly hostile file safe to show to a person: nothing in it controls the terminal,
// begins a line of its own, or changes the direction of the text that follows.
//
// Uses only the standard library, since the runtime and the artifact's reader include it.
#ifndef ATTUNE_BASE_PRINTABLE_H_
#define ATTUNE_BASE_PRINTABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attune {

// The character that a text begins with.
struct TextCharacter {
  uint32_t code;  // the Unicode code point
  size_t bytes;   // 1 for a byte that is not valid UTF-8
  bool printable;
};

// `text` must not be empty. Not printable are control characters (C0, DEL, C1), line and paragraph
// separators, marks that change the direction of writing, and bytes that are not valid UTF-8.
inline TextCharacter FirstCharacter(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1, first >= 0x20 && first != 0x7F};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xC2 || first > 0xF4 || bytes > text.size()) return {first, 1, false};
  uint32_t code = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {first, 1, false};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLowest[bytes] || code > 0x10FFFF || surrogate) return {first, 1, false};
  const bool control = code < 0xA0;
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction = code == 0x200E || code == 0x200F || code == 0x061C ||
                         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return {code, bytes, !control && !separator && !direction};
}

// `text` with '?' in place of each character that is neither printable nor in `kept`.
inline std::string WithoutControls(std::string_view text, std::string_view kept = "") {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const TextCharacter character = FirstCharacter(text);
    if (character.printable || kept.find(text.front()) != std::string_view::npos) {
      out += text.substr(0, character.bytes);
    } else {
      out += '?';
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

// The same, cut to 80 bytes, for names in messages.
inline std::string Printable(std::string_view text) {
  constexpr size_t kMaxBytes = 80;
  std::string out = WithoutControls(text.substr(0, kMaxBytes));
  if (text.size() > kMaxBytes) out += "...";
  return out;
}

}  // namespace attune

#endif  // ATTUNE_BASE_PRINTABLE_H_
