#include "fleet/client/health.h"

#include <grpcpp/grpcpp.h>

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <iterator>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "fleet/client/server_call.h"
#include "fleet/identity/certificate.h"
#include "fleet/identity/credentials.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/fleet.grpc.pb.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr std::chrono::seconds kAnswerSeconds(10);

// The body that a server answers at the address of its metrics.
absl::StatusOr<std::string> AskServer(const std::string& address, const char* path) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos)
    return InvalidInput("\"", address, "\" is not an address and port such as 127.0.0.1:9192");
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(kAnswerSeconds);
  stream.connect(address.substr(0, colon), address.substr(colon + 1));
  stream << "GET " << path << " HTTP/1.1\r\nHost: " << address << "\r\nConnection: close\r\n\r\n"
         << std::flush;
  const std::string answer{std::istreambuf_iterator<char>(stream), {}};
  const size_t header = answer.find("\r\n\r\n");
  if (header == std::string::npos)
    return absl::UnavailableError(
        absl::StrCat(address, " does not answer; is attune server running with --metrics ", address, "?"));
  const std::string body(absl::StripAsciiWhitespace(answer.substr(header)));
  if (!absl::StartsWith(answer, "HTTP/1.1 200 "))
    return absl::UnavailableError(absl::StrCat(address, ": ", body));
  return body;
}

// The value of a metric without labels; 0 if there is none.
int NumberIn(const std::string& metrics, std::string_view name) {
  const std::string begin = absl::StrCat(name, " ");
  for (const std::string_view line : absl::StrSplit(metrics, '\n')) {
    int value = 0;
    if (absl::StartsWith(line, begin) && absl::SimpleAtoi(line.substr(begin.size()), &value)) return value;
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::string> ServerHealth(const std::string& address) { return AskServer(address, "/readyz"); }

absl::StatusOr<std::string> RunnerHealth(const std::string& address) {
  ASSIGN_OR_RETURN(const std::string metrics, AskServer(address, "/metrics"));
  const int runners = NumberIn(metrics, "attune_jobs_runners");
  if (runners == 0)
    return absl::UnavailableError(
        absl::StrCat("no runner is connected to the server with ", address, "; is attune runner running?"));
  if (const int shared = NumberIn(metrics, "attune_jobs_runners_with_shared_credentials"); shared > 0)
    return absl::UnavailableError(absl::StrCat("the credentials of ", shared,
                                               shared == 1 ? " runner" : " runners",
                                               " are used in two places; the server's log names them"));
  return absl::StrCat(runners, runners == 1 ? " runner is" : " runners are", " connected");
}

absl::StatusOr<std::string> AgentHealth(const std::string& folder) {
  ASSIGN_OR_RETURN(const FleetCredentials credentials, LoadCredentialsOf(FleetRole::kAgent, folder));
  ASSIGN_OR_RETURN(const CertificateFacts facts, ReadCertificate(credentials.certificate_pem));
  grpc::ClientContext context;
  SetServerCallDeadline(context);
  proto::DeviceList devices;
  // Not by a FleetClient, which would renew the certificate beside the agent.
  const grpc::Status called =
      proto::Fleet::NewStub(ConnectFleet(credentials))->Devices(&context, proto::DevicesRequest(), &devices);
  if (!called.ok()) return ExplainServerCall(called, credentials);
  std::vector<std::string> connected;
  for (const proto::Device& device : devices.devices()) {
    if (!device.is_there() || !absl::StartsWith(device.id(), absl::StrCat(facts.who.id, "/"))) continue;
    if (!device.warning().empty())
      return absl::UnavailableError(absl::StrCat(device.id(), ": ", device.warning()));
    connected.push_back(device.id());
  }
  if (connected.empty())
    return absl::UnavailableError(absl::StrCat("the agent of ", folder,
                                               " is not connected to the fleet's server ", credentials.server,
                                               "; is attune agent running?"));
  return absl::StrCat("the agent is connected to ", credentials.server, " and offers ",
                      absl::StrJoin(connected, ", "));
}

}  // namespace attune
