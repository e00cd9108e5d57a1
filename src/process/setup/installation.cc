#include "process/setup/installation.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/state_file.h"
#include "base/status.h"
#include "base/user_path.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

namespace fs = std::filesystem;
using boost::asio::ip::tcp;
using Json = nlohmann::ordered_json;

constexpr int64_t kMostBytes = 1 << 16;
constexpr char kDatabase[] =
    "database";  // its name, without a password; missing: the state is in SQLite files

std::string PathOf(const std::string& folder) { return folder + "/installation.json"; }

Json ToJson(const Installation& installation) {
  Json json = {{"http", installation.http},       {"http_tls", installation.http_tls},
               {"listen", installation.listen},   {"enrolment", installation.enrolment},
               {"metrics", installation.metrics}, {"host", installation.host},
               {"agents", installation.agents},   {"key", installation.key},
               {"trusted", installation.trusted}};
  if (installation.UsesContainers()) {
    json["engine"] = installation.engine;
    json["images"] = installation.images;
  }
  return json;
}

// Sets `to` if the object has a value of its type by this name; else returns false.
template <typename Value>
bool Take(const Json& json, const char* name, Value& to) {
  const auto found = json.find(name);
  if (found == json.end()) return false;
  try {
    to = found->get<Value>();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

// Reads the URL of the database with this name.
absl::Status ReadDatabase(const std::string& name, Installation& installation) {
  absl::StatusOr<std::string> url = ReadStateFile(installation.DatabasePath(), kMostBytes);
  if (!url.ok())
    return absl::FailedPreconditionError(
        absl::StrCat(url.status().message(), "; write the URL of ", name, " into this file of yours alone"));
  installation.database = std::string(absl::StripAsciiWhitespace(*url));
  return installation.Location().status();
}

// Returns what listens at the address, or what the system says.
absl::StatusOr<tcp::acceptor> ListenAt(const std::string& address, boost::asio::io_context& context) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return InvalidInput("is not an address and port such as 127.0.0.1:9193");
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const auto found = tcp::resolver(context).resolve(host, address.substr(colon + 1), error);
  if (error || found.empty()) return InvalidInput("is not an address of this machine: ", error.message());
  const tcp::endpoint endpoint = found.begin()->endpoint();
  tcp::acceptor acceptor(context);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1, error);
  if (error == boost::asio::error::address_in_use)
    return absl::UnavailableError("is in use by another program; end that one");
  if (error) return absl::UnavailableError(absl::StrCat("cannot be listened at: ", error.message()));
  return acceptor;
}

}  // namespace

std::string Installation::AgentFolder(int agent) const { return absl::StrCat(folder, "/agent-", agent); }

std::string Installation::Url() const {
  return absl::StrCat(http_tls.empty() ? "http" : "https", "://", http);
}

absl::StatusOr<SqlLocation> Installation::Location() const {
  if (database.empty()) return SqlLocation(ServerFolder());
  return SqlLocation::Postgres(database);
}

absl::StatusOr<std::string> InstallationFolder(const std::string& given) {
  std::optional<std::string> folder = given;
  if (given.empty())
    folder = FindUserPath({.variable = "ATTUNE_UP",
                           .xdg_variable = "XDG_STATE_HOME",
                           .home_folder = ".local/state",
                           .name = "attune/up"},
                          getenv);
  if (!folder) return InvalidInput("neither $ATTUNE_UP nor $HOME is set; name a folder with --state");
  std::error_code error;
  const fs::path absolute = fs::absolute(*folder, error);
  if (error) return InvalidInput(*folder, ": ", error.message());
  return absolute.lexically_normal().string();
}

absl::StatusOr<Installation> LoadInstallation(const std::string& folder) {
  const std::string path = PathOf(folder);
  absl::StatusOr<std::string> text = ReadFile(path, kMostBytes);
  if (absl::IsNotFound(text.status()))
    return absl::NotFoundError(absl::StrCat(folder, ": nothing is set up there; attune up does so"));
  RETURN_IF_ERROR(text.status());
  const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  Installation found = {.folder = folder};
  std::string database;
  const bool is_whole = json.is_object() && Take(json, "http", found.http) &&
                        Take(json, "http_tls", found.http_tls) && Take(json, "listen", found.listen) &&
                        Take(json, "enrolment", found.enrolment) && Take(json, "metrics", found.metrics) &&
                        Take(json, "host", found.host) && Take(json, "agents", found.agents) &&
                        Take(json, "key", found.key) && Take(json, "trusted", found.trusted) &&
                        (!json.contains(kDatabase) || Take(json, kDatabase, database));
  const bool has_engine = is_whole && json.contains("engine");
  const bool knows_engine = has_engine && Take(json, "engine", found.engine) &&
                            Take(json, "images", found.images) &&
                            (found.engine == "podman" || found.engine == "docker");
  if (!is_whole || has_engine != knows_engine || found.agents < 0 || found.agents > kMostAgents)
    return InvalidInput(path, ": is damaged; remove it and run attune up with the flags as before");
  if (!database.empty()) RETURN_IF_ERROR(ReadDatabase(database, found));
  return found;
}

absl::Status SaveInstallation(const Installation& installation) {
  RETURN_IF_ERROR(MakeStateFolder(installation.folder));
  Json json = ToJson(installation);
  if (!installation.database.empty()) {
    ASSIGN_OR_RETURN(const SqlLocation location, installation.Location());
    json[kDatabase] = location.name();
    RETURN_IF_ERROR(WriteStateFile(installation.DatabasePath(), installation.database + "\n"));
  }
  return WriteStateFile(PathOf(installation.folder), json.dump(2) + "\n");
}

absl::Status RemoveInstallation(const Installation& installation) {
  std::vector<std::string> paths = {installation.ServerFolder(),
                                    installation.RunnerFolder(),
                                    installation.LogFolder(),
                                    installation.FirstTokenPath(),
                                    installation.LoginPath(),
                                    installation.DatabasePath(),
                                    installation.folder + "/services.json",
                                    installation.folder + "/supervisor.json",
                                    installation.folder + "/up-runs"};
  for (int agent = 1; agent <= kMostAgents; ++agent) paths.push_back(installation.AgentFolder(agent));
  // The last step, so that an interrupted removal can be resumed.
  paths.push_back(PathOf(installation.folder));
  for (const std::string& path : paths) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error)
      return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be removed: ", error.message()));
  }
  std::error_code ignored;  // another program has put something there
  fs::remove(installation.folder, ignored);
  return absl::OkStatus();
}

absl::Status ChoosePorts(Installation& installation) {
  const struct {
    const char* flag;
    std::string& address;
  } all[] = {{"--http", installation.http},
             {"--listen", installation.listen},
             {"--enrolment", installation.enrolment},
             {"--metrics", installation.metrics}};
  // All are listened at until all are known, so that the system gives no port twice.
  boost::asio::io_context context;
  std::vector<tcp::acceptor> held;
  for (const auto& [flag, address] : all) {
    const bool is_inside = &address == &installation.listen || &address == &installation.enrolment;
    if (installation.UsesContainers() && is_inside) continue;
    absl::StatusOr<tcp::acceptor> acceptor = ListenAt(address, context);
    if (!acceptor.ok()) {
      return absl::Status(acceptor.status().code(), absl::StrCat(address, ": ", acceptor.status().message(),
                                                                 ", or name another address with ", flag));
    }
    const int port = acceptor->local_endpoint().port();
    address = absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
    held.push_back(*std::move(acceptor));
  }
  return absl::OkStatus();
}

}  // namespace attune
