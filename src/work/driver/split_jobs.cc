#include "work/driver/split_jobs.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace attune {

std::string FailureOfParts(const std::map<size_t, JobRecord>& parts) {
  std::string failure;
  for (const auto& [number, part] : parts) {
    if (part.state == JobState::kDone) continue;
    const bool has_failed = part.state == JobState::kFailed;
    if (!has_failed && !failure.empty()) continue;
    failure = absl::StrCat("part ", part.spec.part, has_failed ? ": " : " was cancelled", part.error);
    if (has_failed) break;
  }
  return failure;
}

void SplitJobs::End(size_t whole, size_t part, bool has_failed) {
  const auto found = wholes_.find(whole);
  if (found == wholes_.end()) return;
  found->second.unfinished.erase(part);
  found->second.has_failed = found->second.has_failed || has_failed;
}

std::vector<size_t> SplitJobs::UnfinishedOf(size_t whole) const {
  const auto found = wholes_.find(whole);
  if (found == wholes_.end()) return {};
  return {found->second.unfinished.begin(), found->second.unfinished.end()};
}

std::vector<size_t> SplitJobs::TakeHopeless() {
  std::vector<size_t> hopeless;
  for (auto& [number, whole] : wholes_) {
    if (!std::exchange(whole.has_failed, false)) continue;
    hopeless.insert(hopeless.end(), whole.unfinished.begin(), whole.unfinished.end());
  }
  return hopeless;
}

std::vector<size_t> SplitJobs::TakeReady() {
  std::vector<size_t> ready;
  for (const auto& [number, whole] : wholes_)
    if (whole.unfinished.empty()) ready.push_back(number);
  for (const size_t number : ready) wholes_.erase(number);
  return ready;
}

}  // namespace attune
