#include "http/client/transfer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int64_t kLargeBodyBytes = int64_t{64} << 10;
// A chunk's length or an encrypted record may come in several pieces, but not in this many.
constexpr int kMaxEmptyMoves = 100;
constexpr std::string_view kBreaks("\r\n\0", 3);

SteadyClock::time_point After(double seconds) {
  return SteadyClock::now() +
         std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

// The server does the same once as twice.
bool IsIdempotent(const HttpCall& call) {
  return !call.source && (call.method == "GET" || call.method == "HEAD" || call.method == "PUT" ||
                          call.method == "DELETE" || call.method == "OPTIONS");
}

bool IsLine(std::string_view text) { return text.find_first_of(kBreaks) == std::string_view::npos; }

absl::Status NoMemory() { return absl::ResourceExhaustedError("there is no memory for a call"); }

absl::Status CheckRequest(const HttpCall& call) {
  const auto is_target = [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '#';
  };
  bool is_fine = IsLine(call.method) && call.method.find(' ') == std::string::npos &&
                 call.target.starts_with('/') && std::ranges::all_of(call.target, is_target);
  for (const auto& [name, value] : call.headers)
    is_fine = is_fine && IsLine(name) && IsLine(value) && name.find_first_of(":;") == std::string::npos;
  return is_fine ? absl::OkStatus()
                 : InvalidInput("the request has a line break or a space where none may be");
}

void SetRequest(const HttpUrl& url, const HttpCall& call, const SentBody& body, CurlOptions& options) {
  options.Set(CURLOPT_URL, absl::StrCat(url.Origin(), call.target).c_str());
  options.Set(CURLOPT_PATH_AS_IS, 1L);
  options.Set(CURLOPT_PROTOCOLS_STR, "http,https");
  options.Set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  if (call.method == "HEAD") {
    options.Set(CURLOPT_NOBODY, 1L);
  } else {
    options.Set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
  }
  if (body.is_sent()) {
    options.Set(CURLOPT_UPLOAD, 1L);
    options.Set(CURLOPT_INFILESIZE_LARGE, curl_off_t{body.bytes()});
  }
  // A proxy elsewhere must not see what is sent to this machine.
  if (url.IsLoopback()) options.Set(CURLOPT_PROXY, "");
  options.Set(CURLOPT_PROXYAUTH, static_cast<long>(CURLAUTH_ANY));
  options.Set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

void SetLimits(double connect_seconds, CurlOptions& options) {
  // Libcurl divides this among the addresses of a host. 0 would mean its default.
  constexpr double kMs = 1e3, kMaxMs = 1e9;
  options.Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::clamp(connect_seconds * kMs, 1.0, kMaxMs)));
  options.Set(CURLOPT_NOSIGNAL, 1L);
  // The system's function for names can neither be bounded nor ended. The call does not wait for its thread.
  options.Set(CURLOPT_QUICK_EXIT, 1L);
}

constexpr int kMaxInterim = 8;
constexpr int kFirstFinalStatus = 200;

}  // namespace

absl::Status ReceivedAnswer::TakeLine(std::string_view line, CURL* easy) {
  has_begun_ = true;
  // A proxy that wants credentials answers before the server does.
  if (!is_in_head_ && (!has_head_ || line.starts_with("HTTP/"))) {
    is_in_head_ = true;
    has_head_ = false;
    header_bytes_ = 0;
  }
  header_bytes_ += line.size();
  if (header_bytes_ > options_.most_header_bytes)
    return absl::ResourceExhaustedError("the header of its answer is too large");
  const bool is_last = line == "\r\n" || line == "\n";
  if (!is_in_head_ || !is_last) return absl::OkStatus();
  is_in_head_ = false;
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (status >= kFirstFinalStatus) return TakeHead(static_cast<int>(status), easy);
  return ++interim_ < kMaxInterim ? absl::OkStatus()
                                  : absl::FailedPreconditionError("announces answers without an end");
}

absl::Status ReceivedAnswer::TakeHead(int status, CURL* easy) {
  answer_ = {.status = status};
  constexpr int kLastRequest = -1;
  for (curl_header* field = nullptr;
       (field = curl_easy_nextheader(easy, CURLH_HEADER, kLastRequest, field)) != nullptr;) {
    std::string& value = answer_.headers[absl::AsciiStrToLower(field->name)];
    absl::StrAppend(&value, value.empty() ? "" : ", ", field->value);
  }
  long version = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
  if (version != CURL_HTTP_VERSION_1_1 && version != CURL_HTTP_VERSION_1_0)
    return absl::FailedPreconditionError("this is not HTTP/1.1, but another version");
  // Libcurl would take the last of several.
  const std::string_view length = answer_.Header("content-length");
  if (uint64_t bytes = 0; !length.empty() && !absl::SimpleAtoi(length, &bytes))
    return absl::FailedPreconditionError("this is not HTTP/1.1: Content-Length is not a number");
  has_head_ = true;
  return absl::OkStatus();
}

