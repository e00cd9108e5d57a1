#include "http/client/client.h"

#include <utility>

#include "base/status.h"
#include "http/client/connection.h"
#include "http/client/encryption.h"

namespace attune {
namespace {

constexpr size_t kMaxIdle = 16;

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
  if (connection == nullptr) {
    ASSIGN_OR_RETURN(connection, ClientConnection::Make(url_, options_, encryption_.get()));
  }
  absl::StatusOr<HttpAnswer> answer = connection->Send(call);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(connection));
  return answer;
}

std::unique_ptr<ClientConnection> HttpClient::TakeIdle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<ClientConnection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

}  // namespace attune
