// Imports any bytes as an exported PyTorch program: gives an error or a graph that verifies, in bounded
// time and memory.
//
// A mutated archive rarely has the checksums that it states. So bytes that are not an archive are taken as
// the JSON of a program and put into a valid archive, beside a storage from which the program may take its
// weights.
#include <zip.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "graph/verify.h"
#include "import/common/import_once_for_test.h"
#include "import/pytorch/import.h"
#include "reference/interpreter.h"

namespace {

constexpr std::string_view kWeights =
    R"({"config":{"w":{"path_name":"weight_0","is_param":true,"use_pickle":false,"tensor_meta":{"dtype":7,)"
    R"("sizes":[{"as_int":2},{"as_int":2}],"requires_grad":false,"device":{"type":"cpu","index":null},)"
    R"("strides":[{"as_int":2},{"as_int":1}],"storage_offset":{"as_int":0},"layout":7}}}})";
constexpr std::string_view kNoConstants = R"({"config":{}})";
constexpr std::string_view kStorage = "0123456789abcdef";

void Add(zip_t* zip, const char* name, std::string_view content) {
  zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
  if (source == nullptr || zip_file_add(zip, name, source, 0) < 0) std::abort();
}

// The archive around a program.
std::string Archive(std::string_view program) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_source_keep(source);
  zip_t* zip = zip_open_from_source(source, ZIP_TRUNCATE, &error);
  if (zip == nullptr) std::abort();
  Add(zip, "m/archive_format", "pt2");
  Add(zip, "m/models/model.json", program);
  Add(zip, "m/data/weights/model_weights_config.json", kWeights);
  Add(zip, "m/data/weights/weight_0", kStorage);
  Add(zip, "m/data/constants/model_constants_config.json", kNoConstants);
  if (zip_close(zip) != 0) std::abort();
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(source, &stat) != 0 || zip_source_open(source) != 0) std::abort();
  std::string bytes(stat.size, '\0');
  if (zip_source_read(source, bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size()))
    std::abort();
  zip_source_close(source);
  zip_source_free(source);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const attune::Interpreter interpreter;
  attune::PytorchImportOptions options;
  options.executor = &interpreter;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!attune::LooksLikePytorch(bytes)) bytes = Archive(bytes);
  const auto graph = attune::importing::ImportOnce(attune::ParsePytorch(std::string(bytes)), options);
  if (graph.ok() && !attune::Verify(**graph).ok()) __builtin_trap();
  return 0;
}
