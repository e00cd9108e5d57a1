#include "service/identity/issuer_keys.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_object.h"
#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int kMostWaiting = 2;  // requests, so that others find a thread

}  // namespace

absl::StatusOr<IssuerKeys::Known> IssuerKeys::Fetch() {
  Known known;
  ASSIGN_OR_RETURN(known.endpoints, DiscoverIssuer(issuer_.issuer, fetcher_));
  ASSIGN_OR_RETURN(const std::string text, GetText(known.endpoints.keys, fetcher_));
  auto keys = ParseKeySet(text);
  if (!keys.ok()) return Annotate(keys.status(), known.endpoints.keys);
  known.keys = *std::move(keys);
  return known;
}

double IssuerKeys::SecondsUntilDue() const {
  if (asked_ == 0) return 0;
  const bool is_urgent = is_wanted_ || !last_.ok();
  const double pause =
      is_urgent ? timing_.least_seconds : std::max(timing_.least_seconds, timing_.refresh_seconds);
  return std::max(0.0, asked_at_ + pause - clock_.Now());
}

double IssuerKeys::Step() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const double pause = SecondsUntilDue(); pause > 0) return pause;
    asked_at_ = clock_.Now();
    is_wanted_ = false;
    is_asking_ = true;
  }
  auto fetched = Fetch();
  const std::lock_guard<std::mutex> lock(mutex_);
  is_asking_ = false;
  last_ = fetched.status();
  ++asked_;
  if (fetched.ok()) {
    known_ = *std::move(fetched);
  } else {
    Log(LogLevel::kWarning, "an issuer does not answer", "issuer", issuer_.name, "reason", last_.message());
  }
  has_news_.notify_all();
  return SecondsUntilDue();
}

std::vector<JsonWebKey> IssuerKeys::Candidates(const UnverifiedJwt& token) const {
  std::vector<JsonWebKey> found;
  std::ranges::copy_if(known_.keys, std::back_inserter(found), [&](const JsonWebKey& key) {
    return token.key_id.empty() || key.id.empty() || key.id == token.key_id;
  });
  return found;
}

void IssuerKeys::AwaitNews(std::unique_lock<std::mutex>& lock) {
  if (!std::exchange(is_wanted_, true)) loop_.Wake();
  if ((!is_asking_ && SecondsUntilDue() > 0) || waiting_ >= kMostWaiting) return;
  ++waiting_;
  const int64_t before = asked_;
  has_news_.wait_for(lock, std::chrono::duration<double>(timing_.wait_seconds),
                     [&] { return asked_ > before; });
  --waiting_;
}

absl::Status IssuerKeys::Verify(const UnverifiedJwt& token) {
  if (std::ranges::find(issuer_.algorithms, token.algorithm) == issuer_.algorithms.end())
    return absl::UnauthenticatedError(
        absl::StrCat("the token is signed by ", token.algorithm, ", which is not accepted from this issuer"));
  std::vector<JsonWebKey> keys;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    keys = Candidates(token);
    if (keys.empty()) {
      AwaitNews(lock);
      keys = Candidates(token);
    }
    if (keys.empty() && (!last_.ok() || is_asking_ || SecondsUntilDue() == 0))
      return absl::UnavailableError(
          absl::StrCat("the keys of issuer ", issuer_.name, " cannot be read now; try again"));
  }
  absl::Status refused =
      absl::UnauthenticatedError("the token is signed by a key that its issuer does not have");
  for (const JsonWebKey& key : keys) {
    const absl::Status verified = VerifySignature(token, key);
    if (verified.ok()) return verified;
    refused = verified;
  }
  return refused;
}

absl::StatusOr<IssuerEndpoints> IssuerKeys::Endpoints() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (known_.endpoints.token.empty()) AwaitNews(lock);
  if (known_.endpoints.token.empty())
    return absl::UnavailableError(absl::StrCat("issuer ", issuer_.name, " does not answer; try again"));
  return known_.endpoints;
}

}  // namespace attune
