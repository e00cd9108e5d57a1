// The server, runners and clients together, over the loopback.
#ifndef ATTUNE_PROCESS_SERVER_SERVICE_FOR_TEST_H_
#define ATTUNE_PROCESS_SERVER_SERVICE_FOR_TEST_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log.h"
#include "base/testing/await_that.h"
#include "fleet/server/fleet_for_test.h"
#include "process/server/job_server_for_test.h"
#include "service/runner/runner_for_test.h"

namespace attune {

// A program that keeps a count in its folder, and tells it: each stage adds a line to out/count.
inline constexpr char kCountProgram[] = R"(
import json, os, sys
opening = json.loads(sys.stdin.readline())
os.makedirs("out", exist_ok=True)
def count():
    return len(open("out/count").readlines()) if os.path.exists("out/count") else 0
def answer():
    settings = opening["settings"]
    if count() >= settings["stages"]:
        path = {"file": opening["folder"] + "/out/count"} if settings.get("tells_path") else {}
        print(json.dumps({"done": {"count": count(), **path}}), flush=True)
    else:
        stage = {"name": "count", "needs": [{"key": "processors", "amount": 1}]}
        print(json.dumps({"stage": stage}), flush=True)
answer()
for line in sys.stdin:
    with open("out/count", "a") as file:
        file.write("line\n")
    answer()
)";

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest()
      : fleet_([this](const std::string& folder, const FleetParts& parts) {
          JobScheduleOptions options = {.folder = folder + "/jobs",
                                        .strategy = FindSchedulingStrategy("fair_share")};
          options.storage_quota = [this](const std::string&) -> absl::StatusOr<StorageShare> {
            return StorageShare{.quota_bytes = quota_bytes_};
          };
          auto made = std::make_unique<JobServerOfTest>(options, parts);
          schedule_ = &made->jobs().schedule();
          blobs_ = &parts.blobs;
          return made;
        }) {}

  void SetUp() override { SetLogLevel(LogLevel::kError); }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  // `server`: the address by which it reaches the server, if it is another than the server's own.
  std::unique_ptr<RunnerOfTest> Runner(const std::string& owner, const std::string& server = "") {
    JobRunnerOptions options;
    options.folder = fleet_.folder().path() + "/runner" + std::to_string(++num_runners_);
    const std::string program = fleet_.folder().path() + "/count.py";
    EXPECT_TRUE(WriteFileAtomically(program, kCountProgram).ok());
    options.programs["count"] = {"python3", program};
    FleetCredentials credentials = fleet_.Enrol("runner", owner);
    if (!server.empty()) credentials.server = server;
    EXPECT_TRUE(SaveCredentials(options.folder, credentials).ok());
    return std::make_unique<RunnerOfTest>(options);
  }

  static jobs_service_proto::SubmittedJob MockJob(const std::string& stages, int repeat = 1) {
    jobs_service_proto::SubmittedJob job;
    job.set_name("mock");
    job.set_kind("mock");
    job.set_settings(absl::StrCat("{\"stages\": [", stages, "], \"repeat\": ", repeat, "}"));
    return job;
  }
  static jobs_service_proto::SubmittedJob CountJob(int stages) {
    jobs_service_proto::SubmittedJob job;
    job.set_name("count");
    job.set_kind("program");
    job.set_settings(absl::StrCat(R"({"program": "count", "settings": {"stages": )", stages, "}}"));
    return job;
  }

  absl::StatusOr<std::string> Submit(const std::string& owner, const jobs_service_proto::SubmittedJob& job,
                                     const std::string& key = "") {
    jobs_service_proto::Submission submission;
    submission.set_key(key.empty() ? "submission " + std::to_string(++num_submissions_) : key);
    *submission.add_jobs() = job;
    const auto jobs = schedule_->submissions().Submit(owner, "test", submission, *blobs_);
    return jobs.ok() ? absl::StatusOr<std::string>(jobs->front().id()) : jobs.status();
  }
  absl::StatusOr<jobs_service_proto::JobDetail> Show(const std::string& owner, const std::string& id) {
    return schedule_->reader().Show({.id = id, .owner = owner});
  }
  // Waits until it holds for the job.
  jobs_service_proto::JobDetail Await(
      const std::string& owner, const std::string& id,
      const std::function<bool(const jobs_service_proto::JobDetail&)>& holds) {
    absl::StatusOr<jobs_service_proto::JobDetail> shown;
    testing::AwaitThat([&] {
      shown = Show(owner, id);
      // A server that starts again is away meanwhile.
      if (absl::IsUnavailable(shown.status())) return false;
      EXPECT_TRUE(shown.ok()) << shown.status();
      return !shown.ok() || holds(*shown);
    });
    return shown.ok() ? *std::move(shown) : jobs_service_proto::JobDetail();
  }
  jobs_service_proto::JobDetail AwaitEnd(const std::string& owner, const std::string& id) {
    return Await(owner, id, [](const jobs_service_proto::JobDetail& detail) {
      return detail.job().state() != "waiting" && detail.job().state() != "running";
    });
  }
  static int DoneStages(const jobs_service_proto::JobDetail& detail) {
    return static_cast<int>(std::ranges::count_if(detail.stages(), [](const auto& stage) {
      return stage.outcome() == "done" && stage.name() != "open";
    }));
  }
  std::string ReadFile(const std::string& owner, const std::string& id, const std::string& name) {
    const auto opened = schedule_->reader().OpenFile({.id = id, .owner = owner}, name);
    if (!opened.ok()) return opened.status().ToString();
    const InputFile& file = opened->file;
    std::string content(static_cast<size_t>(file.bytes), '\0');
    EXPECT_EQ(pread(file.descriptor.get(), content.data(), content.size(), 0), file.bytes);
    return content;
  }

  std::atomic<int64_t> quota_bytes_ = INT64_MAX;
  JobSchedule* schedule_ = nullptr;  // of the server that runs now
  BlobStore* blobs_ = nullptr;       // that clients have sent to it
  FleetOfTest fleet_;
  int num_runners_ = 0, num_submissions_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_SERVICE_FOR_TEST_H_
