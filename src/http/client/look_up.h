// The addresses of a host, within a time limit.
#ifndef ATTUNE_HTTP_CLIENT_LOOK_UP_H_
#define ATTUNE_HTTP_CLIENT_LOOK_UP_H_

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <vector>

#include "absl/status/statusor.h"
#include "base/cancel.h"
#include "http/client/url.h"

namespace attune {

// At least one. Unavailable if the name is not known or nobody answers before `end`. `cancellation` may be
// null.
absl::StatusOr<std::vector<boost::asio::ip::tcp::endpoint>> LookUpHost(
    const HttpUrl& url, std::chrono::steady_clock::time_point end, const Cancellation* cancellation);

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_LOOK_UP_H_
