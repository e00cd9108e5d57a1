#include "fleet/wire/channel.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/security/credentials.h>

#include <mutex>
#include <string>

#include "base/log.h"

namespace attune {
namespace {

std::shared_ptr<grpc::Channel> Connect(const std::string& address,
                                       const grpc::SslCredentialsOptions& options) {
  LogGrpcForDebugging();
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride(kFleetServerName);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMillis);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMillis);
  arguments.SetMaxReceiveMessageSize(kMostMessageBytes);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kKeepaliveMillis);
  // Each object has a connection of its own, so that one that is closed does not end another's calls.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::SslCredentials(options), arguments);
}

}  // namespace

std::shared_ptr<grpc::Channel> ConnectFleet(const FleetCredentials& credentials) {
  return Connect(credentials.server, {.pem_root_certs = credentials.authorities_pem,
                                      .pem_private_key = credentials.key_pem,
                                      .pem_cert_chain = credentials.certificate_pem});
}

std::shared_ptr<grpc::Channel> ConnectEnrolment(const std::string& address,
                                                const std::string& authority_pem) {
  return Connect(address, {.pem_root_certs = authority_pem, .pem_private_key = {}, .pem_cert_chain = {}});
}

void LogGrpcForDebugging() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function([](gpr_log_func_args* args) {
      Log(LogLevel::kDebug, "gRPC", "file", args->file, "line", args->line, "message", args->message);
    });
    // Anybody's message may be one that it complains of.
    google::protobuf::SetLogHandler(
        [](google::protobuf::LogLevel /*level*/, const char* file, int line, const std::string& message) {
          Log(LogLevel::kDebug, "protobuf", "file", file, "line", line, "message", message);
        });
  });
}

}  // namespace attune
