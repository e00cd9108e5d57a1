#include "http/request_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/local_stream_for_test.h"

namespace attune {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

class RequestReaderTest : public ::testing::Test {
 protected:
  void Send(std::string_view text) { asio::write(stream_.peer(), asio::buffer(text)); }
  boost::system::error_code ReadHeader() {
    return Await([this](const auto& then) { reader_.ReadHeader(owner_, then); });
  }
  boost::system::error_code ReadBody(size_t most) {
    return Await([this, most](const auto& then) { reader_.ReadBody(owner_, most, then); });
  }

  asio::io_context context_;
  testing::LocalStream stream_{context_};
  HttpServerOptions options_ = {.limits = {.proxies = {"10.0.0.9"}}, .most_header_bytes = 1 << 10};
  RequestReader reader_{stream_, options_, "10.0.0.9"};
  const std::shared_ptr<void> owner_ = std::make_shared<int>(0);

 private:
  template <typename Begin>
  boost::system::error_code Await(const Begin& begin) {
    std::optional<boost::system::error_code> result;
    begin([&result](boost::system::error_code error) { result = error; });
    context_.restart();
    context_.run();
    return result.value_or(asio::error::not_connected);
  }
};

TEST(BodyRoomTest, IsSharedAndGivenBack) {
  size_t used = 0;
  {
    BodyRoom one(used, 10), other(used, 10);
    EXPECT_TRUE(one.Reserve(6));
    EXPECT_FALSE(other.Reserve(5));
    EXPECT_TRUE(other.Reserve(4));
    EXPECT_EQ(used, 10);
    one.Release();
    one.Release();
    EXPECT_EQ(used, 4);
    EXPECT_TRUE(one.Reserve(6));
  }
  EXPECT_EQ(used, 0);
}

TEST_F(RequestReaderTest, ReadsOneRequestAfterTheOther) {
  Send(
      "PUT /a?b=1 HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 10.0.0.1\r\nContent-Length: 5\r\nTag: 1\r\nTag: "
      "2\r\n\r\nhelloHEAD /c "
      "HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  ASSERT_FALSE(ReadHeader());
  EXPECT_EQ(reader_.method(), "PUT");
  EXPECT_EQ(reader_.target(), "/a?b=1");
  EXPECT_TRUE(reader_.has_body());
  EXPECT_EQ(reader_.BodyBytes(7), 5);
  EXPECT_EQ(reader_.WithoutBody().body, "");
  ASSERT_FALSE(ReadBody(5));
  EXPECT_TRUE(reader_.keep_alive());
  const HttpRequest request = reader_.Take();
  EXPECT_EQ(request.body, "hello");
  EXPECT_EQ(request.Header("tag"), "1, 2");
  EXPECT_EQ(request.peer, "10.0.0.1");
  ASSERT_FALSE(ReadHeader());
  EXPECT_TRUE(reader_.is_head());
  EXPECT_FALSE(reader_.has_body());
  ASSERT_FALSE(ReadBody(0));
  EXPECT_FALSE(reader_.keep_alive());
  EXPECT_EQ(reader_.Take().path, "/c");
}

TEST_F(RequestReaderTest, SaysGoOnToAPeerThatWaits) {
  Send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok");
  ASSERT_FALSE(ReadHeader());
  ASSERT_FALSE(ReadBody(2));
  EXPECT_EQ(reader_.Take().body, "ok");
  std::array<char, 12> line = {};
  asio::read(stream_.peer(), asio::buffer(line));
  EXPECT_EQ(std::string_view(line.data(), line.size()), "HTTP/1.1 100");
}

TEST_F(RequestReaderTest, BoundsBodiesWhoseSizeIsNotDeclared) {
  Send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  ASSERT_FALSE(ReadHeader());
  EXPECT_TRUE(reader_.has_body());
  EXPECT_EQ(reader_.BodyBytes(4), 4);
  EXPECT_EQ(ReadBody(4), http::error::body_limit);
}

TEST_F(RequestReaderTest, BoundsHeaders) {
  Send("GET / HTTP/1.1\r\nHost: h\r\nLong: " + std::string(2 << 10, 'x') + "\r\n\r\n");
  EXPECT_EQ(ReadHeader(), http::error::header_limit);
}

}  // namespace
}  // namespace attune
