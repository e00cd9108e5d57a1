#include "http/response_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/event_stream.h"
#include "http/local_stream_for_test.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class ResponseWriterTest : public ::testing::Test {
 protected:
  void Write(HttpResponse response, const ResponseForm& form) {
    writer_.Write(owner_, std::move(response), form);
  }
  // Returns the bytes that the peer has received once nothing is left to write.
  std::string Received() {
    context_.restart();
    context_.run();
    stream_.End();
    std::string text;
    boost::system::error_code end;
    asio::read(stream_.peer(), asio::dynamic_buffer(text), end);
    return text;
  }

  asio::io_context context_;
  asio::thread_pool pool_{1};
  testing::LocalStream stream_{context_};
  std::vector<bool> limited_, done_;
  ResponseWriter writer_{stream_, pool_, std::chrono::hours(1),
                         [this](bool is_limited) { limited_.push_back(is_limited); },
                         [this](bool keeps_alive) {
                           done_.push_back(keeps_alive);
                           if (!keeps_alive) stream_.End();
                         }};
  const std::shared_ptr<void> owner_ = std::make_shared<int>(0);
};

TEST_F(ResponseWriterTest, WritesText) {
  Write({.status = 404, .body = "none", .content_type = "text/x", .headers = {{"A", "b"}}},
        {.keeps_alive = true});
  const std::string text = Received();
  EXPECT_THAT(text, HasSubstr("HTTP/1.1 404"));
  EXPECT_THAT(text, HasSubstr("A: b\r\n"));
  EXPECT_THAT(text, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(text, EndsWith("\r\n\r\nnone"));
  EXPECT_THAT(done_, ElementsAre(true));
  EXPECT_THAT(limited_, ElementsAre(true));
}

TEST_F(ResponseWriterTest, AnswersHeadWithTheSizeAlone) {
  Write({.body = "text"}, {.is_head = true});
  const std::string text = Received();
  EXPECT_THAT(text, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(text, Not(EndsWith("text")));
  EXPECT_THAT(done_, ElementsAre(false));
}

TEST_F(ResponseWriterTest, WritesEventsUntilTheyEnd) {
  auto events = std::make_shared<EventStream>();
  events->Send({.id = "1", .event = "job", .data = "{}"});
  Write({.events = events}, {.keeps_alive = true});
  EXPECT_TRUE(writer_.has_events());
  writer_.CloseEvents();
  const std::string text = Received();
  EXPECT_THAT(text, HasSubstr("text/event-stream"));
  EXPECT_THAT(text, HasSubstr("data: {}"));
  EXPECT_THAT(text, EndsWith("0\r\n\r\n"));
  EXPECT_FALSE(writer_.has_events());
  EXPECT_THAT(done_, ElementsAre(false));
  EXPECT_THAT(limited_, ElementsAre(true, false));
}

}  // namespace
}  // namespace attune
