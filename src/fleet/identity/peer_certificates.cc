#include "fleet/identity/peer_certificates.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_descriptor.h"
#include "base/printable.h"
#include "base/status.h"
#include "fleet/identity/openssl_objects.h"

namespace attune {
namespace {

using Addresses = std::unique_ptr<addrinfo, FreeWith<freeaddrinfo>>;
using TlsContext = std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>>;
using Tls = std::unique_ptr<SSL, FreeWith<SSL_free>>;

struct HostAndPort {
  std::string host;
  std::string port;
};

absl::StatusOr<HostAndPort> Split(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == address.size())
    return InvalidInput("is not a host:port");
  std::string_view host = address.substr(0, colon);
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty()) return InvalidInput("names no host");
  if (!is_bracketed && host.find(':') != std::string_view::npos)
    return InvalidInput("is an IPv6 address without brackets; write [ADDRESS]:PORT");
  return HostAndPort{.host = std::string(host), .port = std::string(address.substr(colon + 1))};
}

absl::StatusOr<Addresses> LookUp(const HostAndPort& at) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(at.host.c_str(), at.port.c_str(), &hints, &found);
  if (error == 0) return Addresses(found);
  return absl::UnavailableError(absl::StrCat("cannot find the host: ", gai_strerror(error)));
}

absl::Status CannotConnect(int error) {
  return absl::UnavailableError(absl::StrCat("cannot connect: ", std::strerror(error)));
}

absl::StatusOr<FileDescriptor> ConnectTo(const addrinfo& to, Deadline deadline) {
  FileDescriptor file(socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol));
  if (file.get() < 0) return CannotConnect(errno);
  if (connect(file.get(), to.ai_addr, to.ai_addrlen) == 0) return file;
  if (errno != EINPROGRESS) return CannotConnect(errno);
  RETURN_IF_ERROR(AwaitSocket(file.get(), POLLOUT, deadline));
  int error = 0;
  socklen_t size = sizeof(error);
  if (getsockopt(file.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return CannotConnect(error);
  return file;
}

// Tries the host's addresses one after the other. Each has an equal share of the time that is left, so that
// one from which no answer comes does not take all of it.
absl::StatusOr<FileDescriptor> ConnectToAny(const addrinfo* addresses, Deadline deadline) {
  int left = 0;
  for (const addrinfo* each = addresses; each != nullptr; each = each->ai_next) ++left;
  absl::StatusOr<FileDescriptor> connection = absl::UnavailableError("the host has no address");
  for (const addrinfo* each = addresses; each != nullptr; each = each->ai_next, --left) {
    const auto now = Deadline::clock::now();
    connection = ConnectTo(*each, now + (deadline - now) / left);
    if (connection.ok()) break;
  }
  return connection;
}

// OpenSSL reads from memory and writes to memory, since this needs a deadline and writing to a connection
// that is closed must not raise SIGPIPE.
absl::StatusOr<Tls> NewTls(SSL_CTX* context) {
  constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};  // servers of gRPC ask for it
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_alpn_protos(context, kHttp2.data(), kHttp2.size()) != 0)
    return OpenSslError("cannot prepare TLS");
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);  // the caller verifies what this returns
  Tls tls(SSL_new(context));
  BioPointer input(BIO_new(BIO_s_mem())), output(BIO_new(BIO_s_mem()));
  if (tls == nullptr || input == nullptr || output == nullptr) return OpenSslError("cannot prepare TLS");
  SSL_set_bio(tls.get(), input.release(), output.release());
  SSL_set_connect_state(tls.get());
  return tls;
}

absl::Status ConnectionIsClosed() {
  return absl::FailedPreconditionError("closes the connection instead of showing a certificate");
}

absl::Status SendPending(BIO* output, int socket, Deadline deadline) {
  char* bytes = nullptr;
  auto size = static_cast<size_t>(BIO_get_mem_data(output, &bytes));
  while (size > 0) {
    const ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes += sent;
      size -= static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      RETURN_IF_ERROR(AwaitSocket(socket, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return ConnectionIsClosed();
    }
  }
  BIO_reset(output);
  return absl::OkStatus();
}

absl::Status ReceiveSome(BIO* input, int socket, Deadline deadline) {
  std::array<char, 4096> bytes;
  for (;;) {
    RETURN_IF_ERROR(AwaitSocket(socket, POLLIN, deadline));
    const ssize_t received = recv(socket, bytes.data(), bytes.size(), 0);
    if (received > 0 && BIO_write(input, bytes.data(), static_cast<int>(received)) == received)
      return absl::OkStatus();
    if (received >= 0 || (errno != EAGAIN && errno != EINTR)) return ConnectionIsClosed();
  }
}

absl::Status Handshake(SSL* tls, int socket, Deadline deadline) {
  for (;;) {
    ERR_clear_error();
    const int result = SSL_do_handshake(tls);
    const bool wants_more = result != 1 && SSL_get_error(tls, result) == SSL_ERROR_WANT_READ;
    const char* const reason = ERR_reason_error_string(ERR_peek_error());
    ERR_clear_error();
    RETURN_IF_ERROR(SendPending(SSL_get_wbio(tls), socket, deadline));
    if (result == 1) return absl::OkStatus();
    if (!wants_more)
      return absl::FailedPreconditionError(
          absl::StrCat("does not speak TLS as a fleet's server does: ", reason == nullptr ? "?" : reason));
    RETURN_IF_ERROR(ReceiveSome(SSL_get_rbio(tls), socket, deadline));
  }
}

absl::StatusOr<std::vector<std::string>> CertificatesOf(const SSL* tls) {
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(tls);
  std::vector<std::string> pems;
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    ASSIGN_OR_RETURN(std::string pem, CertificateToPem(sk_X509_value(chain, i)));
    pems.push_back(std::move(pem));
  }
  return pems;
}

absl::StatusOr<std::vector<std::string>> Certificates(const std::string& address, Deadline deadline) {
  ASSIGN_OR_RETURN(const HostAndPort at, Split(address));
  ASSIGN_OR_RETURN(const Addresses addresses, LookUp(at));
  ASSIGN_OR_RETURN(const FileDescriptor connection, ConnectToAny(addresses.get(), deadline));
  const TlsContext context(SSL_CTX_new(TLS_client_method()));
  ASSIGN_OR_RETURN(const Tls tls, NewTls(context.get()));
  RETURN_IF_ERROR(Handshake(tls.get(), connection.get(), deadline));
  return CertificatesOf(tls.get());
}

}  // namespace

absl::StatusOr<std::vector<std::string>> PeerCertificates(const std::string& address, Deadline deadline) {
  absl::StatusOr<std::vector<std::string>> certificates = Certificates(address, deadline);
  if (!certificates.ok()) return Annotate(certificates.status(), Printable(address));
  return certificates;
}

}  // namespace attune
