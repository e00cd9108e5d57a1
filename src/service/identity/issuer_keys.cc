#include "service/identity/issuer_keys.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_object.h"
#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int kMostWaiting = 2;     // requests, so that others find a thread
constexpr double kLookSeconds = 1;  // between two looks at the clock, at most

std::chrono::duration<double> Seconds(double seconds) { return std::chrono::duration<double>(seconds); }

}  // namespace

IssuerKeys::~IssuerKeys() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  wakes_.notify_all();
  has_news_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::Status IssuerKeys::Begin() {
  if (StartThread(thread_, [this] { Run(); })) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

absl::StatusOr<IssuerKeys::Known> IssuerKeys::Fetch() {
  Known known;
  ASSIGN_OR_RETURN(known.endpoints, DiscoverIssuer(issuer_.issuer, fetcher_));
  ASSIGN_OR_RETURN(const std::string text, GetText(known.endpoints.keys, fetcher_));
  auto keys = ParseKeySet(text);
  if (!keys.ok()) return Annotate(keys.status(), known.endpoints.keys);
  known.keys = *std::move(keys);
  return known;
}

bool IssuerKeys::IsDue(double now) const {
  if (asked_ > 0 && now < asked_at_ + timing_.least_seconds) return false;
  return is_wanted_ || !last_.ok() || now >= asked_at_ + timing_.refresh_seconds;
}

void IssuerKeys::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_ending_) {
    if (!IsDue(clock_.Now())) {
      wakes_.wait_for(lock, Seconds(std::min(kLookSeconds, timing_.least_seconds)));
      continue;
    }
    asked_at_ = clock_.Now();
    is_wanted_ = false;
    is_asking_ = true;
    lock.unlock();
    auto fetched = Fetch();
    lock.lock();
    is_asking_ = false;
    last_ = fetched.status();
    ++asked_;
    if (fetched.ok()) {
      known_ = *std::move(fetched);
    } else {
      Log(LogLevel::kWarning, "an issuer cannot be asked", "issuer", issuer_.name, "reason", last_.message());
    }
    has_news_.notify_all();
  }
}

std::vector<JsonWebKey> IssuerKeys::Candidates(const UnverifiedJwt& token) const {
  std::vector<JsonWebKey> found;
  std::ranges::copy_if(known_.keys, std::back_inserter(found), [&](const JsonWebKey& key) {
    return token.key_id.empty() || key.id.empty() || key.id == token.key_id;
  });
  return found;
}

void IssuerKeys::AwaitNews(std::unique_lock<std::mutex>& lock) {
  is_wanted_ = true;
  if ((!is_asking_ && !IsDue(clock_.Now())) || waiting_ >= kMostWaiting) return;
  wakes_.notify_all();
  ++waiting_;
  const int64_t before = asked_;
  has_news_.wait_for(lock, Seconds(timing_.wait_seconds), [&] { return asked_ > before || is_ending_; });
  --waiting_;
}

absl::Status IssuerKeys::Verify(const UnverifiedJwt& token) {
  if (std::ranges::find(issuer_.algorithms, token.algorithm) == issuer_.algorithms.end())
    return absl::UnauthenticatedError(
        absl::StrCat("the token is signed by ", token.algorithm, ", which is not taken from this issuer"));
  std::vector<JsonWebKey> keys;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    keys = Candidates(token);
    if (keys.empty()) {
      AwaitNews(lock);
      keys = Candidates(token);
    }
    if (keys.empty() && (!last_.ok() || is_asking_ || IsDue(clock_.Now())))
      return absl::UnavailableError(
          absl::StrCat("the keys of issuer ", issuer_.name, " cannot be had now; try again"));
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
