#include "device/topology.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/processor_set.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int kNone = -1;

bool ParseNumber(std::string_view text, int* number) {
  return absl::SimpleAtoi(text, number) && *number >= 0 && *number < kMaxProcessors;
}

std::optional<std::vector<int>> ReadList(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  absl::StatusOr<std::vector<int>> list = ParseProcessorList(text);
  if (!list.ok() || list->empty()) return std::nullopt;
  return *std::move(list);
}

// The numbers of the processors that have a folder, such as "cpu12".
std::vector<int> ReadNumbers(const std::string& folder) {
  std::vector<int> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
    if (error) break;
    const std::string name = entry->path().filename().string();
    int number = 0;
    if (name.starts_with("cpu") && ParseNumber(std::string_view(name).substr(3), &number))
      numbers.push_back(number);
  }
  if (const auto online = ReadList(folder + "/online")) {
    std::erase_if(numbers, [&](int number) { return !std::ranges::binary_search(*online, number); });
  }
  std::ranges::sort(numbers);
  return numbers;
}

// The first processor that shares the last-level cache with this one; or kNone.
int ReadCache(const std::string& processor) {
  constexpr int kMostCaches = 16;
  int last_level = 0, first = kNone;
  for (int index = 0; index < kMostCaches; ++index) {
    const std::string cache = absl::StrCat(processor, "/cache/index", index);
    int level = 0;
    std::string type;
    if (!(std::ifstream(cache + "/level") >> level) || level <= last_level) continue;
    if (!(std::ifstream(cache + "/type") >> type) || type == "Instruction") continue;
    const auto sharing = ReadList(cache + "/shared_cpu_list");
    if (!sharing) continue;
    last_level = level;
    first = sharing->front();
  }
  return first;
}

}  // namespace

absl::StatusOr<std::vector<int>> ParseProcessorList(std::string_view text) {
  std::set<int> numbers;
  for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    int first = 0, last = 0;
    const bool is_range = part.find('-') != absl::string_view::npos;
    if (!ParseNumber(ends.first, &first) || !ParseNumber(is_range ? ends.second : ends.first, &last) ||
        last < first) {
      return InvalidInput("'", part, "' is not a number or range of processors");
    }
    for (int number = first; number <= last; ++number) numbers.insert(number);
  }
  return std::vector<int>(numbers.begin(), numbers.end());
}

std::vector<Processor> ReadTopology(const std::string& folder) {
  std::vector<Processor> processors;
  std::optional<int> first_unknown;  // the first one whose cache the files do not describe
  for (const int number : ReadNumbers(folder)) {
    const std::string files = absl::StrCat(folder, "/cpu", number);
    Processor processor = {.number = number, .core = number, .cache = ReadCache(files)};
    if (const auto siblings = ReadList(files + "/topology/thread_siblings_list"))
      processor.core = siblings->front();
    if (processor.cache == kNone) {
      if (!first_unknown) first_unknown = number;
      processor.cache = *first_unknown;
    }
    processors.push_back(processor);
  }
  return processors;
}

std::vector<int> AllowedProcessors() {
  const ProcessorSet allowed = ProcessorSet::OfThisThread();
  std::vector<int> numbers;
  for (int number = 0; number < kMaxProcessors; ++number) {
    if (allowed.Has(number)) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace attune
