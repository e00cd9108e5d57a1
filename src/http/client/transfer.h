// One call of an HttpClient as a transfer of libcurl. Only for the sources of this folder.
#ifndef ATTUNE_HTTP_CLIENT_TRANSFER_H_
#define ATTUNE_HTTP_CLIENT_TRANSFER_H_

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/client/call.h"
#include "http/client/client.h"
#include "http/client/curl_handles.h"
#include "http/client/encryption.h"
#include "http/client/received_answer.h"
#include "http/client/sent_body.h"
#include "http/client/url.h"

namespace attune {

// Not thread safe.
class ClientTransfer {
 public:
  // All arguments must outlive the transfer. `encryption` is null for a server in the clear. InvalidArgument
  // if the call would not be one request.
  static absl::StatusOr<std::unique_ptr<ClientTransfer>> Make(const HttpUrl& url,
                                                              const HttpClientOptions& options,
                                                              const ClientEncryption* encryption,
                                                              const HttpCall& call);

  CURL* handle() const { return easy_.get(); }
  // Whether there is a connection to send the request on.
  bool is_connected() const { return is_connected_; }
  // When the call must be over. Moves to the call's own limit once there is a connection.
  std::chrono::steady_clock::time_point end() const { return end_; }
  // Notes that bytes could be read or written. Fails if too often nothing of an answer came of it.
  absl::Status NoteMove();
  // Returns the answer, or why there is none. The transfer has ended with the code.
  absl::StatusOr<HttpAnswer> Result(CURLcode code);
  // Whether the transfer has ended because one of the call's functions failed.
  bool has_caller_failed() const { return body_.has_source_failed() || answer_.has_caller_failed(); }

 private:
  ClientTransfer(const HttpClientOptions& options, const HttpCall& call);

  void SetHeaders(CurlOptions& options);
  void SetCallbacks(CurlOptions& options);
  absl::Status ErrorOf(CURLcode code) const;

  // Callbacks of libcurl, whose last argument is the transfer.
  static curl_socket_t OpenSocket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int BeginRequest(void* self, char*, char*, int, int);
  static size_t ReadBody(char* buffer, size_t size, size_t count, void* self);
  static int SeekBody(void* self, curl_off_t offset, int origin);
  static size_t TakeLine(char* line, size_t size, size_t count, void* self);
  static size_t TakeBody(char* piece, size_t size, size_t count, void* self);
  // Returns what tells libcurl to continue, or saves the error and returns what tells it to end the transfer.
  size_t Taken(const absl::Status& status, size_t bytes);

  const HttpCall& call_;
  const CurlEasy easy_;
  CurlLines headers_;
  std::array<char, CURL_ERROR_SIZE> why_ = {};
  std::chrono::steady_clock::time_point end_;
  SentBody body_;
  ReceivedAnswer answer_;
  absl::Status failed_;
  bool is_connected_ = false;
  // Whether the server may have the request, and has not begun to answer it.
  bool is_unanswered_ = false;
  bool is_repeat_refused_ = false;
  int empty_moves_ = 0;  // since a line of a head or a piece of a body was read or sent
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_TRANSFER_H_
