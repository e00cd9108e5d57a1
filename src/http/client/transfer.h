// One call of an HttpClient as a transfer of libcurl. Only for the sources of this folder.
#ifndef ATTUNE_HTTP_CLIENT_TRANSFER_H_
#define ATTUNE_HTTP_CLIENT_TRANSFER_H_

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/client/call.h"
#include "http/client/client.h"
#include "http/client/curl_handles.h"
#include "http/client/encryption.h"
#include "http/client/url.h"

namespace attune {

// Collects an answer as it comes, within a client's limits. Only for the sources of this folder.
class ReceivedAnswer {
 public:
  // Both arguments must outlive it.
  ReceivedAnswer(const HttpCall& call, const HttpClientOptions& options) : call_(call), options_(options) {}

  // Takes the next line of a head, or of the trailers behind a chunked body. `easy` has parsed it already.
  absl::Status TakeLine(std::string_view line, CURL* easy);
  // Takes the next piece of the body.
  absl::Status TakeBody(std::string_view piece);

  // Whether anything has come.
  bool has_begun() const { return has_begun_; }
  // Whether the head is complete; one like 100 Continue, which another follows, does not count.
  bool has_head() const { return has_head_; }
  // Whether the last error came from the call's `take`.
  bool has_caller_failed() const { return has_caller_failed_; }
  HttpAnswer& answer() { return answer_; }

 private:
  absl::Status TakeHead(int status, CURL* easy);

  const HttpCall& call_;
  const HttpClientOptions& options_;
  HttpAnswer answer_;
  size_t header_bytes_ = 0;
  int interim_ = 0;  // answers before the one that counts
  bool has_begun_ = false, is_in_head_ = false, has_head_ = false, has_caller_failed_ = false;
};

// Reads the body of a call while it is sent. Only for the sources of this folder.
class SentBody {
 public:
  // The call must outlive it.
  explicit SentBody(const HttpCall& call) : call_(call) {}

  int64_t bytes() const { return call_.source ? call_.source->bytes : std::ssize(call_.body); }
  // Whether the request announces a body, which may be empty.
  bool is_sent() const;
  // Fills the start of the buffer with the next bytes, and returns how many; 0 at the end. Fails if the
  // source does or is shorter than it says.
  absl::StatusOr<size_t> Read(std::span<char> buffer);
  // Whether the last error of Read() came from the source.
  bool has_source_failed() const { return has_source_failed_; }
  // Starts again from the first byte. Returns false if it was read from a source.
  bool Rewind();

 private:
  const HttpCall& call_;
  int64_t sent_ = 0;
  bool has_source_failed_ = false;
};

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