absl::Status ReceivedAnswer::TakeBody(std::string_view piece) {
  if (call_.take && answer_.status / 100 == 2) {
    const absl::Status taken = call_.take(answer_, piece);
    has_caller_failed_ = !taken.ok();
    return taken;
  }
  if (answer_.body.size() + piece.size() > options_.most_body_bytes)
    return absl::ResourceExhaustedError(
        absl::StrCat("its answer has more than ", options_.most_body_bytes, " bytes"));
  answer_.body += piece;
  return absl::OkStatus();
}

bool SentBody::is_sent() const {
  return bytes() > 0 || call_.source || call_.method == "POST" || call_.method == "PUT" ||
         call_.method == "PATCH";
}

absl::StatusOr<size_t> SentBody::Read(std::span<char> buffer) {
  const int64_t left = bytes() - sent_;
  buffer = buffer.first(std::min(buffer.size(), static_cast<size_t>(std::max<int64_t>(left, 0))));
  if (buffer.empty()) return 0;
  size_t count = 0;
  if (call_.source) {
    const absl::StatusOr<size_t> read = call_.source->read(buffer);
    has_source_failed_ = !read.ok();
    RETURN_IF_ERROR(read.status());
    if (*read == 0 || *read > buffer.size()) return InvalidInput("the body is shorter than was said");
    count = *read;
  } else {
    count = call_.body.copy(buffer.data(), buffer.size(), static_cast<size_t>(sent_));
  }
  sent_ += static_cast<int64_t>(count);
  return count;
}

bool SentBody::Rewind() {
  if (call_.source && sent_ > 0) return false;
  sent_ = 0;
  return true;
}

ClientTransfer::ClientTransfer(const HttpClientOptions& options, const HttpCall& call)
    : call_(call),
      easy_(MakeCurlEasy()),
      end_(After(options.connect_seconds)),
      body_(call),
      answer_(call, options) {}

absl::StatusOr<std::unique_ptr<ClientTransfer>> ClientTransfer::Make(const HttpUrl& url,
                                                                     const HttpClientOptions& options,
                                                                     const ClientEncryption* encryption,
                                                                     const HttpCall& call) {
  std::unique_ptr<ClientTransfer> made(new ClientTransfer(options, call));
  if (made->easy_ == nullptr) return NoMemory();
  RETURN_IF_ERROR(CheckRequest(call));
  CurlOptions set(made->handle());
  SetRequest(url, call, made->body_, set);
  made->SetHeaders(set);
  SetLimits(options.connect_seconds, set);
  made->SetCallbacks(set);
  if (encryption != nullptr && set.code() == CURLE_OK) set.Fail(encryption->SetUp(made->handle()));
  if (set.code() == CURLE_OK) return made;
  if (set.code() == CURLE_OUT_OF_MEMORY) return NoMemory();
  return InternalError("libcurl does not take an option: ", curl_easy_strerror(set.code()));
}

void ClientTransfer::SetHeaders(CurlOptions& options) {
  // The server can then refuse a large body before it comes. A refusal that comes while the body is sent may
  // be lost: libcurl reads nothing more once it cannot send.
  const bool is_large = body_.bytes() > kLargeBodyBytes;
  // A line without a value keeps libcurl from adding its own.
  bool is_made =
      AppendLine(headers_, "Accept:") && AppendLine(headers_, is_large ? "Expect: 100-continue" : "Expect:");
  for (const auto& [name, value] : call_.headers) {
    const std::string line = value.empty() ? absl::StrCat(name, ";") : absl::StrCat(name, ": ", value);
    is_made = is_made && AppendLine(headers_, line.c_str());
  }
  if (!is_made) options.Fail(CURLE_OUT_OF_MEMORY);
  options.Set(CURLOPT_HTTPHEADER, headers_.get());
}

