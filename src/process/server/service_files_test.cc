// The files that runners send to a server, by a runner that does as the test says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "device/codec.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/rpc_status.h"
#include "process/server/service_for_test.h"
#include "service/wire/checked_messages.h"
#include "service/wire/job_files.h"
#include "service/wire/jobs.grpc.pb.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using ::testing::HasSubstr;

class ServiceFilesTest : public ServiceTest {
 protected:
  ~ServiceFilesTest() override {
    if (stream_ == nullptr) return;
    context_.TryCancel();
    stream_->Finish();
  }

  // A runner of ann's.
  void Connect() {
    stub_ = proto::Jobs::NewStub(ConnectFleet(fleet_.Enrol("runner", "ann")));
    stream_ = stub_->Run(&context_);
    proto::FromRunner hello;
    hello.mutable_hello()->set_version(kJobsVersion);
    hello.mutable_hello()->set_device(EncodeDevice(DeviceOfTest()));
    hello.mutable_hello()->set_memory_bytes(int64_t{1} << 30);
    ASSERT_TRUE(stream_->Write(hello));
  }
  // Returns the job that the runner gets next.
  std::string AwaitStart() {
    for (proto::ToRunner message; stream_->Read(&message);)
      if (message.has_start()) return message.start().job();
    return "";
  }
  // Sends a file of a job, from the place where the job is.
  absl::Status Send(const std::string& job, const std::string& content, bool is_whole = true) {
    grpc::ClientContext context;
    proto::FileWritten written;
    const auto pieces = stub_->WriteFile(&context, &written);
    proto::FilePiece piece;
    piece.set_job(job);
    piece.set_name("out/x");
    piece.set_digest(Sha256Hex(content));
    piece.set_bytes(content);
    piece.set_is_last(is_whole);
    pieces->Write(piece);
    pieces->WritesDone();
    return FromRpc(pieces->Finish());
  }
  // The files of all jobs that the server has whole, and those that have come in part.
  using Numbers = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
  Numbers NumFiles() {
    const auto count = [&](const std::string& folder) {
      return std::distance(
          std::filesystem::directory_iterator(fleet_.folder().path() + "/server/jobs/files/" + folder),
          std::filesystem::directory_iterator());
    };
    return {count("content"), count("partial")};
  }

  grpc::ClientContext context_;
  std::unique_ptr<proto::Jobs::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<proto::FromRunner, proto::ToRunner>> stream_;
};

TEST_F(ServiceFilesTest, FilesThatNoReportNamesAreForgotten) {
  Connect();
  const auto id = Submit("ann", MockJob(R"({"name": "s"})"));
  ASSERT_TRUE(id.ok()) << id.status();
  const std::string job = AwaitStart();
  ASSERT_TRUE(Send(job, "sent").ok());
  ASSERT_TRUE(Send(job, "a part", /*is_whole=*/false).ok());
  EXPECT_EQ(NumFiles(), Numbers(1, 1));
  // The stage is lost, and with it the files that were sent for its report.
  proto::FromRunner lost;
  lost.mutable_lost()->set_job(job);
  ASSERT_TRUE(stream_->Write(lost));
  testing::AwaitThat([&] { return NumFiles() == Numbers(0, 0); });
  // The same happens when the job is over.
  AwaitStart();
  ASSERT_TRUE(Send(job, "sent again").ok());
  ASSERT_TRUE(schedule_->control().Cancel({.id = *id, .owner = "ann"}, "test").ok());
  testing::AwaitThat([&] { return NumFiles() == Numbers(0, 0); });
}

TEST_F(ServiceFilesTest, ARefusedFileIsToldFromAFullDisk) {
  quota_bytes_ = 3;
  Connect();
  const auto id = Submit("ann", MockJob(R"({"name": "s"})"));
  ASSERT_TRUE(id.ok()) << id.status();
  const std::string job = AwaitStart();
  const absl::Status refused = Send(job, "more than that");
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("tenant ann may store 3 bytes"));
  EXPECT_TRUE(IsRefusedFile(refused));
  // Nothing of it stays.
  testing::AwaitThat([&] { return NumFiles() == Numbers(0, 0); });
}

TEST_F(ServiceFilesTest, AJobThatSendsMoreThanTheQuotaFailsAlone) {
  quota_bytes_ = 12;
  const auto runner = Runner("ann");
  const auto other = Submit("ann", MockJob(R"({"name": "s", "seconds": 3})"));
  ASSERT_TRUE(other.ok()) << other.status();
  Await("ann", *other, [](const auto& shown) { return shown.job().stage() == "s"; });
  const auto id = Submit("ann", CountJob(5));
  ASSERT_TRUE(id.ok()) << id.status();
  const proto::JobDetail detail = AwaitEnd("ann", *id);
  EXPECT_EQ(detail.job().state(), "failed");
  EXPECT_EQ(
      detail.job().error(),
      "tenant ann may store 12 bytes, and would have 15 with what its jobs send; delete uploads, or ask "
      "the administrator for more");
  EXPECT_EQ(ReadFile("ann", *id, "out/count"), "line\n");
  // Its machine continues with its other jobs.
  const proto::JobDetail undisturbed = AwaitEnd("ann", *other);
  EXPECT_EQ(undisturbed.job().state(), "done") << undisturbed.job().error();
  for (const proto::StageOfJob& stage : undisturbed.stages()) EXPECT_EQ(stage.outcome(), "done");
}

}  // namespace
}  // namespace attune
