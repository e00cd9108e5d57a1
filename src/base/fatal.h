// Ends the program after a broken invariant of our own; never used for bad input.
#ifndef ATTUNE_BASE_FATAL_H_
#define ATTUNE_BASE_FATAL_H_

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace attune {

// Prints the message to stderr and aborts.
template <typename... Args>
[[noreturn]] void Fatal(const Args&... args) {
  std::fputs(absl::StrCat("attune: internal error: ", args..., "\n").c_str(), stderr);
  std::abort();
}

}  // namespace attune

#endif  // ATTUNE_BASE_FATAL_H_
