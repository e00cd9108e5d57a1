// Runs the parser of the loop-nest IR's text on any bytes. A kernel that parses must print and parse back
// identically, and the verifier must accept or reject it without a crash.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fatal.h"
#include "tensor/stmt.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto nest = attune::ParseLoopNest({reinterpret_cast<const char*>(data), size});
  if (!nest.ok()) return 0;
  const std::string text = attune::Print(*nest);
  const auto again = attune::ParseLoopNest(text);
  if (!again.ok()) attune::Fatal("a printed kernel does not parse: ", again.status().message(), "\n", text);
  if (const std::string other = attune::Print(*again); other != text) {
    attune::Fatal("a printed kernel parses to another one:\n", text, other);
  }
  // The message may differ: variables with the same name get different ones in print.
  if (attune::VerifyLoopNest(*nest).ok() != attune::VerifyLoopNest(*again).ok()) {
    attune::Fatal("a printed kernel verifies otherwise:\n", text);
  }
  return 0;
}
