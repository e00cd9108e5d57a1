// How many connections each address has, so that one alone cannot take them all.
#ifndef ATTUNE_HTTP_CONNECTION_COUNTS_H_
#define ATTUNE_HTTP_CONNECTION_COUNTS_H_

#include <boost/asio/ip/address.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace attune {

// The limits of the connections of a server.
struct ConnectionLimits {
  // One more takes the place of one that waits, of the address that has the most, or is closed at once.
  int in_all = 4000;
  // The most of one address (SourceOf()); a further one is closed at once. 0: there is no such limit.
  int of_address = 500;
  // Addresses of reverse proxies, which connect for many people: for them the limit of an address does not
  // count, and a request's peer is whom they name in X-Forwarded-For.
  std::set<std::string> proxies = {};
};

// Returns the address that is counted: that of IPv4, also where IPv6 wraps it, and the network of 64 bits of
// IPv6, of which its holder has every address.
std::string SourceOf(const boost::asio::ip::address& address);

// The address, as it is written in one way alone; empty if the text is none.
std::string AddressNamed(std::string_view text);

// The address that a request comes from: `peer`, or, if that is one of the proxies, the last one that
// `forwarded_for` (X-Forwarded-For) names and that is no proxy. Anyone can claim the entries before it.
std::string PeerBehind(const std::set<std::string>& proxies, const std::string& peer,
                       std::string_view forwarded_for);

// For one thread at a time.
class ConnectionCounts {
 public:
  // The most of one address; 0: no limit.
  explicit ConnectionCounts(int most_of_each = 0) : most_of_each_(most_of_each) {}

  bool HasRoom(const std::string& source) const { return most_of_each_ == 0 || Of(source) < most_of_each_; }
  int Of(const std::string& source) const {
    const auto found = counts_.find(source);
    return found == counts_.end() ? 0 : found->second;
  }
  void Add(const std::string& source) { ++counts_[source]; }
  void Remove(const std::string& source) {
    const auto found = counts_.find(source);
    if (--found->second == 0) counts_.erase(found);
  }

 private:
  const int most_of_each_;
  std::map<std::string, int> counts_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CONNECTION_COUNTS_H_
