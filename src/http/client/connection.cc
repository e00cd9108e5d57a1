#include "http/client/connection.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/status.h"

namespace attune {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A cancellation may come from a signal handler, which cannot wake a thread.
constexpr double kPollSeconds = 0.02;
constexpr double kMaxWaitSeconds = 60;

SteadyClock::duration DurationOf(double seconds) {
  return std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

absl::Status Cancelled() { return absl::CancelledError("the call was cancelled"); }

absl::Status Failed(CURLMcode code) {
  return absl::ResourceExhaustedError(curl_multi_strerror(code));  // no other error can happen
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClientConnection>> ClientConnection::Make(const HttpUrl& url,
                                                                         const HttpClientOptions& options,
                                                                         const ClientEncryption* encryption) {
  CurlMulti multi = MakeCurlMulti();
  if (multi == nullptr) return absl::ResourceExhaustedError("there is no memory for a connection");
  if (const CURLMcode code = curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, 1L); code != CURLM_OK)
    return Failed(code);
  return std::unique_ptr<ClientConnection>(new ClientConnection(url, options, encryption, std::move(multi)));
}

absl::StatusOr<HttpAnswer> ClientConnection::Send(const HttpCall& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ClientTransfer> transfer,
                   ClientTransfer::Make(url_, options_, encryption_, call));
  absl::StatusOr<HttpAnswer> answer = Run(*transfer);
  if (answer.ok() || transfer->has_caller_failed()) return answer;
  return Annotate(is_cancelled() ? Cancelled() : answer.status(), url_.Origin());
}

absl::StatusOr<HttpAnswer> ClientConnection::Run(ClientTransfer& transfer) {
  if (const CURLMcode code = curl_multi_add_handle(multi_.get(), transfer.handle()); code != CURLM_OK)
    return Failed(code);
  const absl::StatusOr<CURLcode> code = RunToEnd(transfer);
  curl_multi_remove_handle(multi_.get(), transfer.handle());
  RETURN_IF_ERROR(code.status());
  return transfer.Result(*code);
}

absl::StatusOr<CURLcode> ClientConnection::RunToEnd(ClientTransfer& transfer) {
  SteadyClock::time_point moved = SteadyClock::now();
  for (bool can_move = false;;) {
    int running = 0;
    if (const CURLMcode code = curl_multi_perform(multi_.get(), &running); code != CURLM_OK)
      return Failed(code);
    if (running == 0) break;
    if (is_cancelled()) return Cancelled();
    const SteadyClock::time_point now = SteadyClock::now();
    // The call's own functions may take their time.
    if (can_move) moved = now;
    const auto end = std::min(transfer.end(), moved + DurationOf(options_.silent_seconds));
    if (now >= end)
      return absl::UnavailableError(transfer.is_connected() ? "no answer in time"
                                                            : "cannot connect: no answer in time");
    ASSIGN_OR_RETURN(can_move, Wait(std::chrono::duration<double>(end - now).count()));
    if (can_move) RETURN_IF_ERROR(transfer.NoteMove());
  }
  int more = 0;
  const CURLMsg* message = curl_multi_info_read(multi_.get(), &more);
  return message == nullptr ? CURLE_OUT_OF_MEMORY : message->data.result;
}

absl::StatusOr<bool> ClientConnection::Wait(double seconds) {
  const double most = std::min(seconds, options_.cancellation == nullptr ? kMaxWaitSeconds : kPollSeconds);
  constexpr double kMs = 1e3;
  int ready = 0;
  const CURLMcode code =
      curl_multi_poll(multi_.get(), nullptr, 0, static_cast<int>(std::ceil(most * kMs)), &ready);
  if (code != CURLM_OK) return Failed(code);
  return ready > 0;
}

}  // namespace attune
