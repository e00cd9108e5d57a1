// attune login|logout
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/jobs_server.h"
#include "cli/login_at_issuer.h"
#include "service/client/known_servers.h"
#include "service/client/rest_client.h"

namespace attune {
namespace {

struct LoginFlags {
  ServerFlags server;
  std::string pin;
  std::string issuer;
  bool token = false;
};

absl::StatusOr<KnownServers> LoadServers() {
  ASSIGN_OR_RETURN(const std::string path, KnownServers::DefaultPath(std::getenv));
  return KnownServers::LoadToChange(path);
}

absl::Status AskForToken(KnownServer& server) {
  if (isatty(STDIN_FILENO) != 0) PrintNote(absl::StrCat("the token for ", server.url, ":"));
  std::getline(std::cin, server.token);
  server.token = std::string(absl::StripAsciiWhitespace(server.token));
  return server.token.empty() ? InvalidInput("stdin has no token") : absl::OkStatus();
}

// "ann of tenant lab, a member"
absl::StatusOr<std::string> WhoIs(const KnownServer& server) {
  ASSIGN_OR_RETURN(const auto client, RestClient::Open(server));
  ASSIGN_OR_RETURN(const Json me, client->Ask({.target = "/v1/me"}));
  for (const char* field : {"name", "tenant", "role"})
    if (!me.contains(field) || !me[field].is_string())
      return absl::FailedPreconditionError(absl::StrCat(server.url, ": does not say who you are"));
  return absl::StrCat(me["name"].get<std::string>(), " of tenant ", me["tenant"].get<std::string>(),
                      ", with the role ", me["role"].get<std::string>());
}

absl::StatusOr<KnownServer> LogIn(const LoginFlags& flags) {
  ASSIGN_OR_RETURN(KnownServer server, MeantServerAlone(flags.server));
  if (!flags.pin.empty()) server.trust = {.pinned_key = flags.pin};
  if (!flags.token) return LogInAtIssuer(std::move(server), flags.issuer);
  RETURN_IF_ERROR(AskForToken(server));
  server.login = {};
  return server;
}

// The server with a token that it takes, and whom it knows by that.
absl::StatusOr<std::pair<KnownServer, std::string>> Known(const LoginFlags& flags) {
  if (!flags.token && flags.issuer.empty()) {
    absl::StatusOr<KnownServer> server = MeantServer(flags.server);
    if (server.ok() && !flags.pin.empty()) server->trust = {.pinned_key = flags.pin};
    absl::StatusOr<std::string> who = server.ok() ? WhoIs(*server) : server.status();
    if (who.ok()) return std::pair(*std::move(server), *std::move(who));
    if (!absl::IsUnauthenticated(who.status()) || IsTokenGiven(flags.server)) return who.status();
  }
  ASSIGN_OR_RETURN(KnownServer server, LogIn(flags));
  ASSIGN_OR_RETURN(std::string who, WhoIs(server));
  return std::pair(std::move(server), std::move(who));
}

absl::Status Login(const LoginFlags& flags) {
  ASSIGN_OR_RETURN(const auto known, Known(flags));
  const auto& [server, who] = known;
  ASSIGN_OR_RETURN(KnownServers servers, LoadServers());
  servers.Keep(server);
  RETURN_IF_ERROR(servers.Save());
  PrintResult(absl::StrCat(server.url, " knows you as ", who, "\n"));
  return absl::OkStatus();
}

absl::Status Logout(const std::string& named) {
  ASSIGN_OR_RETURN(KnownServers servers, LoadServers());
  std::string url;
  if (!named.empty()) {
    ASSIGN_OR_RETURN(url, ServerUrl(named));
  } else if (const auto last = servers.Find()) {
    url = last->url;
  }
  if (!servers.Forget(url)) return absl::NotFoundError("no such server is known");
  RETURN_IF_ERROR(servers.Save());
  PrintResult(
      absl::StrCat("the token for ", url, " is forgotten here; it counts until it expires or is revoked\n"));
  return absl::OkStatus();
}

}  // namespace

void AddLoginCommand(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<LoginFlags>();
  CLI::App* command =
      app.add_subcommand("login", "Save a server and a token, for attune jobs and attune.Client");
  AddServerFlags(*command, flags->server);
  command->add_option("URL", flags->server.server, "the same as --server");
  command->add_flag("--token", flags->token, "read the token from stdin");
  command
      ->add_option("--issuer", flags->issuer,
                   "log in at this identity provider of the server, with a browser (default: the first one, "
                   "if no valid token is known)")
      ->type_name("NAME")
      ->excludes("--token");
  command
      ->add_option("--pin", flags->pin,
                   "trust the server only by this SHA-256 of the public key of a certificate that it shows, "
                   "its own or its authority's")
      ->type_name("SHA256");
  command->callback([flags, &action] { action = [flags] { return Login(*flags); }; });
}

void AddLogoutCommand(CLI::App& app, Action& action) {
  const auto url = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("logout", "Forget a server and its token");
  command->add_option("URL", *url, "its address (default: that of the last attune login)");
  command->callback([url, &action] { action = [url] { return Logout(*url); }; });
}

}  // namespace attune
