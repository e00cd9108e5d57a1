// Imports any bytes as a TensorFlow model and as the index of a checkpoint: gives an error or a graph that
// verifies, in bounded time and memory.
#include <cstdint>
#include <string_view>

#include "graph/verify.h"
#include "import/common/import_once_for_test.h"
#include "import/tensorflow/import.h"
#include "import/tensorflow/sorted_table.h"
#include "reference/interpreter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const attune::Interpreter interpreter;
  attune::ImportOptions options;
  options.executor = &interpreter;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)attune::tensorflow::ReadSortedTable(bytes);
  const auto graph = attune::importing::ImportOnce(attune::ParseTensorflow(bytes, ""), options);
  if (graph.ok() && !attune::Verify(**graph).ok()) __builtin_trap();
  return 0;
}
