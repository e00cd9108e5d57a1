// Imports any bytes as an ONNX model: gives an error or a graph that verifies, in bounded time and memory.
#include <cstdint>
#include <string_view>

#include "graph/verify.h"
#include "import/common/import_once_for_test.h"
#include "import/onnx/import.h"
#include "reference/interpreter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const attune::Interpreter interpreter;
  attune::OnnxImportOptions options;
  options.executor = &interpreter;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto graph = attune::importing::ImportOnce(attune::ParseOnnx(bytes, ""), options);
  if (graph.ok() && !attune::Verify(**graph).ok()) __builtin_trap();
  return 0;
}
