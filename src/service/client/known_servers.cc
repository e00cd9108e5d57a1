#include "service/client/known_servers.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/json_object.h"
#include "base/private_file.h"
#include "base/status.h"
#include "base/user_path.h"
#include "http/client/url.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostBytes = 1 << 20;

std::string TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string FolderOf(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

}  // namespace

absl::StatusOr<std::string> ServerUrl(std::string_view text) {
  ASSIGN_OR_RETURN(const HttpUrl url, HttpUrl::Parse(text));
  if (url.target != "/") return InvalidInput(text, ": the address of a server has no path");
  if (!url.is_encrypted && !url.IsLoopback())
    return InvalidInput(text, ": your token would cross the network in the clear; use https");
  return url.Origin();
}

absl::StatusOr<std::string> KnownServers::DefaultPath(
    const std::function<const char*(const char*)>& environment) {
  std::optional<std::string> path = FindUserPath({.variable = "ATTUNE_SERVERS",
                                                  .xdg_variable = "XDG_CONFIG_HOME",
                                                  .home_folder = ".config",
                                                  .name = "attune/servers.json"},
                                                 environment);
  if (path) return *std::move(path);
  return absl::NotFoundError("there is no home folder to keep servers in; name a file with ATTUNE_SERVERS");
}

absl::StatusOr<KnownServers> KnownServers::Load(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadPrivateFile(path, kMostBytes);
  if (absl::IsNotFound(text.status())) return KnownServers(path, Json::object());
  RETURN_IF_ERROR(text.status());
  absl::StatusOr<Json> json = ParseJsonObject<Json>(*text);
  const bool is_damaged = !json.ok() || (json->contains("servers") && !(*json)["servers"].is_object());
  if (is_damaged) return InvalidInput(path, ": is damaged; remove it, and log in again");
  return KnownServers(path, *std::move(json));
}

absl::StatusOr<KnownServers> KnownServers::LoadToChange(const std::string& path) {
  if (const std::string folder = FolderOf(path); !folder.empty()) RETURN_IF_ERROR(MakePrivateFolder(folder));
  const std::string lock_path = path + ".lock";
  constexpr mode_t kOwner = 0600;
  FileDescriptor lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwner));
  if (lock.get() < 0)
    return absl::FailedPreconditionError(
        absl::StrCat(lock_path, ": cannot be opened: ", std::strerror(errno)));
  while (flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR)
      return absl::FailedPreconditionError(
          absl::StrCat(lock_path, ": cannot be locked: ", std::strerror(errno)));
  }
  ASSIGN_OR_RETURN(KnownServers servers, Load(path));
  servers.lock_ = std::move(lock);
  return servers;
}

std::optional<KnownServer> KnownServers::Find(const std::string& url) const {
  const std::string name = url.empty() ? TextOf(json_, "default") : url;
  const auto servers = json_.find("servers");
  if (servers == json_.end()) return std::nullopt;
  const auto found = servers->find(name);
  if (found == servers->end() || !found->is_object()) return std::nullopt;
  return KnownServer{
      .url = name,
      .token = TextOf(*found, "token"),
      .trust = {.authorities_pem = TextOf(*found, "authorities"), .pinned_key = TextOf(*found, "pinned_key")},
      .login = {.issuer = TextOf(*found, "issuer"),
                .client_id = TextOf(*found, "client_id"),
                .scope = TextOf(*found, "scope"),
                .refresh_token = TextOf(*found, "refresh_token")}};
}

void KnownServers::Update(const KnownServer& server) {
  Json& kept = json_["servers"][server.url];
  if (!kept.is_object()) kept = Json::object();
  for (const auto& [name, text] :
       {std::pair("token", &server.token), std::pair("authorities", &server.trust.authorities_pem),
        std::pair("pinned_key", &server.trust.pinned_key), std::pair("issuer", &server.login.issuer),
        std::pair("client_id", &server.login.client_id), std::pair("scope", &server.login.scope),
        std::pair("refresh_token", &server.login.refresh_token)}) {
    kept.erase(name);
    if (!text->empty()) kept[name] = *text;
  }
}

void KnownServers::Keep(const KnownServer& server) {
  Update(server);
  json_["default"] = server.url;
}

bool KnownServers::Forget(const std::string& url) {
  const auto servers = json_.find("servers");
  if (servers == json_.end() || servers->erase(url) == 0) return false;
  if (TextOf(json_, "default") == url) json_.erase("default");
  return true;
}

absl::Status KnownServers::Save() const {
  if (const std::string folder = FolderOf(path_); !folder.empty()) RETURN_IF_ERROR(MakePrivateFolder(folder));
  constexpr int kIndent = 2;
  return WritePrivateFile(
      path_, absl::StrCat(json_.dump(kIndent, ' ', false, Json::error_handler_t::replace), "\n"));
}

}  // namespace attune
