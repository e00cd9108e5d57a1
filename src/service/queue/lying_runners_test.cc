// Runners that say what makes no sense, to a hub with the schedule and the store behind it, as fleet's
// liars_test.cc has agents.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/testing/manual_clock.h"
#include "base/testing/message_mutations.h"
#include "base/testing/temporary_folder.h"
#include "device/codec.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/mailbox.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/channel.h"
#include "kinds/kinds.h"
#include "service/queue/job_file_pieces.h"
#include "service/queue/known_jobs.h"
#include "service/queue/runner_hub.h"
#include "service/queue/schedule_hosts.h"
#include "service/wire/checked_messages.h"
#include "service/wire/job_files.h"
#include "target/target.h"
#include "work/driver/runner_messages.h"
#include "work/driver/schedule_driver.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using testing::FuzzingRun;
using testing::MessageMutations;
using testing::SpoiledOrder;

constexpr int kConversationsAtOnce = 50;  // between two looks at those who are honest

proto::FromRunner Hello() {
  proto::FromRunner message;
  proto::RunnerHello* hello = message.mutable_hello();
  hello->set_version(kJobsVersion);
  hello->set_program("1.0");
  hello->set_device(EncodeDevice({.fingerprint = "board",
                                  .target = *TargetByName("x86-64-v3"),
                                  .usable = {0, 1},
                                  .processors = {{.number = 0}, {.number = 1, .core = 1, .cache = 1}}}));
  hello->set_memory_bytes(int64_t{8} << 30);
  hello->add_programs("zip");
  return message;
}

