#include "device/pin_tree.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "base/processor_set.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// The threads of a process; none if it has ended.
std::vector<pid_t> ThreadsOf(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  fs::directory_iterator entry("/proc/" + std::to_string(process) + "/task", error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (pid_t thread = 0; absl::SimpleAtoi(entry->path().filename().string(), &thread))
      threads.push_back(thread);
  }
  return threads;
}

}  // namespace

void PinProcessTree(std::span<const int> processors) { PinProcessTree(processors, getpid()); }

void PinProcessTree(std::span<const int> processors, pid_t root) {
  const ProcessorSet set(processors);
  std::vector<pid_t> processes = {root};
  while (!processes.empty()) {
    const pid_t process = processes.back();
    processes.pop_back();
    for (const pid_t thread : ThreadsOf(process)) {
      set.GiveTo(thread);
      std::ifstream children("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) +
                             "/children");
      for (pid_t child = 0; children >> child;) processes.push_back(child);
    }
  }
}

void PinOwnThreads(std::span<const int> processors) {
  const ProcessorSet set(processors);
  for (const pid_t thread : ThreadsOf(getpid())) set.GiveTo(thread);
}

}  // namespace attune
