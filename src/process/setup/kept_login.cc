#include "process/setup/kept_login.h"

#include <cstdint>
#include <optional>

#include "base/file.h"
#include "base/state_file.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "service/client/known_servers.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostChainBytes = 1 << 20, kMostLoginBytes = 4096;

std::string TextOf(const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name) || !object[name].is_string()) return "";
  return object[name].get<std::string>();
}

absl::StatusOr<KnownServer> LoginOf(const Installation& installation, const std::string& token) {
  KnownServer server = {.token = token};
  ASSIGN_OR_RETURN(server.url, ServerUrl(installation.Url()));
  if (installation.http_tls.empty()) return server;
  const std::string& file = installation.http_tls.front();
  ASSIGN_OR_RETURN(const std::string chain, ReadFile(file, kMostChainBytes));
  absl::StatusOr<HttpTrust> trust = TrustInKeyOf(chain);
  if (!trust.ok()) return Annotate(trust.status(), file);
  server.trust = *std::move(trust);
  return server;
}

}  // namespace

absl::Status KeepLogin(const Installation& installation, const std::string& token,
                       const std::string& servers) {
  ASSIGN_OR_RETURN(const KnownServer server, LoginOf(installation, token));
  ASSIGN_OR_RETURN(KnownServers known, KnownServers::LoadToChange(servers));
  const std::optional<KnownServer> before = known.Find();
  // The token itself is in one place.
  const Json login = {{"url", server.url},
                      {"token_sha256", Sha256Hex(token)},
                      {"before", before && before->url != server.url ? before->url : ""}};
  RETURN_IF_ERROR(WriteStateFile(installation.LoginPath(), login.dump() + "\n"));
  known.Keep(server);
  return known.Save();
}

absl::Status ForgetLogin(const Installation& installation, const std::string& servers) {
  const absl::StatusOr<std::string> text = ReadStateFile(installation.LoginPath(), kMostLoginBytes);
  if (absl::IsNotFound(text.status())) return absl::OkStatus();
  RETURN_IF_ERROR(text.status());
  const Json login = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const std::string url = TextOf(login, "url"), before = TextOf(login, "before");
  if (url.empty()) return InvalidInput(installation.LoginPath(), ": is damaged");
  ASSIGN_OR_RETURN(KnownServers known, KnownServers::LoadToChange(servers));
  const std::optional<KnownServer> kept = known.Find(url), meant = known.Find();
  if (!kept || Sha256Hex(kept->token) != TextOf(login, "token_sha256")) return absl::OkStatus();
  known.Forget(url);
  const std::optional<KnownServer> meant_before = before.empty() ? std::nullopt : known.Find(before);
  if (meant_before && meant && meant->url == url) known.Keep(*meant_before);
  return known.Save();
}

}  // namespace attune
