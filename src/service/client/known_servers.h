// The servers that this user has logged in to, and the tokens for them.
#ifndef ATTUNE_SERVICE_CLIENT_KNOWN_SERVERS_H_
#define ATTUNE_SERVICE_CLIENT_KNOWN_SERVERS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"
#include "http/client/client.h"
#include "nlohmann/json.hpp"

namespace attune {

// By which a token that has come from an identity provider is renewed.
struct KnownLogin {
  std::string issuer = {}, client_id = {}, scope = {};
  std::string refresh_token = {};  // empty: it is not
};

struct KnownServer {
  std::string url = {};  // "https://host:9193"
  std::string token = {};
  HttpTrust trust = {};
  KnownLogin login = {};
};

// "https://host:9193", without a path. Fails if the text is no URL, or if a token for it would cross a
// network in the clear: http is for this machine alone.
absl::StatusOr<std::string> ServerUrl(std::string_view text);

// A file in JSON that only its owner may read; the Python client (python/attune/_servers.py) reads it too.
// Fields that this program does not know stay as they are. Not thread safe.
class KnownServers {
 public:
  // $ATTUNE_SERVERS, else attune/servers.json in $XDG_CONFIG_HOME, else in ~/.config.
  static absl::StatusOr<std::string> DefaultPath(const std::function<const char*(const char*)>& environment);
  // No servers if there is no such file. Fails if others may read it, or if it is damaged.
  static absl::StatusOr<KnownServers> Load(const std::string& path);
  // The same for a change: it locks out other changes while it lives. Waits for others.
  static absl::StatusOr<KnownServers> LoadToChange(const std::string& path);

  // The one with the URL of ServerUrl(), or the one that was kept last; nothing if it is not known.
  std::optional<KnownServer> Find(const std::string& url = "") const;
  // Replaces what is known of the server, which becomes the one that is meant when none is named.
  void Keep(const KnownServer& server);
  // The same, but which one is meant stays.
  void Update(const KnownServer& server);
  // False if it is not known.
  bool Forget(const std::string& url);
  absl::Status Save() const;

 private:
  KnownServers(std::string path, nlohmann::json json) : path_(std::move(path)), json_(std::move(json)) {}

  std::string path_;
  nlohmann::json json_;
  FileDescriptor lock_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_KNOWN_SERVERS_H_
