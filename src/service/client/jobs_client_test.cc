#include "service/client/jobs_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "http/client/script_server_for_test.h"
#include "service/client/fake_server_for_test.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const RestClientOptions kOptions = {.tries = 3};

class JobsClientTest : public ::testing::Test {
 protected:
  // A job with this file.
  PreparedSubmission Prepare(const std::string& content) {
    std::ofstream(folder_ / "data", std::ios::binary) << content;
    const JobSpec spec = {.id = "net",
                          .kind = "program",
                          .settings = {{"program", "p"}, {"files", {"data"}}},
                          .base = folder_.path()};
    auto submission = PrepareSubmission({spec});
    EXPECT_TRUE(submission.ok()) << submission.status();
    return *std::move(submission);
  }
  PendingSubmission Pending(const std::string& name = "net") {
    auto pending = PendingSubmission::Begin(folder_ / "pending", name);
    EXPECT_TRUE(pending.ok()) << pending.status();
    return *std::move(pending);
  }
  std::string Content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  static RemoteFile FileOf(const std::string& content) {
    return {.name = "out/net.atn", .sha256 = Sha256Hex(content), .bytes = std::ssize(content)};
  }

  const testing::TemporaryFolder folder_;
  FakeServer server_;
  const std::unique_ptr<JobsClient> client_ = *JobsClient::Open(server_.known(), kOptions);
};

std::string Bytes(size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * i >> 3);
  return bytes;
}

TEST_F(JobsClientTest, SendsFilesAndThenJobs) {
  const PreparedSubmission submission = Prepare("bytes");
  ASSERT_TRUE(client_->SendFiles(submission).ok());
  PendingSubmission pending = Pending();
  const auto jobs = client_->Submit(submission, pending);
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 1u);
  EXPECT_EQ(jobs->front().id, "net");
  EXPECT_EQ(server_.uploads().at(Sha256Hex("bytes")), "bytes");
  EXPECT_THAT(server_.taken(), ElementsAre(submission.jobs[0]));
}

TEST_F(JobsClientTest, WhatIsSubmittedAgainIsTakenOnce) {
  server_.lost_answers = 2;
  const PreparedSubmission submission = Prepare("bytes");
  {
    PendingSubmission cut_off = Pending();
    EXPECT_TRUE(client_->Submit(submission, cut_off).ok());
  }
  EXPECT_EQ(server_.taken().size(), 1u);
  // The command was cut off and is given again.
  PendingSubmission again = Pending();
  EXPECT_TRUE(again.is_repeated());
  EXPECT_TRUE(client_->Submit(submission, again).ok());
  EXPECT_EQ(server_.taken().size(), 1u);
  // Once it has succeeded, the same is another one; so is a job that was changed meanwhile.
  PreparedSubmission changed = submission;
  changed.jobs[0]["priority"] = 7;
  EXPECT_TRUE(client_->Submit(changed, again).ok());
  EXPECT_EQ(server_.taken().size(), 2u);
  again.Forget();
  PendingSubmission third = Pending();
  EXPECT_FALSE(third.is_repeated());
  EXPECT_TRUE(client_->Submit(submission, third).ok());
  EXPECT_EQ(server_.taken().size(), 3u);
}

TEST_F(JobsClientTest, TwoEqualCommandsAtOnceAreTwo) {
  const PendingSubmission first = Pending();
  PendingSubmission second = Pending();
  EXPECT_NE(first.KeyOf("a"), second.KeyOf("a"));
  second.Forget();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "pending"), {}), 1);
}

TEST_F(JobsClientTest, AnOldSubmissionCountsNoMore) {
  std::string key;
  {
    const PendingSubmission first = Pending();
    key = first.KeyOf("a");
  }
  EXPECT_EQ(Pending().KeyOf("a"), key);
  for (const auto& file : fs::directory_iterator(folder_ / "pending"))
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(24 * 8));
  EXPECT_NE(Pending().KeyOf("a"), key);
}

TEST_F(JobsClientTest, GivesUpWhenTheServerDoesNotAnswer) {
  server_.lost_answers = 3;
  PendingSubmission pending = Pending();
  EXPECT_THAT(client_->Submit(Prepare("bytes"), pending).status().ToString(),
              HasSubstr("UNAVAILABLE: http://127.0.0.1:"));
}

TEST_F(JobsClientTest, AnUploadGoesOnWhereItBroke) {
  const std::string bytes = Bytes(9 << 20);
  server_.breaks = 3;
  const absl::Status sent = client_->SendFiles(Prepare(bytes));
  ASSERT_TRUE(sent.ok()) << sent;
  EXPECT_EQ(server_.uploads().at(Sha256Hex(bytes)), bytes);
  EXPECT_EQ(server_.received(), std::ssize(bytes));
  // It is there already.
  EXPECT_TRUE(client_->SendFiles(Prepare(bytes)).ok());
  EXPECT_EQ(server_.received(), std::ssize(bytes));
}

TEST_F(JobsClientTest, AFileThatHasChangedIsNotSent) {
  for (const char* changed : {"other", "longer than before"}) {
    const PreparedSubmission submission = Prepare("bytes");
    std::ofstream(folder_ / "data") << changed;
    EXPECT_THAT(client_->SendFiles(submission).ToString(),
                HasSubstr(folder_ / "data: has changed while it was being sent"));
  }
}

