#include "device/machine_facts.h"

#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "base/cpu_limit.h"
#include "base/memory.h"
#include "device/first_line.h"

namespace attune {
namespace {

// The text after "name :" or "name:" in a file of such lines.
std::string FieldOf(const std::string& path, absl::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || absl::StripAsciiWhitespace(line.substr(0, colon)) != name) continue;
    return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  return "";
}

// "16384 kB".
int64_t BytesOf(const std::string& text) {
  int64_t number = 0;
  constexpr int64_t kKib = 1024;
  const std::string digits = text.substr(0, text.find(' '));
  return absl::SimpleAtoi(digits, &number) && number < INT64_MAX / kKib ? number * kKib : 0;
}

}  // namespace

MachineFacts ReadMachineFacts(const std::string& root) {
  const std::string proc = root + "/proc/",
                    governor = root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
  MachineFacts facts = {.processor = FieldOf(proc + "cpuinfo", "model name"),
                        .kernel = FirstLine(proc + "sys/kernel/osrelease"),
                        .memory_bytes = BytesOf(FieldOf(proc + "meminfo", "MemTotal")),
                        .available_bytes = BytesOf(FieldOf(proc + "meminfo", "MemAvailable")),
                        .memory_limit = MemoryLimit(root),
                        .cpu_limit = CpuLimit(root),
                        .governor = FirstLine(governor),
                        .load = std::nullopt};
  if (facts.memory_bytes > 0 && facts.memory_limit >= facts.memory_bytes) facts.memory_limit.reset();
  double load = 0;
  if (std::ifstream(proc + "loadavg") >> load) facts.load = load;
  return facts;
}

}  // namespace attune
