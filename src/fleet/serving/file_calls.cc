#include "fleet/serving/file_calls.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace attune {

absl::StatusOr<std::unique_ptr<FileCalls::Call>> FileCalls::Begin(const FleetIdentity& who,
                                                                  std::function<void()> cancel) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto of_member = of_members_.find(who.id);
      of_member != of_members_.end() && of_member->second >= limits_.of_member)
    return absl::ResourceExhaustedError(
        absl::StrCat("a member sends or fetches at most ", limits_.of_member, " files at a time"));
  if (std::ssize(open_) >= limits_.in_all)
    return absl::UnavailableError(
        absl::StrCat("the server has ", limits_.in_all, " files on their way; try again soon"));
  ++of_members_[who.id];
  open_[++last_] = {.member = who.id, .cancel = std::move(cancel)};
  return std::make_unique<Call>(*this, last_);
}

// With the mutex, so that no call ends while it is being cancelled.
void FileCalls::CancelIdle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [number, call] : open_)
    if (clock_.Now() > call.waits_since + limits_.idle_seconds) call.cancel();
}

int64_t FileCalls::count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::ssize(open_);
}

void FileCalls::NoteWaiting(int64_t number, bool waits) {
  const std::lock_guard<std::mutex> lock(mutex_);
  open_.at(number).waits_since = waits ? clock_.Now() : INFINITY;
}

void FileCalls::End(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = open_.find(number);
  const auto of_member = of_members_.find(found->second.member);
  if (--of_member->second == 0) of_members_.erase(of_member);
  open_.erase(found);
}

}  // namespace attune
