#include "http/client/client.h"

#include <utility>

#include "base/status.h"
#include "http/client/connection.h"
#include "http/client/encryption.h"

namespace attune {
namespace {

constexpr size_t kMostIdle = 16;

// The server does the same once as twice.
bool IsIdempotent(const HttpCall& call) {
  return !call.source && (call.method == "GET" || call.method == "HEAD" || call.method == "PUT" ||
                          call.method == "DELETE" || call.method == "OPTIONS");
}

}  // namespace

HttpClient::HttpClient(HttpUrl url, const HttpClientOptions& options,
                       std::unique_ptr<ClientEncryption> encryption)
    : url_(std::move(url)), options_(options), encryption_(std::move(encryption)) {}
HttpClient::~HttpClient() = default;

absl::StatusOr<std::unique_ptr<HttpClient>> HttpClient::Open(std::string_view url,
                                                             const HttpClientOptions& options) {
  ASSIGN_OR_RETURN(HttpUrl parsed, HttpUrl::Parse(url));
  std::unique_ptr<ClientEncryption> encryption;
  if (parsed.is_encrypted) {
    ASSIGN_OR_RETURN(encryption, ClientEncryption::Make(options.trust, parsed.host));
  }
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(parsed), options, std::move(encryption)));
}

absl::StatusOr<HttpAnswer> HttpClient::Send(const HttpCall& call) {
  std::unique_ptr<ClientConnection> connection = TakeIdle();
  // The server may close a connection at the very moment in which it is used again.
  for (bool is_used = connection != nullptr;; is_used = false) {
    if (connection == nullptr) {
      auto made = ClientConnection::Connect(url_, options_, encryption_.get());
      if (!made.ok()) return Annotate(made.status(), url_.Origin());
      connection = *std::move(made);
    }
    absl::StatusOr<HttpAnswer> answer = connection->Send(call);
    if (answer.ok()) {
      KeepIfUseful(std::move(connection));
      return answer;
    }
    RETURN_IF_ERROR(connection->caller_error());
    const bool may_repeat =
        is_used && IsIdempotent(call) && !connection->HasAnswered() && absl::IsUnavailable(answer.status());
    if (!may_repeat) return Annotate(answer.status(), url_.Origin());
    connection = nullptr;
  }
}

void HttpClient::KeepIfUseful(std::unique_ptr<ClientConnection> connection) {
  if (!connection->CanBeUsedAgain()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

std::unique_ptr<ClientConnection> HttpClient::TakeIdle() {
  while (true) {
    std::unique_ptr<ClientConnection> connection;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (idle_.empty()) return nullptr;
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
    if (connection->CanBeUsedAgain()) return connection;
  }
}

}  // namespace attune
