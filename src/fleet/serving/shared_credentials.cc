#include "fleet/serving/shared_credentials.h"

#include <algorithm>
#include <iterator>

namespace attune {

bool SharedCredentials::NoteReplaced(const std::string& name, double now) {
  std::erase_if(members_, [&](const auto& entry) {
    const Member& member = entry.second;
    return member.replaced.back() + kWithinSeconds < now && member.shared_until < now;
  });
  Member& member = members_[name];
  member.replaced.push_back(now);
  if (std::ssize(member.replaced) > kReplaced) member.replaced.pop_front();
  const bool was_shared = now < member.shared_until;
  const bool comes_often =
      std::ssize(member.replaced) == kReplaced && now - member.replaced.front() <= kWithinSeconds;
  if (!comes_often && !was_shared) return false;
  member.shared_until = now + kRememberedSeconds;
  return !was_shared;
}

bool SharedCredentials::IsShared(const std::string& name, double now) const {
  const auto found = members_.find(name);
  return found != members_.end() && now < found->second.shared_until;
}

int64_t SharedCredentials::NumShared(double now) const {
  return std::ranges::count_if(members_, [&](const auto& entry) { return now < entry.second.shared_until; });
}

}  // namespace attune