TEST_F(JobsClientTest, AsksForJobs) {
  server_.SetJob(FakeServer::Job("net", "waiting"));
  server_.SetJob(FakeServer::Job("over", "failed"));
  const auto unfinished = client_->List("unfinished", 10);
  ASSERT_TRUE(unfinished.ok()) << unfinished.status();
  ASSERT_EQ(unfinished->size(), 1u);
  EXPECT_EQ(unfinished->front().id, "net");
  EXPECT_EQ(client_->List("", 10)->size(), 2u);  // two pages
  EXPECT_EQ(client_->List("", 1)->size(), 1u);
  EXPECT_EQ(client_->Show("over")->job.error, "no memory");
  const absl::Status none = client_->Show("none").status();
  EXPECT_TRUE(absl::IsNotFound(none)) << none;
  EXPECT_EQ(none.message(), "there is no such job");
  EXPECT_EQ(client_->Cancel("net")->state, "cancelled");
}

TEST_F(JobsClientTest, FollowsAJob) {
  server_.SetJob(FakeServer::Job("net", "waiting"));
  std::vector<std::string> states;
  const absl::Status followed = client_->Follow("net", [&](const RemoteJob& job) -> absl::StatusOr<bool> {
    states.push_back(job.state);
    if (job.state == "waiting") server_.SetJob(FakeServer::Job("net", "running"));
    if (job.state == "running") server_.SetJob(FakeServer::Job("net", "done"));
    return true;
  });
  EXPECT_TRUE(followed.ok()) << followed;
  EXPECT_THAT(states, ElementsAre("waiting", "running", "done"));
  EXPECT_TRUE(absl::IsNotFound(client_->Follow("none", [](const RemoteJob&) { return true; })));
}

TEST_F(JobsClientTest, AnAnswerWithoutAFieldNamesIt) {
  for (const char* field : {"id", "state", "waits_for", "submitted", "ended"}) {
    FakeServer::Json job = FakeServer::Job("net", "waiting");
    job.erase(field);
    job["id"] = "net";
    if (std::string(field) == "id") job["state"] = 7;
    server_.SetJob(job);
    EXPECT_THAT(client_->Show("net").status().message(),
                HasSubstr(std::string(field) == "id" ? "state is of another type"
                                                     : absl::StrCat(field, " is missing")));
  }
}

TEST_F(JobsClientTest, ATokenThatDoesNotCountSaysWhatToDo) {
  KnownServer known = server_.known();
  known.token = "attune_other";
  const auto stranger = *JobsClient::Open(known, kOptions);
  const absl::Status status = stranger->List("", 1).status();
  EXPECT_TRUE(absl::IsUnauthenticated(status));
  EXPECT_THAT(status.message(), AllOf(HasSubstr("this token is unknown"), HasSubstr("attune login")));
}

TEST_F(JobsClientTest, ADownloadGoesOnWhereItBroke) {
  const std::string bytes = Bytes(25'500);
  server_.SetFile(bytes);
  server_.breaks_after = 10'000;
  const absl::Status read = client_->Download("net", FileOf(bytes), folder_ / "net.atn");
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(Content("net.atn"), bytes);
  EXPECT_THAT(server_.offsets(), ElementsAre(0, 10'000, 20'000));
}

TEST_F(JobsClientTest, ADownloadBeginsAgainWhereAServerKnowsNoRanges) {
  const testing::ScriptServer server([](const testing::ScriptServer::Peer& peer, int number) {
    peer.ReceiveUntil("\r\n\r\n");
    peer.Send(
        absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", number == 0 ? "01234" : "0123456789"));
  });
  const auto client = *JobsClient::Open({.url = server.url(), .token = "x"}, kOptions);
  const absl::Status read = client->Download("net", FileOf("0123456789"), folder_ / "net.atn");
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(Content("net.atn"), "0123456789");
}

TEST_F(JobsClientTest, AnEmptyFileIsOne) {
  ASSERT_TRUE(client_->Download("net", FileOf(""), folder_ / "empty").ok());
  EXPECT_TRUE(fs::exists(folder_ / "empty"));
}

TEST_F(JobsClientTest, WrongContentReplacesNothing) {
  std::ofstream(folder_ / "net.atn") << "mine";
  server_.SetFile("12345");
  for (const char* named : {"54321", "1234", "123456"}) {
    const absl::Status read = client_->Download("net", FileOf(named), folder_ / "net.atn");
    EXPECT_TRUE(absl::IsDataLoss(read)) << read;
    EXPECT_THAT(read.ToString(), HasSubstr("out/net.atn: the bytes are not"));
  }
  EXPECT_EQ(Content("net.atn"), "mine");
}

TEST_F(JobsClientTest, WhatIsCancelledEnds) {
  Cancellation cancellation;
  cancellation.Cancel();
  const WorkControl control = {.cancellation = &cancellation};
  EXPECT_TRUE(absl::IsCancelled(client_->SendFiles(Prepare("bytes"), control)));
  server_.SetFile("12345");
  EXPECT_TRUE(absl::IsCancelled(client_->Download("net", FileOf("12345"), folder_ / "file", control)));
  EXPECT_FALSE(fs::exists(folder_ / "file"));
}

TEST_F(JobsClientTest, APredictionIsAsked) {
  const auto predicted = client_->Predict({{"agreement", {{"latency_ms", {{"mean", 5}}}}}});
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  const auto prediction = ReadRemotePrediction(*predicted);
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  EXPECT_EQ(prediction->promises.front().limit, 5);
  EXPECT_FALSE(prediction->promises.front().high);
  EXPECT_EQ(prediction->offers.front().limit, 2.5e7);
}

}  // namespace
}  // namespace attune
