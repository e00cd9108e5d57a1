// The server in operation: metrics, traces, its end; and requests that peers may repeat.
#include <gmock/gmock.h>

#include <vector>

#include "base/log_scope.h"
#include "process/server/rest_for_test.h"
#include "service/rest/trace.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

class OperationRestTest : public RestTest {
 protected:
  std::string Metrics() {
    MetricsText text;
    gate_.metrics().AddTo(text);
    return text.text();
  }

  const std::string ann_ = Token("ann", AccessRole::kMember);
};

TEST_F(OperationRestTest, RequestsAreCounted) {
  Get(ann_, "/v1/jobs");
  Ask(ann_, "GET", "/v1/jobs/none");
  Ask("", "GET", "/v1/jobs");
  EXPECT_THAT(Metrics(),
              AllOf(HasSubstr("attune_http_requests_total{operation=\"listJobs\",status=\"2xx\"} 1\n"),
                    HasSubstr("{operation=\"listJobs\",status=\"4xx\"} 1\n"),
                    HasSubstr("{operation=\"getJob\",status=\"4xx\"} 1\n"),
                    HasSubstr("attune_http_request_seconds_bucket{operation=\"listJobs\",le=\"+Inf\"} 2\n")));
}

TEST_F(OperationRestTest, AnAddressWithoutATokenMayNotAskWithoutEnd) {
  constexpr int kMany = 2000;
  int refused = 0;
  for (int i = 0; i < kMany; ++i) refused += Ask("no token", "GET", "/v1/jobs").status == 429 ? 1 : 0;
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, kMany);
  EXPECT_EQ(Ask(ann_, "GET", "/v1/jobs").status, 200);
}

TEST_F(OperationRestTest, AServerThatEndsTakesNothingNew) {
  gate_.Drain();
  const HttpResponse refused = Post(ann_, "/v1/jobs", MockJob());
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.headers.contains("Retry-After"));
  EXPECT_EQ(Ask(ann_, "GET", "/v1/jobs").status, 200);
}

TEST_F(OperationRestTest, FollowersAreToldOfTheEnd) {
  const std::string job = Submit(ann_, MockJob());
  const HttpResponse followed = Ask(ann_, "GET", "/v1/jobs/" + job + "/events");
  EXPECT_EQ(events_.streams(), 1);
  events_.Stop();
  const EventStream::Pending pending = followed.events->Take();
  EXPECT_TRUE(pending.is_closed);
  EXPECT_THAT(pending.text, AllOf(HasSubstr("event: job\n"), HasSubstr("event: ending\n")));
}

TEST(RequestTrace, GoesOnWithTheClients) {
  const std::string parent = std::string("00-") + kTrace + "-00f067aa0ba902b7-01";
  EXPECT_EQ(TraceOf(parent)->trace, kTrace);
  EXPECT_THAT(TraceOf(parent)->Parent(), AllOf(StartsWith(std::string("00-") + kTrace), Not(parent)));
  const std::string nobody = std::string("00-") + std::string(32, '0') + "-00f067aa0ba902b7-01";
  for (const std::string& none :
       {std::string(), std::string("x"), nobody, parent + "0", "01" + parent.substr(2)}) {
    EXPECT_NE(TraceOf(none)->trace, kTrace) << none;
    EXPECT_EQ(TraceOf(none)->trace.size(), 32u);
  }
}

TEST_F(OperationRestTest, FollowersOfAJobThatIsRemovedAreLetGo) {
  const std::string job = Submit(ann_, MockJob()),
                    other = Submit(Token("bob", AccessRole::kMember), MockJob());
  std::vector<JobMark> marks = {{.query = {.id = job, .owner = "nobody"}},
                                {.query = {.id = other, .owner = "bob"}}};
  const auto changed = jobs_->schedule().reader().Changes(marks);
  ASSERT_TRUE(changed.ok()) << changed.status();
  ASSERT_EQ(changed->size(), 1u);
  EXPECT_EQ(changed->front().id(), other);
  EXPECT_TRUE(marks[0].is_gone);
  EXPECT_TRUE(jobs_->schedule().reader().Changes(marks)->empty());
}

std::vector<std::string>* lines = nullptr;

TEST(LogScope, EachMessageOfTheThreadSaysIt) {
  std::vector<std::string> logged;
  lines = &logged;
  const LogSink before = SetLogSink([](LogLevel, std::string_view line) { lines->emplace_back(line); });
  {
    const LogScope scope("trace", "a b");
    Log(LogLevel::kError, "inside", "key", 1);
  }
  Log(LogLevel::kError, "outside");
  SetLogSink(before);
  EXPECT_THAT(logged, ElementsAre("inside key=1 trace=\"a b\"", "outside"));
}

}  // namespace
}  // namespace attune
