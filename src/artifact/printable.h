// Text from a file that may be hostile, made fit for a message.
#ifndef ATTUNE_ARTIFACT_PRINTABLE_H_
#define ATTUNE_ARTIFACT_PRINTABLE_H_

#include <string>
#include <string_view>

namespace attune {

// `text`, cut to 80 bytes, with '?' for control characters: they could drive a terminal.
inline std::string Printable(std::string_view text) {
  constexpr size_t kMaxBytes = 80;
  std::string out(text.substr(0, kMaxBytes));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  if (text.size() > kMaxBytes) out += "...";
  return out;
}

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_PRINTABLE_H_
