// The published facts about an issuer: its keys and endpoints.
//
// Problem: keys change, an issuer may be away, and made-up tokens must neither cause a request to it each
// time nor keep the server's threads waiting. Idea: a thread asks every few minutes, and at once, though
// seldom, when a token names an unknown key; the known keys stay in force until newer ones come. Price: a key
// that the issuer withdraws counts for some minutes more.
#ifndef ATTUNE_SERVICE_IDENTITY_ISSUER_KEYS_H_
#define ATTUNE_SERVICE_IDENTITY_ISSUER_KEYS_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "base/clock.h"
#include "http/oidc/issuer_endpoints.h"
#include "http/oidc/jwt.h"
#include "http/oidc/oidc_fetcher.h"
#include "service/identity/issuers_file.h"

namespace attune {

struct IssuerKeysTiming {
  double refresh_seconds = 300;  // between questions that go well
  double least_seconds = 10;     // between any two
  double wait_seconds = 2;       // of a request whose key is not known yet
};

// Thread safe. The arguments must outlive it.
class IssuerKeys {
 public:
  IssuerKeys(const OidcIssuer& issuer, OidcFetcher& fetcher, const Clock& clock = SystemClock(),
             const IssuerKeysTiming& timing = {})
      : issuer_(issuer), fetcher_(fetcher), clock_(clock), timing_(timing) {}

  // Fails if the system has no thread to give.
  absl::Status Begin() { return loop_.Start(); }

  // Unauthenticated if the token is not signed by one of the issuer's keys; Unavailable if that cannot be
  // known now.
  absl::Status Verify(const UnverifiedJwt& token);
  // Unavailable if they are not known yet.
  absl::StatusOr<IssuerEndpoints> Endpoints();

 private:
  struct Known {
    IssuerEndpoints endpoints = {};
    std::vector<JsonWebKey> keys = {};
  };
  absl::StatusOr<Known> Fetch();
  // Asks the issuer if that is due.
  double Step();
  // Until the issuer is to be asked; 0: now. For those who hold the mutex, as the next two.
  double SecondsUntilDue() const;
  // The keys that may have signed the token; none are known: empty.
  std::vector<JsonWebKey> Candidates(const UnverifiedJwt& token) const;
  // Has the thread ask again, if that is not too soon, and waits a little for what comes.
  void AwaitNews(std::unique_lock<std::mutex>& lock);

  const OidcIssuer& issuer_;
  OidcFetcher& fetcher_;
  const Clock& clock_;
  const IssuerKeysTiming timing_;

  std::mutex mutex_;
  std::condition_variable has_news_;
  bool is_wanted_ = true, is_asking_ = false;
  int waiting_ = 0;
  int64_t asked_ = 0;  // how often
  double asked_at_ = 0;
  absl::Status last_ = absl::UnavailableError("was not asked yet");
  Known known_;

  BackgroundLoop loop_{[this] { return Step(); }, clock_};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_IDENTITY_ISSUER_KEYS_H_
