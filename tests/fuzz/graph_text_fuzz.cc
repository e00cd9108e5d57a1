// Runs the parser of the Graph IR's text on any bytes. A graph that parses must print and parse back
// identically, and so must its clone.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fatal.h"
#include "graph/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto graph = attune::ParseGraph({reinterpret_cast<const char*>(data), size});
  if (!graph.ok()) return 0;
  const std::string text = attune::Print(**graph);
  const auto again = attune::ParseGraph(text);
  if (!again.ok()) attune::Fatal("a printed graph does not parse: ", again.status().message(), "\n", text);
  if (const std::string other = attune::Print(**again); other != text) {
    attune::Fatal("a printed graph parses to another one:\n", text, other);
  }
  if (attune::Print(*(*graph)->Clone()) != text) attune::Fatal("a clone differs:\n", text);
  return 0;
}
