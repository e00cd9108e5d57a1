// Who may have how many streams of events, and for how long.
//
// Problem: a stream takes a connection and outlasts the authorization of its request. Idea: a token, a tenant
// and all together have a limited number of streams, fewer than there are connections; and the holder of a
// stream is authorized again at each beat, as if the request came now.
#ifndef ATTUNE_SERVICE_REST_STREAM_ADMISSION_H_
#define ATTUNE_SERVICE_REST_STREAM_ADMISSION_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "base/background_loop.h"
#include "http/event_stream.h"
#include "http/message.h"
#include "service/access/access.h"
#include "service/identity/callers.h"

namespace attune {

struct StreamLimits {
  int of_token = 200, of_tenant = 800, in_all = 2400;
  double beat_seconds = 2;
};

// Thread safe. The callers must outlive it.
class StreamAdmission {
 public:
  StreamAdmission(Callers& callers, const StreamLimits& limits) : callers_(callers), limits_(limits) {}

  // From now on it looks at each beat. Fails if the system has no thread to give.
  absl::Status Begin() { return loop_.Start(limits_.beat_seconds); }
  void Stop() { loop_.Stop(); }

  // Lets the caller, whom the request identifies, have this stream while the caller may ask for it with
  // `least`; or returns the problem, and the stream is closed.
  std::optional<HttpResponse> Admit(const HttpRequest& request, const AccessToken& caller, AccessRole least,
                                    std::shared_ptr<EventStream> stream);
  // Closes the streams of those who may not ask for them any more.
  void LookAgain();
  // How many were refused since the server has begun.
  int64_t refused() const;

 private:
  struct Admitted {
    HttpRequest credentials;  // what identifies the caller, without the rest of the request
    AccessToken caller;
    AccessRole least;
    std::shared_ptr<EventStream> stream;
  };

  bool MayStay(const Admitted& admitted);

  Callers& callers_;
  const StreamLimits limits_;
  mutable std::mutex mutex_;
  std::vector<Admitted> admitted_;
  int64_t num_refused_ = 0;
  BackgroundLoop loop_{[this] {
    LookAgain();
    return limits_.beat_seconds;
  }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_STREAM_ADMISSION_H_
