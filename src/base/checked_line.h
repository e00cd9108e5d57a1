// Texts that come from others and that people will read.
#ifndef ATTUNE_BASE_CHECKED_LINE_H_
#define ATTUNE_BASE_CHECKED_LINE_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {

// Fails unless the text is one line of printable UTF-8 with `least` to `most` bytes. The error begins with
// `what`, and does not repeat the text.
inline absl::Status CheckLine(std::string_view what, std::string_view text, size_t least, size_t most) {
  if (text.size() < least || text.size() > most)
    return InvalidInput(what, " has ", least, " to ", most, " bytes, and not ", text.size());
  if (WithoutControls(text) != text) return InvalidInput(what, " is not one line of printable text");
  return absl::OkStatus();
}

}  // namespace attune

#endif  // ATTUNE_BASE_CHECKED_LINE_H_
