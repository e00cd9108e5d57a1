#include "http/client/followed_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/manual_clock.h"
#include "http/client/script_server_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ScriptServer;

// "id|event|data" of each.
std::vector<std::string> Parsed(std::string_view text, size_t piece = 1) {
  EventParser parser(1000);
  std::vector<ServerEvent> events;
  for (size_t at = 0; at < text.size(); at += piece)
    EXPECT_TRUE(parser.Feed(text.substr(at, piece), events).ok());
  std::vector<std::string> texts;
  for (const ServerEvent& event : events)
    texts.push_back(absl::StrCat(event.id, "|", event.event, "|", event.data));
  return texts;
}

TEST(EventParser, ReadsWhatTheStandardSays) {
  EXPECT_THAT(Parsed("\xEF\xBB\xBF"
                     "data: one\ndata\ndata:two\n\n: comment\n\nid: 7\nevent:state\ndata:  x\n\n"),
              ElementsAre("||one\n\ntwo", "7|state| x"));
  EXPECT_THAT(Parsed("data: a\r\n\r\ndata: b\r\rid: 3\n\nevent: none\n\ndata\n\n", 2),
              ElementsAre("||a", "||b", "3||"));
  EXPECT_THAT(
      Parsed("id: 1\ndata: a\n\ndata: same\n\nid\ndata: none\n\nid: x\0y\ndata: b\n\ndata: incomplete\n"),
      ElementsAre("1||a", "1||same", "||none"));
}

TEST(EventParser, BoundsAnEvent) {
  std::vector<ServerEvent> events;
  EventParser line(100), many(100);
  EXPECT_EQ(line.Feed("data: " + std::string(200, 'x'), events).code(), absl::StatusCode::kResourceExhausted);
  std::string text;
  for (int i = 0; i < 50; ++i) absl::StrAppend(&text, "data: four\n");
  EXPECT_EQ(many.Feed(text, events).code(), absl::StatusCode::kResourceExhausted);
}

TEST(RetryAfter, IsInSecondsOrADate) {
  EXPECT_EQ(RetryAfter({.headers = {{"retry-after", "7"}}}), 7);
  EXPECT_EQ(RetryAfter({.headers = {{"retry-after", "1000000"}}}), 300);
  EXPECT_EQ(RetryAfter({.headers = {{"retry-after", "-1"}}}), 0);
  EXPECT_EQ(RetryAfter({.headers = {{"retry-after", "soon"}}}), 0);
  EXPECT_EQ(RetryAfter({.headers = {{"retry-after", "Fri, 31 Dec 2100 23:59:59 GMT"}}}), 300);
  EXPECT_EQ(RetryAfter({.headers = {{"retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"}}}), 0);
}

constexpr char kBegin[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

TEST(FollowEvents, GoesOnAfterABreakWhereItWas) {
  std::vector<std::string> requests;
  const ScriptServer server([&](const ScriptServer::Peer& peer, int number) {
    requests.push_back(peer.ReceiveUntil("\r\n\r\n"));
    if (number == 0) peer.Send(absl::StrCat(kBegin, "retry: 1\n\nid: 5\ndata: one\n\nid: 6\ndata: cut"));
    if (number == 1) peer.Send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
    if (number == 2) peer.Send(absl::StrCat(kBegin, "id: 6\ndata: two\n\n"));
  });
  const auto client = *HttpClient::Open(server.url());
  std::vector<std::string> seen, away;
  const auto handle = [&](const ServerEvent& event) -> absl::StatusOr<bool> {
    seen.push_back(event.data);
    return event.data != "two";
  };
  const auto answer =
      FollowEvents(*client, {.target = "/events"}, handle,
                   {.on_away = [&](const absl::Status& why) { away.emplace_back(why.message()); }});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(seen, ElementsAre("one", "two"));
  EXPECT_THAT(away, ElementsAre(HasSubstr("the stream of events ended")));
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_THAT(requests[0], Not(HasSubstr("Last-Event-ID")));
  EXPECT_THAT(requests[2], HasSubstr("Last-Event-ID: 5\r\n"));
}

TEST(FollowEvents, EndsWithWhatStaysTrue) {
  const auto follow = [](const std::string& answer, const FollowOptions& options = {}) {
    const ScriptServer server([&](const ScriptServer::Peer& peer, int) {
      peer.ReceiveUntil("\r\n\r\n");
      peer.Send(answer);
    });
    const auto client = *HttpClient::Open(server.url());
    return FollowEvents(
        *client, {},
        [](const ServerEvent&) -> absl::StatusOr<bool> { return absl::DataLossError("no JSON"); }, options);
  };
  EXPECT_EQ(follow("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone")->body, "none");
  EXPECT_EQ(follow("HTTP/1.1 204 No Content\r\n\r\n")->status, 204);
  EXPECT_EQ(follow(absl::StrCat(kBegin, "data: x\n\n")).status(), absl::DataLossError("no JSON"));
  EXPECT_EQ(follow("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(follow(absl::StrCat(kBegin, "data: xxxxxxxx\n\n"), {.most_event_bytes = 5}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(FollowEvents, IsCancelledWhileTheServerIsAway) {
  Cancellation cancellation;
  std::string url;
  {
    const ScriptServer server([](const ScriptServer::Peer&, int) {});
    url = server.url();
  }
  const auto client = *HttpClient::Open(url, {.cancellation = &cancellation});
  const auto answer =
      FollowEvents(*client, {}, [](const ServerEvent&) -> absl::StatusOr<bool> { return true; },
                   {.on_away = [&](const absl::Status&) { cancellation.Cancel(); }});
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace attune
