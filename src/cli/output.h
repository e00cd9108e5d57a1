// What the commands print: results on stdout, everything else on stderr.
#ifndef ATTUNE_CLI_OUTPUT_H_
#define ATTUNE_CLI_OUTPUT_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/progress.h"
#include "nlohmann/json.hpp"

namespace attune {

using Json = nlohmann::ordered_json;

// Collects `text` for stdout; an error in writing it is FlushOutput's. Control characters but newlines, which
// could come from a file and drive a terminal, become '?': a name from a file is made one line before
// (WithoutControls).
void PrintResult(std::string_view text);
absl::Status FlushOutput();

// One line on stderr, "attune: …", or each line of an NS list as it is. Control characters become '?'.
void PrintError(const absl::Status& status);
// A line on stderr for what the user should know but did not ask for.
void PrintNote(std::string_view text);

// Writes `json` with a newline to the file, or to stdout for "-", control characters as \uXXXX.
absl::Status WriteJson(const Json& json, const std::string& destination);

// Rows of equally many cells, aligned, each cell as one line: the first row is the header. Columns of numbers
// go to the right.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right);

// "97.5 MB", "1.2 KB", "12 B"; powers of 1000.
std::string FormatBytes(uint64_t bytes);
// The size of weights: "97.5 MB", or where they are compressed "12.3 MB in the file and 97.5 MB in memory".
std::string FormatWeights(uint64_t stored, uint64_t in_memory);

// What the program is doing now, on stderr where that is a terminal; it disappears when the object dies.
// Thread safe.
class Progress final : public ProgressSink {
 public:
  Progress();
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(std::string_view stage);
  void Report(std::string_view what, int64_t done, int64_t total) override;

 private:
  const bool enabled_;
  std::mutex mutex_;
  std::string shown_;
};

}  // namespace attune

#endif  // ATTUNE_CLI_OUTPUT_H_
