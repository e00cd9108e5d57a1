#include "fleet/server/promised_keys.h"

#include <cstddef>
#include <iterator>

#include "base/status.h"

namespace attune {
namespace {

constexpr size_t kMostKeyBytes = 256;

}  // namespace

absl::Status PromisedKeys::Promise(const std::string& key, double now) {
  if (key.empty() || key.size() > kMostKeyBytes) return InvalidInput("a key has 1 to 256 bytes");
  std::erase_if(ends_, [&](const auto& entry) { return entry.second <= now; });
  if (std::ssize(ends_) >= kMostKeys && !ends_.contains(key))
    return absl::ResourceExhaustedError("too many keys are promised");
  ends_[key] = now + kPromiseSeconds;
  return absl::OkStatus();
}

bool PromisedKeys::Has(const std::string& key, double now) const {
  const auto end = ends_.find(key);
  return end != ends_.end() && now < end->second;
}

}  // namespace attune
