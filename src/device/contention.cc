#include "device/contention.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// Longer than a thread that is woken waits for a free processor, and far shorter than the turn that another
// program gets.
constexpr int64_t kWakeNanoseconds = 50'000;

std::set<std::string> LinesOf(std::span<const int> processors) {
  std::set<std::string> names;
  for (const int processor : processors) names.insert(absl::StrCat("cpu", processor));
  return names;
}

}  // namespace

ProcessWaits::ProcessWaits(pid_t root, std::string proc) : root_(root), proc_(std::move(proc)) {
  Look();
  Take();
}

void ProcessWaits::Look() {
  std::map<std::string, Thread> seen;
  std::vector<pid_t> processes = {root_};
  while (!processes.empty()) {
    const pid_t process = processes.back();
    processes.pop_back();
    std::error_code error;
    fs::directory_iterator entry(absl::StrCat(proc_, "/", process, "/task"), error), end;
    for (; !error && entry != end; entry.increment(error)) {
      const std::string thread = entry->path().string();
      if (process != root_) LookAt(thread, seen);
      std::ifstream children(thread + "/children");
      for (pid_t child = 0; children >> child;) processes.push_back(child);
    }
  }
  threads_ = std::move(seen);
}

void ProcessWaits::LookAt(const std::string& thread, std::map<std::string, Thread>& seen) {
  int64_t ran = 0;
  Thread now;
  std::ifstream file(thread + "/schedstat");
  if (!(file >> ran >> now.waited >> now.slices)) return;
  const auto known = threads_.find(thread);
  const Thread before = known == threads_.end() ? Thread() : known->second;
  const int64_t waited = now.waited - before.waited - kWakeNanoseconds * (now.slices - before.slices);
  constexpr double kNano = 1e-9;
  seconds_ += kNano * static_cast<double>(std::max<int64_t>(waited, 0));
  seen[thread] = now;
}

double ProcessWaits::Take() { return std::exchange(seconds_, 0); }

ProcessorUse::ProcessorUse(std::span<const int> processors, std::string stat)
    : names_(LinesOf(processors)), stat_(std::move(stat)) {}

std::optional<ProcessorUse::Ticks> ProcessorUse::Read() const {
  constexpr int kFields = 8, kIdle = 3, kWaitsForDisk = 4;  // guests' time is among that of users
  std::ifstream file(stat_);
  std::optional<Ticks> ticks;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name;
    if (!(fields >> name) || !names_.contains(name)) continue;
    if (!ticks) ticks = {0, 0};
    int64_t value = 0;
    for (int field = 0; field < kFields && fields >> value; ++field) {
      ticks->all += value;
      if (field != kIdle && field != kWaitsForDisk) ticks->used += value;
    }
  }
  return ticks;
}

std::optional<double> ProcessorUse::Take() {
  const std::optional<Ticks> now = Read();
  const std::optional<Ticks> before = std::exchange(before_, now);
  if (!now || !before || now->all <= before->all) return std::nullopt;
  return static_cast<double>(now->used - before->used) / static_cast<double>(now->all - before->all);
}

}  // namespace attune
