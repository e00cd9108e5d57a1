#include "service/client/jobs_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "service/client/fake_server_for_test.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr JobsClientOptions kOptions = {.tries = 3};

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
  std::string Content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  static proto::JobFile FileOf(const std::string& content) {
    proto::JobFile file;
    file.set_name("out/net.atn");
    file.set_digest(Sha256Hex(content));
    file.set_bytes(std::ssize(content));
    return file;
  }

  const testing::TemporaryFolder folder_;
  FakeServer server_;
  JobsClient client_{server_.credentials(), kOptions};
};

std::string Bytes(size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * i >> 3);
  return bytes;
}

TEST_F(JobsClientTest, SendsFilesAndThenJobs) {
  const PreparedSubmission submission = Prepare("bytes");
  const auto jobs = client_.Submit(submission);
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 1u);
  EXPECT_EQ(jobs->front().id(), "net");
  EXPECT_EQ(server_.blobs.complete().at(Sha256Hex("bytes")), "bytes");
  ASSERT_EQ(server_.jobs.taken().size(), 1u);
  EXPECT_EQ(server_.jobs.taken()[0].SerializeAsString(), submission.message.SerializeAsString());
}

TEST_F(JobsClientTest, WhatIsSubmittedAgainIsTakenOnce) {
  server_.jobs.lost_answers = 2;
  const auto jobs = client_.Submit(Prepare("bytes"));
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_EQ(server_.jobs.taken().size(), 1u);
}

TEST_F(JobsClientTest, GivesUpWhenTheServerDoesNotAnswer) {
  server_.jobs.lost_answers = 3;
  EXPECT_THAT(client_.Submit(Prepare("bytes")).status().ToString(),
              HasSubstr("UNAVAILABLE: the fleet's server " + server_.credentials().server));
}

TEST_F(JobsClientTest, AnUploadGoesOnWhereItBroke) {
  const std::string bytes = Bytes(3 << 20);
  server_.blobs.breaks = 3;
  const auto jobs = client_.Submit(Prepare(bytes));
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_EQ(server_.blobs.complete().at(Sha256Hex(bytes)), bytes);
  EXPECT_EQ(server_.blobs.received(), std::ssize(bytes));
}

TEST_F(JobsClientTest, AFileThatHasChangedIsNotSubmitted) {
  for (const char* changed : {"other", "longer than before"}) {
    const PreparedSubmission submission = Prepare("bytes");
    std::ofstream(folder_ / "data") << changed;
    EXPECT_THAT(client_.Submit(submission).status().ToString(),
                HasSubstr(folder_ / "data: has changed while it was being sent"));
  }
  EXPECT_TRUE(server_.jobs.taken().empty());
}

TEST_F(JobsClientTest, AsksForJobs) {
  proto::JobDetail detail;
  for (const int64_t end : {0, 5}) {
    detail.mutable_job()->set_id(end == 0 ? "net" : "over");
    detail.mutable_job()->set_ended_ms(end);
    server_.jobs.SetJob(detail);
  }
  const auto unfinished = client_.List(true);
  ASSERT_TRUE(unfinished.ok()) << unfinished.status();
  ASSERT_EQ(unfinished->size(), 1u);
  EXPECT_EQ(unfinished->front().id(), "net");
  EXPECT_EQ(client_.List(false)->size(), 2u);
  EXPECT_EQ(client_.Show("over")->job().ended_ms(), 5);
  EXPECT_EQ(client_.Show("none").status(), absl::NotFoundError("there is no such job"));
  EXPECT_EQ(client_.Cancel("net")->state(), "cancelled");
}

TEST_F(JobsClientTest, AServerThatDoesNotKnowACallIsTooOld) {
  EXPECT_THAT(FleetClient(server_.credentials()).Devices("").status().ToString(),
              HasSubstr("is too old to do this; update it"));
}

TEST_F(JobsClientTest, ADownloadGoesOnWhereItBroke) {
  const std::string bytes = Bytes(25'500);
  server_.jobs.SetFile(bytes);
  server_.jobs.breaks_after = 10'000;
  const absl::Status read = client_.ReadFile("net", FileOf(bytes), folder_ / "net.atn");
  ASSERT_TRUE(read.ok()) << read;
  EXPECT_EQ(Content("net.atn"), bytes);
  EXPECT_THAT(server_.jobs.offsets(), ElementsAre(0, 10'000, 20'000));
}

TEST_F(JobsClientTest, AnEmptyFileIsOne) {
  ASSERT_TRUE(client_.ReadFile("net", FileOf(""), folder_ / "empty").ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "empty"));
}

TEST_F(JobsClientTest, WrongContentReplacesNothing) {
  std::ofstream(folder_ / "net.atn") << "mine";
  server_.jobs.SetFile("12345");
  for (const char* named : {"54321", "1234"}) {
    const absl::Status read = client_.ReadFile("net", FileOf(named), folder_ / "net.atn");
    EXPECT_TRUE(absl::IsDataLoss(read)) << read;
    EXPECT_THAT(read.ToString(), HasSubstr("out/net.atn: what comes is not"));
  }
  const absl::Status less = client_.ReadFile("net", FileOf("123456"), folder_ / "net.atn");
  EXPECT_THAT(less.ToString(), HasSubstr("has sent only 5 of 6 bytes"));
  EXPECT_EQ(Content("net.atn"), "mine");
}

TEST_F(JobsClientTest, WhatIsCancelledEnds) {
  Cancellation cancellation;
  cancellation.Cancel();
  const WorkControl control = {.cancellation = &cancellation};
  EXPECT_TRUE(absl::IsCancelled(client_.Submit(Prepare("bytes"), control).status()));
  server_.jobs.SetFile("12345");
  EXPECT_TRUE(absl::IsCancelled(client_.ReadFile("net", FileOf("12345"), folder_ / "file", control)));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "file"));
}

}  // namespace
}  // namespace attune
