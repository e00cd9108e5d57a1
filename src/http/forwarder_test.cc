#include "http/forwarder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "http/server.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
namespace ip = boost::asio::ip;

// The whole answer to a request that asks the server to close the connection.
std::string Ask(const std::string& address, const std::string& body) {
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  const size_t colon = address.rfind(':');
  boost::asio::ip::tcp::resolver resolver(context);
  boost::asio::connect(socket, resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
  const std::string request = "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  boost::asio::write(socket, boost::asio::buffer(request));
  std::string answer;
  boost::system::error_code error;
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), error);
  return answer;
}

TEST(Forwarder, PassesConnectionsOnToWhoeverAnswersNow) {
  HttpRouter router;
  router.Add(
      {.method = "POST",
       .path = "/echo",
       .handler = [](const HttpRequest& request) { return HttpResponse{.body = "<" + request.body + ">"}; },
       .most_body_bytes = 1 << 20});
  std::string target;
  const auto forwarder = Forwarder::Start({.address = "127.0.0.1:0", .target = [&] { return target; }});
  ASSERT_TRUE(forwarder.ok()) << forwarder.status();
  const std::string& address = (*forwarder)->address();
  EXPECT_THAT(Ask(address, "a"), HasSubstr("HTTP/1.1 503"));
  auto server = HttpServer::Start({.address = "127.0.0.1:0"}, router);
  ASSERT_TRUE(server.ok()) << server.status();
  target = (*server)->address();
  const std::string large(500'000, 'x');
  EXPECT_THAT(Ask(address, large), HasSubstr("<" + large + ">"));
  server->reset();
  EXPECT_THAT(Ask(address, large), HasSubstr("Retry-After"));
}

TEST(Forwarder, AnAddressHasItsShareOfConnectionsAlone) {
  HttpRouter router;
  router.Add({"POST", "/echo", [](const HttpRequest&) { return HttpResponse{.body = "here"}; }});
  const auto server = HttpServer::Start({.address = "127.0.0.1:0"}, router);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto forwarder = Forwarder::Start({.address = "127.0.0.1:0",
                                           .target = [&] { return (*server)->address(); },
                                           .limits = {.of_address = 1}});
  ASSERT_TRUE(forwarder.ok()) << forwarder.status();
  boost::asio::io_context context;
  const std::string& address = (*forwarder)->address();
  const ip::tcp::endpoint there(ip::make_address("127.0.0.1"),
                                static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  const auto connect = [&](const char* from) {
    ip::tcp::socket socket(context, ip::tcp::endpoint(ip::make_address(from), 0));
    socket.connect(there);
    return socket;
  };
  const auto answer = [](ip::tcp::socket& socket) {
    boost::system::error_code error;
    boost::asio::write(socket, boost::asio::buffer(std::string("POST /echo HTTP/1.0\r\n\r\n")), error);
    std::string text;
    boost::asio::read(socket, boost::asio::dynamic_buffer(text), error);
    return text;
  };
  auto first = connect("127.0.0.1"), second = connect("127.0.0.1"), other = connect("127.0.0.2");
  EXPECT_EQ(answer(second), "");
  EXPECT_THAT(answer(other), HasSubstr("here"));
  EXPECT_THAT(answer(first), HasSubstr("here"));
}

TEST(Forwarder, SaysWhatIsWrongWithItsAddress) {
  EXPECT_TRUE(absl::IsInvalidArgument(Forwarder::Start({.address = "nowhere"}).status()));
  const auto forwarder = Forwarder::Start({.address = "127.0.0.1:0", .target = [] { return ""; }});
  EXPECT_TRUE(absl::IsUnavailable(Forwarder::Start({.address = (*forwarder)->address()}).status()));
}

}  // namespace
}  // namespace attune
