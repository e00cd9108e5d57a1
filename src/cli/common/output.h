// Functions that print: results to stdout, everything else to stderr.
#ifndef ATTUNE_CLI_COMMON_OUTPUT_H_
#define ATTUNE_CLI_COMMON_OUTPUT_H_

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

// Collects `text` for stdout; FlushOutput returns the error if it cannot be written. Replaces control
// characters except newlines by '?', since they could come from a file and drive a terminal. Names from
// files must first be made a single line (WithoutControls).
void PrintResult(std::string_view text);
absl::Status FlushOutput();

// Prints one line to stderr, "attune: …", or each line of what is not supported as it is. Control characters
// become '?'.
void PrintError(const absl::Status& status);
// Prints a line to stderr that the user should know but did not ask for.
void PrintNote(std::string_view text);

// Writes `json` with a newline to the file, or to stdout for "-", control characters as \uXXXX.
absl::Status WriteJson(const Json& json, const std::string& destination);

// Aligns rows with the same number of cells, each cell on one line; the first row is the header. `right`
// tells which columns are right-aligned, such as numbers.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& right);

// "97.5 MB", "1.2 KB", "12 B"; powers of 1000.
std::string FormatBytes(uint64_t bytes);
// The size of weights: "97.5 MB", or if they are compressed, "12.3 MB in the file and 97.5 MB in memory".
std::string FormatWeights(uint64_t stored, uint64_t in_memory);

// Shows on stderr, if that is a terminal, what the program is doing; the destructor erases the line. Thread
// safe.
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

#endif  // ATTUNE_CLI_COMMON_OUTPUT_H_