void ClientTransfer::SetCallbacks(CurlOptions& options) {
  options.Set(CURLOPT_ERRORBUFFER, why_.data());
  options.Set(CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
  options.Set(CURLOPT_OPENSOCKETDATA, this);
  options.Set(CURLOPT_PREREQFUNCTION, &BeginRequest);
  options.Set(CURLOPT_PREREQDATA, this);
  options.Set(CURLOPT_READFUNCTION, &ReadBody);
  options.Set(CURLOPT_READDATA, this);
  options.Set(CURLOPT_SEEKFUNCTION, &SeekBody);
  options.Set(CURLOPT_SEEKDATA, this);
  options.Set(CURLOPT_HEADERFUNCTION, &TakeLine);
  options.Set(CURLOPT_HEADERDATA, this);
  options.Set(CURLOPT_WRITEFUNCTION, &TakeBody);
  options.Set(CURLOPT_WRITEDATA, this);
}

curl_socket_t ClientTransfer::OpenSocket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<ClientTransfer*>(self);
  // Libcurl repeats every request that a reused connection ended without an answer to, since the server may
  // have closed it at that moment.
  transfer.is_repeat_refused_ = transfer.is_unanswered_ && !IsIdempotent(transfer.call_);
  if (transfer.is_repeat_refused_) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int ClientTransfer::BeginRequest(void* self, char*, char*, int, int) {
  auto& transfer = *static_cast<ClientTransfer*>(self);
  transfer.is_connected_ = transfer.is_unanswered_ = true;
  transfer.end_ = transfer.call_.seconds > 0 ? After(transfer.call_.seconds) : SteadyClock::time_point::max();
  return CURL_PREREQFUNC_OK;
}

size_t ClientTransfer::ReadBody(char* buffer, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<ClientTransfer*>(self);
  transfer.empty_moves_ = 0;
  const absl::StatusOr<size_t> read = transfer.body_.Read({buffer, size * count});
  if (read.ok()) return *read;
  transfer.failed_ = read.status();
  return CURL_READFUNC_ABORT;
}

int ClientTransfer::SeekBody(void* self, curl_off_t offset, int origin) {
  auto& transfer = *static_cast<ClientTransfer*>(self);
  const bool is_start = origin == SEEK_SET && offset == 0;
  return is_start && transfer.body_.Rewind() ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

size_t ClientTransfer::TakeLine(char* line, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<ClientTransfer*>(self);
  transfer.is_unanswered_ = false;
  return transfer.Taken(transfer.answer_.TakeLine({line, size * count}, transfer.handle()), size * count);
}

size_t ClientTransfer::TakeBody(char* piece, size_t size, size_t count, void* self) {
  auto& transfer = *static_cast<ClientTransfer*>(self);
  return transfer.Taken(transfer.answer_.TakeBody({piece, size * count}), size * count);
}

size_t ClientTransfer::Taken(const absl::Status& status, size_t bytes) {
  empty_moves_ = 0;
  if (status.ok()) return bytes;
  failed_ = status;
  return bytes == 0 ? 1 : 0;
}

absl::Status ClientTransfer::NoteMove() {
  if (!answer_.has_head() || ++empty_moves_ < kMaxEmptyMoves) return absl::OkStatus();
  return absl::ResourceExhaustedError("its answer has too much between the pieces of its body");
}

absl::StatusOr<HttpAnswer> ClientTransfer::Result(CURLcode code) {
  RETURN_IF_ERROR(failed_);
  if (code == CURLE_OK && answer_.has_head()) return std::move(answer_.answer());
  return ErrorOf(code);
}

absl::Status ClientTransfer::ErrorOf(CURLcode code) const {
  const bool is_cut = is_repeat_refused_ || code == CURLE_OK;
  const std::string_view why = is_cut              ? "it ended before the answer did"
                               : why_.front() == 0 ? curl_easy_strerror(code)
                                                   : why_.data();
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
      return ClientEncryption::ErrorOf(handle(), code, why);
    case CURLE_OUT_OF_MEMORY:
      if (!is_connected_ || answer_.has_head()) return NoMemory();
      return absl::ResourceExhaustedError("the header of its answer is too large");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_BAD_FUNCTION_ARGUMENT:  // a line of a head without a colon
      return absl::FailedPreconditionError(absl::StrCat("this is not HTTP/1.1: ", why));
    default:
      break;
  }
  if (!is_connected_) return absl::UnavailableError(absl::StrCat("cannot connect: ", why));
  if (absl::EndsWith(why, "in chunked-encoding"))
    return absl::FailedPreconditionError(absl::StrCat("this is not HTTP/1.1: ", why));
  return absl::UnavailableError(absl::StrCat("the connection broke: ", why));
}

}  // namespace attune
