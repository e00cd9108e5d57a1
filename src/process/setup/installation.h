// A server with the agents and the runner of this machine, as `attune up` sets them up in one folder.
#ifndef ATTUNE_PROCESS_SETUP_INSTALLATION_H_
#define ATTUNE_PROCESS_SETUP_INSTALLATION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"

namespace attune {

// Addresses are "host:port". A file, installation.json, keeps all but the folder and the database.
struct Installation {
  std::string folder = {};  // an absolute path
  std::string http = "127.0.0.1:9193";
  std::vector<std::string> http_tls = {};  // the files of the chain and the key; empty: nothing is encrypted
  std::string listen = "127.0.0.1:9190", enrolment = "127.0.0.1:9191", metrics = "127.0.0.1:9192";
  std::string host = {};  // that others reach this machine by; empty: that of `listen`
  int agents = 1;
  std::string key = "desk";               // that the agents' devices can be asked for by
  std::vector<std::string> trusted = {};  // owners whose work the agents take without fences
  // The URL of the PostgreSQL database that has the server's state; it may have a password. Empty: the state
  // is in SQLite files.
  std::string database = {};
  std::string engine = {};  // "podman" or "docker", if the services run in containers; empty: as processes
  std::string images = {};  // of the containers (process/setup/container_plan.h)

  bool UsesContainers() const { return !engine.empty(); }

  std::string ServerFolder() const { return folder + "/server"; }
  std::string AgentFolder(int agent) const;
  std::string RunnerFolder() const { return folder + "/runner"; }
  std::string LogFolder() const { return folder + "/logs"; }
  // The address of REST for people: "http://127.0.0.1:9193".
  std::string Url() const;
  // Where the server's stores are. Fails if the database is no URL of one.
  absl::StatusOr<SqlLocation> Location() const;
  // Keeps the database's URL, for this user alone.
  std::string DatabasePath() const { return folder + "/database"; }
  // The text of the first token, until a user has seen it.
  std::string FirstTokenPath() const { return folder + "/first-token"; }
  // Which login of this user's was made with it.
  std::string LoginPath() const { return folder + "/login.json"; }

  bool operator==(const Installation&) const = default;
};

inline constexpr int kMostAgents = 64;

// The folder as an absolute path. Without one: $ATTUNE_UP, else attune/up in $XDG_STATE_HOME, else in
// ~/.local/state. Fails if HOME is missing too.
absl::StatusOr<std::string> InstallationFolder(const std::string& given);

// NotFound if the folder has none, InvalidArgument if its file is damaged.
absl::StatusOr<Installation> LoadInstallation(const std::string& folder);
// Makes the folder, for this user alone, if it is missing.
absl::Status SaveInstallation(const Installation& installation);
// Removes all that the services and `attune up` have put into the folder, and the folder if nothing is left.
absl::Status RemoveInstallation(const Installation& installation);

// Gives addresses with port 0 a free one; containers leave `listen` and `enrolment` as they are. Fails, with
// the flag that names another one, if one of the addresses is in use.
absl::Status ChoosePorts(Installation& installation);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_INSTALLATION_H_
