// Runs the reader of records on any bytes, as one line. A record that it takes must be written and read
// back identically, and keep its digest.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/fatal.h"
#include "tune/records/record_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto parsed = attune::ParseJsonLine(line);
  if (!parsed.ok()) return 0;
  const auto print = [](const auto& value) { return attune::ToJsonLine(value); };
  const std::string text = std::visit(print, *parsed);
  if (text.size() > attune::kMaxLineBytes) attune::Fatal("a line of ", text.size(), " bytes is written");
  const auto again = attune::ParseJsonLine(text);
  if (!again.ok()) attune::Fatal("a written line is refused: ", again.status().message(), "\n", text);
  if (std::visit(print, *again) != text) attune::Fatal("a line reads back as another one:\n", text);
  if (const auto* record = std::get_if<attune::Record>(&*parsed)) {
    if (attune::RecordDigest(*record) != attune::RecordDigest(std::get<attune::Record>(*again))) {
      attune::Fatal("a record's digest changes:\n", text);
    }
    const std::string description = attune::DescribeTask(record->task, 72);
    if (description.size() > 72)
      attune::Fatal("a description of ", description.size(), " bytes: ", description);
  }
  return 0;
}
