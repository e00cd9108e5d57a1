// One connection of an HttpClient. For the sources of this folder alone.
#ifndef ATTUNE_HTTP_CLIENT_CONNECTION_H_
#define ATTUNE_HTTP_CLIENT_CONNECTION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "http/client/call.h"
#include "http/client/client.h"
#include "http/client/encryption.h"
#include "http/client/url.h"

namespace attune {

// Not thread safe.
class ClientConnection {
 public:
  // `encryption` must outlive it; null: none.
  static absl::StatusOr<std::unique_ptr<ClientConnection>> Connect(const HttpUrl& url,
                                                                   const HttpClientOptions& options,
                                                                   ClientEncryption* encryption);
  virtual ~ClientConnection() = default;

  // After an error, the connection is useless.
  virtual absl::StatusOr<HttpAnswer> Send(const HttpCall& call) = 0;
  // Whether another call may be sent: the server keeps the connection, and has sent nothing unasked.
  virtual bool CanBeUsedAgain() = 0;
  // Of the last call: whether some of its answer has come.
  virtual bool HasAnswered() const = 0;
  // Of the last call: the error of one of its functions.
  virtual const absl::Status& caller_error() const = 0;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_CONNECTION_H_
