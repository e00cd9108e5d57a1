#include "http/client/url.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr uint16_t kHttpPort = 80, kHttpsPort = 443;
constexpr size_t kMostUrlBytes = 8192;

uint16_t PortOf(bool is_encrypted) { return is_encrypted ? kHttpsPort : kHttpPort; }

bool IsHost(std::string_view host, bool is_bracketed) {
  return !host.empty() && std::ranges::all_of(host, [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_' ||
           (is_bracketed && c == ':');
  });
}

// "host", "host:port", "[::1]:port"
absl::Status ReadAuthority(std::string_view text, HttpUrl& url) {
  const bool is_bracketed = text.starts_with('[');
  const size_t end = is_bracketed ? text.find(']') : text.find(':');
  if (is_bracketed && end == std::string_view::npos)
    return InvalidInput("its address has no closing bracket");
  const std::string_view host = is_bracketed ? text.substr(1, end - 1) : text.substr(0, end);
  if (!IsHost(host, is_bracketed)) return InvalidInput("it names no host");
  url.host = absl::AsciiStrToLower(host);
  url.port = PortOf(url.is_encrypted);
  std::string_view rest = end == std::string_view::npos ? "" : text.substr(end + (is_bracketed ? 1 : 0));
  if (rest.empty()) return absl::OkStatus();
  int port = 0;
  constexpr int kMostPort = 65535;
  if (!rest.starts_with(':') || !absl::SimpleAtoi(rest.substr(1), &port) || port < 1 || port > kMostPort)
    return InvalidInput("its port is none");
  url.port = static_cast<uint16_t>(port);
  return absl::OkStatus();
}

absl::StatusOr<HttpUrl> Read(std::string_view text) {
  HttpUrl url;
  const size_t colon = text.find("://");
  const std::string scheme =
      colon == std::string_view::npos ? "" : absl::AsciiStrToLower(text.substr(0, colon));
  if (scheme != "http" && scheme != "https")
    return InvalidInput("it begins neither with http:// nor https://");
  url.is_encrypted = scheme == "https";
  std::string_view rest = text.substr(colon + 3);
  if (text.size() > kMostUrlBytes) return InvalidInput("it is too long");
  if (!std::ranges::all_of(rest, [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); }))
    return InvalidInput("it has spaces or other characters that must be escaped");
  if (rest.find('#') != std::string_view::npos) return InvalidInput("it has a fragment");
  const size_t path = rest.find_first_of("/?");
  const std::string_view authority = rest.substr(0, path);
  if (authority.find('@') != std::string_view::npos) return InvalidInput("it has the name of a user");
  RETURN_IF_ERROR(ReadAuthority(authority, url));
  if (path != std::string_view::npos)
    url.target = absl::StrCat(rest[path] == '?' ? "/" : "", rest.substr(path));
  return url;
}

}  // namespace

absl::StatusOr<HttpUrl> HttpUrl::Parse(std::string_view text) {
  absl::StatusOr<HttpUrl> url = Read(text);
  if (url.ok()) return url;
  return InvalidInput("\"", Printable(text.substr(0, kMostUrlBytes)),
                      "\" is not a URL such as https://host:9193 (", url.status().message(), ")");
}

bool HttpUrl::IsLoopback() const {
  if (host == "localhost") return true;
  in_addr v4 = {};
  if (inet_aton(host.c_str(), &v4) != 0) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr v6 = {};
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == IN_LOOPBACKNET);
}

std::string HttpUrl::Authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return absl::StrCat(is_v6 ? "[" : "", host, is_v6 ? "]" : "", ":", port);
}

std::string HttpUrl::Origin() const {
  std::string authority = Authority();
  if (port == PortOf(is_encrypted)) authority.resize(authority.rfind(':'));
  return absl::StrCat(is_encrypted ? "https://" : "http://", authority);
}

std::string EncodePercent(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
    } else {
      absl::StrAppendFormat(&encoded, "%%%02X", byte);
    }
  }
  return encoded;
}

}  // namespace attune
