#include "http/connection_counts.h"

#include <boost/asio/ip/address_v6.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <ranges>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace attune {

namespace ip = boost::asio::ip;

std::string SourceOf(const ip::address& address) {
  if (address.is_v4()) return address.to_string();
  const ip::address_v6 six = address.to_v6();
  if (six.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, six).to_string();
  constexpr unsigned short kNetworkBits = 64;
  return ip::network_v6(six, kNetworkBits).canonical().to_string();
}

std::string AddressNamed(std::string_view text) {
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string(absl::StripAsciiWhitespace(text)), error);
  return error ? "" : address.to_string();
}

std::string PeerBehind(const std::set<std::string>& proxies, const std::string& peer,
                       std::string_view forwarded_for) {
  if (!proxies.contains(peer)) return peer;
  const std::vector<std::string_view> named = absl::StrSplit(forwarded_for, ',', absl::SkipWhitespace());
  for (const std::string_view text : std::views::reverse(named)) {
    std::string address = AddressNamed(text);
    if (address.empty()) return peer;
    if (!proxies.contains(address)) return address;
  }
  return peer;
}

}  // namespace attune
