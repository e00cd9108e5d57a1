// Makes calls of an HttpClient, one at a time. Only for the sources of this folder.
#ifndef ATTUNE_HTTP_CLIENT_CONNECTION_H_
#define ATTUNE_HTTP_CLIENT_CONNECTION_H_

#include <curl/curl.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "http/client/call.h"
#include "http/client/client.h"
#include "http/client/curl_handles.h"
#include "http/client/encryption.h"
#include "http/client/transfer.h"
#include "http/client/url.h"

namespace attune {

// Connects when a call needs that, and keeps the connection open for the next one if the server does. Not
// thread safe.
class ClientConnection {
 public:
  // All arguments must outlive it. `encryption` is null for a server in the clear.
  static absl::StatusOr<std::unique_ptr<ClientConnection>> Make(const HttpUrl& url,
                                                                const HttpClientOptions& options,
                                                                const ClientEncryption* encryption);

  // As HttpClient::Send().
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call);

 private:
  ClientConnection(const HttpUrl& url, const HttpClientOptions& options, const ClientEncryption* encryption,
                   CurlMulti multi)
      : url_(url), options_(options), encryption_(encryption), multi_(std::move(multi)) {}

  bool is_cancelled() const {
    return options_.cancellation != nullptr && options_.cancellation->is_cancelled();
  }
  absl::StatusOr<HttpAnswer> Run(ClientTransfer& transfer);
  // Runs a transfer that was added until it ends, and returns its result. Fails if it is cancelled or too
  // slow.
  absl::StatusOr<CURLcode> RunToEnd(ClientTransfer& transfer);
  // Waits until the transfer has something to do. Returns whether bytes can be read or written.
  absl::StatusOr<bool> Wait(double seconds);

  const HttpUrl& url_;
  const HttpClientOptions& options_;
  const ClientEncryption* const encryption_;
  const CurlMulti multi_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_CONNECTION_H_
