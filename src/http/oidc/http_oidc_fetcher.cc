#include "http/oidc/http_oidc_fetcher.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "http/client/client.h"
#include "http/client/url.h"

namespace attune {
namespace {

constexpr double kSeconds = 5;
constexpr size_t kMostBytes = size_t{256} << 10;

}  // namespace

absl::StatusOr<OidcReply> HttpOidcFetcher::Send(const std::string& url, HttpCall call) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<HttpClient> client,
                   HttpClient::Open(url, {.trust = {.authorities_pem = authorities_pem_},
                                          .connect_seconds = kSeconds,
                                          .silent_seconds = kSeconds,
                                          .most_body_bytes = kMostBytes,
                                          .cancellation = cancellation_}));
  call.target = client->url().target;
  call.headers["Accept"] = "application/json";
  call.seconds = kSeconds;
  absl::StatusOr<HttpAnswer> answer = client->Send(call);
  // Whatever is wrong with the provider may be right again later.
  if (!answer.ok() && !absl::IsCancelled(answer.status()))
    return absl::UnavailableError(answer.status().message());
  RETURN_IF_ERROR(answer.status());
  return OidcReply{.status = answer->status, .body = std::move(answer->body)};
}

absl::StatusOr<OidcReply> HttpOidcFetcher::Get(const std::string& url) { return Send(url, {}); }

absl::StatusOr<OidcReply> HttpOidcFetcher::Post(const std::string& url, const OidcForm& form,
                                                const std::string& authorization) {
  HttpCall call = {.method = "POST", .headers = {{"Content-Type", "application/x-www-form-urlencoded"}}};
  for (const auto& [name, value] : form)
    absl::StrAppend(&call.body, call.body.empty() ? "" : "&", name, "=", EncodePercent(value));
  if (!authorization.empty()) call.headers["Authorization"] = authorization;
  return Send(url, std::move(call));
}

}  // namespace attune