// A machine's connection.
class Machine {
 public:
  Machine(RunnerHub& hub, const std::string& owner, const std::string& id)
      : hub_(hub),
        number_(hub.Add({.who = {.role = FleetRole::kRunner, .owner = owner, .id = id}, .serial = id},
                        mailbox_)) {}
  ~Machine() { hub_.Remove(number_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void Say(const proto::FromRunner& message) { hub_.Receive(number_, message); }
  // The job whose stage was begun since the last call; empty: none was.
  std::string TakeBegun() {
    std::string job;
    for (const proto::ToRunner& message : mailbox_->Take())
      if (message.has_command()) job = message.command().job();
    return job;
  }
  std::optional<absl::Status> closed() const { return mailbox_->closed(); }

 private:
  RunnerHub& hub_;
  const std::shared_ptr<Mailbox<proto::ToRunner>> mailbox_ = std::make_shared<Mailbox<proto::ToRunner>>();
  const int64_t number_;
};

// The end of the stage that opens a job, or of the one after it, with which the job is done.
proto::FromRunner Ended(const std::string& job, bool opens, const JobFile& made) {
  RunnerStageEnded ended;
  ended.seconds = 0.5;
  ended.progress = "half";
  ended.figures = R"({"latency_ms": 3})";
  if (opens) {
    ended.next = {.name = "work",
                  .needs = {{.key = kProcessorsKey, .amount = 1}},
                  .memory_bytes = 1 << 20,
                  .seconds = {1, 2, 3}};
    ended.remaining = 2;
  } else {
    ended.result = R"({"stages": 1})";
  }
  proto::FromRunner message;
  message.mutable_reported()->set_job(job);
  message.mutable_reported()->set_report(Encode(RunnerReport(ended)));
  if (!opens) *message.mutable_reported()->add_files() = ToWire(made);
  return message;
}

class LyingRunnersTest : public ::testing::Test {
 protected:
  LyingRunnersTest() {
    auto schedule = jobs_->ResumeOrBeginEndless("server");
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    schedule_ = schedule->id;
    driver_.emplace(
        *std::move(schedule),
        ScheduleDriverOptions{
            .strategy = FindSchedulingStrategy("predictive"),
            .is_endless = true,
            .slots_of = [](const JobSpec& job) { return std::vector<std::string>{OwnerSlot(job.owner)}; }},
        *jobs_, hub_, clock_);
    hosts_.emplace(hub_, *dispatcher_, *fleet_, *driver_);
  }
  void SetUp() override {
    LogGrpcForDebugging();
    SetLogLevel(LogLevel::kOff);
  }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  void Step() {
    clock_.Advance(0.1);
    ASSERT_TRUE(hosts_->UpdateMachines().ok());
    const absl::Status status = driver_->Step(0);
    ASSERT_TRUE(status.ok()) << status;
  }
  // One more job of the owner, unless there is one.
  void Submit(const std::string& owner) {
    const auto is_its = [&](const auto& entry) { return entry.second.record().spec.owner == owner; };
    if (std::ranges::any_of(driver_->jobs(), is_its)) return;
    JobRecord job;
    job.spec = {.id = owner, .kind = "mock", .owner = owner, .base = absl::StrCat("files of ", owner)};
    job.spec.settings = {{"stages", {{{"name", "work"}, {"seconds", 1}}}}};
    const auto added =
        jobs_->AddJobs(schedule_, {{.key = absl::StrCat(owner, ++num_submitted_), .jobs = {job}}});
    ASSERT_TRUE(added.ok()) << added.status();
    for (const auto& [number, record] : added->front()) driver_->Add(number, record);
  }
  // A file that a runner has sent.
  JobFile Sent(const std::string& owner, const std::string& content) {
    const JobFile file = {.name = "out/result", .digest = Sha256Hex(content), .bytes = std::ssize(content)};
    proto::FilePiece piece;
    piece.set_name(file.name);
    piece.set_digest(file.digest);
    piece.set_bytes(content);
    piece.set_is_last(true);
    EXPECT_TRUE(TakeJobFile(*files_, owner, piece, [](proto::FilePiece&) { return false; }).ok());
    return file;
  }

  void ExpectOthersGoOn() {
    const auto done = [&] {
      const auto jobs = jobs_->Jobs(schedule_, {.owner = "ann", .state = JobState::kDone});
      EXPECT_TRUE(jobs.ok()) << jobs.status();
      return jobs.ok() ? std::ssize(*jobs) : 0;
    };
    const auto before = done();
    Submit("ann");
    Machine honest(hub_, "ann", "honest");
    honest.Say(Hello());
    const JobFile made = Sent("files of ann", "made");
    constexpr int kMostSteps = 20;
    int num_stages = 0;
    for (int i = 0; i < kMostSteps && done() == before; ++i) {
      Step();
      if (const std::string job = honest.TakeBegun(); !job.empty())
        honest.Say(Ended(job, num_stages++ == 0, made));
    }
    EXPECT_EQ(done(), before + 1);
    EXPECT_FALSE(honest.closed()) << *honest.closed();
    ExpectListsAreRead();
  }

  void ExpectListsAreRead() {
    const auto jobs = jobs_->Jobs(schedule_, {});
    ASSERT_TRUE(jobs.ok()) << jobs.status();
    const KnownJobs known(*jobs_, schedule_, &*driver_, &*hosts_);
    // All have been read, and some are looked at in detail.
    for (const auto& [number, job] : *jobs) {
      EXPECT_EQ(WithoutControls(job.progress), job.progress);
      EXPECT_EQ(WithoutControls(job.error), job.error);
      if (number + kConversationsAtOnce < jobs->rbegin()->first) continue;
      EXPECT_TRUE(known.Detail(number, job).ok());
      EXPECT_LE(known.Describe(number, job).ByteSizeLong(), size_t{32} << 20);
    }
    const auto past = jobs_->PastStages(10);
    EXPECT_TRUE(past.ok()) << past.status();
  }

  ManualClock clock_;
  const testing::TemporaryFolder folder_;
  const std::unique_ptr<FleetStore> fleet_ = *FleetStore::Open(folder_ / "fleet.db");
  const std::unique_ptr<Dispatcher> dispatcher_ = *Dispatcher::Create(*fleet_, {}, clock_);
  const std::unique_ptr<BlobStore> files_ = *BlobStore::Open(folder_ / "files", {});
  const std::unique_ptr<SqlJobStore> jobs_ = *SqlJobStore::Open(folder_ / "jobs.db", AllJobKinds());
  RunnerHub hub_{*files_,
                 [this](const std::string& id) -> absl::StatusOr<JobSupplies> {
                   const auto found = jobs_->Jobs(schedule_, {.id = id});
                   if (!found.ok() || found->empty()) return absl::NotFoundError("no such job");
                   const JobRecord& job = found->begin()->second;
                   return JobSupplies{.files = job.files, .files_owner = job.spec.base};
                 },
                 nullptr, clock_};
  std::string schedule_;
  std::optional<ScheduleDriver> driver_;
  std::optional<ScheduleHosts> hosts_;
  int num_submitted_ = 0;
};

TEST_F(LyingRunnersTest, HarmNobodyElse) {
  const FuzzingRun run = FuzzingRun::FromEnvironment();
  RecordProperty("seed", absl::StrCat(run.seed));
  int64_t num_refused = 0;
  const std::vector<std::string> known = {"ann-1",      "eve-2",      "honest", "in/x",
                                          "out/result", "processors", "desk"};
  for (int64_t i = 0; i < run.count && !HasFailure(); ++i) {
    SCOPED_TRACE(absl::StrCat("ATTUNE_FUZZ_SEED=", run.seed, ", conversation ", i));
    Random random = run.RandomOf(i);
    MessageMutations mutations(random, known);
    Submit("eve");
    {
      Machine liar(hub_, "eve", absl::StrCat("liar-", mutations.Below(5)));
      const JobFile made = Sent("files of eve", absl::StrCat("made ", i % 7));
      constexpr size_t kSteps = 5;
      const size_t lie = mutations.Below(kSteps);
      std::string job;
      for (const size_t step : SpoiledOrder(mutations, kSteps)) {
        if (const std::string begun = liar.TakeBegun(); !begun.empty()) job = begun;
        proto::FromRunner message;
        if (step == 0) message = Hello();
        if (step == 1 || step == 2) message = Ended(job, step == 1, made);
        if (step == 3) message.mutable_lost()->set_job(job);
        if (step == 3) message.mutable_lost()->set_reason("signal 9");
        if (step == 4) message = Ended("ann-1", false, made);
        std::string bytes = message.SerializeAsString();
        if (step == lie) bytes = mutations.Spoil(bytes);
        if (!message.ParseFromString(bytes)) break;
        liar.Say(message);
        Step();
        Step();
      }
      if (const auto closed = liar.closed()) {
        EXPECT_TRUE(absl::IsInvalidArgument(*closed) || absl::IsFailedPrecondition(*closed)) << *closed;
        EXPECT_EQ(WithoutControls(closed->message()), closed->message());
        ++num_refused;
      }
    }
    Step();
    if (i % kConversationsAtOnce == 0 || i + 1 == run.count) ExpectOthersGoOn();
  }
  // Some lies are noticed, and some of what is said is right.
  EXPECT_GT(num_refused, run.count / 50);
  EXPECT_LT(num_refused, run.count);
  const auto done = jobs_->Jobs(schedule_, {.owner = "eve", .state = JobState::kDone});
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_GT(std::ssize(*done), run.count / 50);
}

TEST_F(LyingRunnersTest, PiecesOfFilesAreTakenAsTheyAreOrNotAtAll) {
  const FuzzingRun run = FuzzingRun::FromEnvironment();
  RecordProperty("seed", absl::StrCat(run.seed));
  const std::string content(1000, 'c'), base(500, 'b');
  const JobFile before = Sent("files", base);
  for (int64_t i = 0; i < run.count && !HasFailure(); ++i) {
    SCOPED_TRACE(absl::StrCat("ATTUNE_FUZZ_SEED=", run.seed, ", conversation ", i));
    Random random = run.RandomOf(i);
    MessageMutations mutations(random, {before.digest, Sha256Hex(content), "out/x"});
    std::vector<std::string> pieces;
    const std::string whole = base + content;
    proto::FilePiece piece;
    piece.set_job("job");
    piece.set_name("out/x");
    piece.set_digest(Sha256Hex(whole));
    piece.set_base(before.digest);
    piece.set_same_bytes(std::ssize(base));
    pieces.push_back(piece.SerializeAsString());
    piece.clear_same_bytes();
    for (size_t at = 0; at < content.size(); at += 250) {
      piece.set_offset(std::ssize(base) + static_cast<int64_t>(at));
      piece.set_bytes(content.substr(at, 250));
      piece.set_is_last(at + 250 == content.size());
      pieces.push_back(piece.SerializeAsString());
    }
    const size_t lie = mutations.Below(pieces.size());
    pieces[lie] = mutations.Spoil(pieces[lie]);
    const std::vector<size_t> order = SpoiledOrder(mutations, pieces.size());
    size_t next = 0;
    const auto read = [&](proto::FilePiece& to) {
      return next < order.size() && to.ParseFromString(pieces[order[next++]]);
    };
    proto::FilePiece first;
    if (!read(first)) continue;
    absl::Status taken = CheckFirstPiece(first);
    if (taken.ok()) taken = TakeJobFile(*files_, "files", first, read);
    EXPECT_LE(taken.message().size(), size_t{2048});
    // Each stored file has the content of its name.
    const auto kept = files_->Read("files", Sha256Hex(whole));
    if (kept.ok()) EXPECT_EQ(kept->second, std::ssize(whole));
    EXPECT_TRUE(files_->Forget("files", Sha256Hex(whole)).ok());
  }
  EXPECT_TRUE(files_->Has("files", before.digest));
}

}  // namespace
}  // namespace attune
