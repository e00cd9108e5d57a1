// Hostile kernels are contained: each is refused or killed, the machine is as it was, no false time is
// recorded, and the next kernel is measured as if nothing had happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/process/namespaces.h"
#include "base/processor_set.h"
#include "base/sanitized.h"
#include "base/testing/child_processes.h"
#include "base/testing/temporary_folder.h"
#include "measure/codec.h"
#include "measure/hostile_kernels_for_test.h"
#include "measure/local_service.h"

namespace attune {
namespace {

using testing::ChildrenOf;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using enum TrialOutcome;
using Kind = MeasureItem::Kind;

constexpr double kPatience = 3600;  // seconds: a kernel ends by itself, or is killed
constexpr char kSecret[] = "the-agent's-secret";
constexpr char kSecretVariable[] = "ATTUNE_SECRET_OF_TEST";

std::string ContentOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The part of the machine that a hostile kernel could change and that the test can see.
struct MachineState {
  std::map<std::string, std::string> files = {};  // of the planted folder, by name
  ProcessorSet processors = ProcessorSet::OfThisThread();
  int priority = getpriority(PRIO_PROCESS, 0);
  bool operator==(const MachineState&) const = default;
};

class HostileKernelsTest : public ::testing::Test {
 protected:
  HostileKernelsTest() {
    EXPECT_TRUE(WriteFileAtomically(targets_.credentials, kSecret).ok());
    std::filesystem::current_path(targets_.folder);
    setenv(kSecretVariable, kSecret, 1);
    data_ = Put(SumData(2));
  }
  ~HostileKernelsTest() override {
    unsetenv(kSecretVariable);
    std::filesystem::current_path(working_folder_);
  }

  std::string Put(const std::string& bytes) {
    const absl::StatusOr<Blob> blob = Blob::Of(bytes);
    EXPECT_TRUE(blob.ok() && PutMissing(service_, *blob).ok());
    return blob->digest();
  }
  MeasureItem Item(Kind kind, const BuiltKernel& kernel, double execution_seconds) {
    MeasureItem item = {.kind = kind, .subject = Put(EncodeKernel(kernel)), .data = data_};
    item.options.seconds_limit = 0.02;
    item.options.execution_seconds_limit = execution_seconds;
    item.options.worst_precision = 100;
    item.options.cold_bytes = 1 << 20;
    return item;
  }
  Measurement Measure(const MeasureItem& item) {
    const std::unique_ptr<MeasureBatch> batch = service_.Submit({item});
    const auto result = batch->Next(kNoDeadline);
    EXPECT_TRUE(result.has_value());
    return result.has_value() ? result->second : Measurement();
  }

  MachineState LookAtMachine() const {
    MachineState state;
    for (const auto& entry : std::filesystem::directory_iterator(targets_.folder))
      state.files[entry.path()] = ContentOf(entry.path());
    return state;
  }

  // Neither a check nor a timing of it succeeds.
  void ExpectContained(const HostileKernel& hostile) {
    // On a busy machine a kernel that ends by itself may take long.
    const double patience = hostile.outcomes.contains(kTimedOut) ? 0.3 : kPatience;
    const Measurement checked = Measure(Item(Kind::kCheckKernel, hostile.kernel, patience));
    EXPECT_THAT(hostile.outcomes, Contains(checked.outcome))
        << Name(checked.outcome) << " " << checked.reason;
    EXPECT_THAT(checked.reason, HasSubstr(hostile.reason));
    const Measurement timed = Measure(Item(Kind::kTimeKernel, hostile.kernel, patience));
    EXPECT_NE(timed.outcome, kOk);
    EXPECT_NE(timed.outcome, kRetry) << timed.reason;
    for (const Measurement& one : {checked, timed}) {
      EXPECT_EQ(one.timing.seconds, 0);
      EXPECT_THAT(one.reason, Not(HasSubstr(kSecret)));
    }
  }
  void ExpectUndisturbed() {
    for (const Kind kind : {Kind::kCheckKernel, Kind::kTimeKernel}) {
      const Measurement good = Measure(Item(kind, SumKernel(), kPatience));
      EXPECT_EQ(good.outcome, kOk) << good.reason;
    }
  }

  const std::filesystem::path working_folder_ = std::filesystem::current_path();
  const testing::TemporaryFolder folder_;
  const HostileTargets targets_ = {
      .credentials = folder_ / "credentials", .folder = folder_.path(), .process = getpid()};
  LocalMeasuringService service_{DeviceInfo(), {}};
  std::string data_;
};

TEST_F(HostileKernelsTest, AllAreContained) {
  ExpectUndisturbed();
  const std::vector<pid_t> workers = service_.WorkerPids();
  const MachineState before = LookAtMachine();
  const std::vector<HostileKernel> kernels = HostileKernels(targets_);
  ASSERT_THAT(kernels, SizeIs(Ge(30)));
  for (const HostileKernel& hostile : kernels) {
    SCOPED_TRACE(hostile.name);
    ExpectContained(hostile);
    ExpectUndisturbed();
    EXPECT_EQ(service_.WorkerPids(), workers) << "the measuring process died";
    for (const pid_t worker : workers) EXPECT_THAT(ChildrenOf(worker), IsEmpty());
    EXPECT_TRUE(LookAtMachine() == before);
  }
  EXPECT_EQ(ContentOf(targets_.credentials), kSecret);
  for (const pid_t worker : workers)
    EXPECT_THAT(ContentOf("/proc/" + std::to_string(worker) + "/environ"), Not(HasSubstr(kSecret)));
}

// The lines "Name:\tvalue" of a process's status.
std::map<std::string, std::string> StatusOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  std::map<std::string, std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (const size_t colon = line.find(":\t"); colon != std::string::npos)
      lines[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return lines;
}

// A process as it is seen from outside.
struct Fences {
  std::map<std::string, std::string> status = {};
  std::map<std::string, std::string> namespaces = {};  // by kind
  bool has_empty_root = false;
};

Fences FencesAround(pid_t process) {
  Fences fences = {.status = StatusOf(process)};
  const std::string folder = "/proc/" + std::to_string(process);
  std::error_code error;
  for (const char* kind : {"user", "pid", "mnt", "ipc", "net"})
    fences.namespaces[kind] = std::filesystem::read_symlink(folder + "/ns/" + kind, error);
  fences.has_empty_root = std::filesystem::is_empty(folder + "/root/", error) && !error;
  return fences;
}

bool SystemGivesAll() {
  const pid_t child = fork();
  if (child == 0) _exit(EnterNamespaces().ok() && LeaveFiles().ok() ? 0 : 1);
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

// The number of filters of system calls that a process has; 0 if the system does not say.
int FiltersOf(const Fences& fences) {
  const auto found = fences.status.find("Seccomp_filters");
  return found == fences.status.end() ? 0 : std::stoi(found->second);
}

TEST_F(HostileKernelsTest, LiveBehindAllFences) {
  const bool has_namespaces = SystemGivesAll();
  const Fences ours = FencesAround(getpid());
  if (!ours.status.contains("Seccomp_filters")) GTEST_SKIP() << "the system does not count filters";
  // The last fence to go up is the second filter; a sanitizer has no first one.
  const int filters = FiltersOf(ours) + (kIsSanitized ? 1 : 2);
  const HostileKernel hanging = MakeHostile("hangs", HostileCode().HangForever(), {kTimedOut});
  const auto batch = service_.Submit({Item(Kind::kCheckKernel, hanging.kernel, kPatience)});
  std::optional<Fences> fences;
  while (!fences && !batch->Next(After(0.001))) {
    for (const pid_t worker : service_.WorkerPids()) {
      for (const pid_t child : ChildrenOf(worker)) {
        Fences seen = FencesAround(child);
        if (FiltersOf(seen) != filters) continue;
        fences = std::move(seen);
        kill(child, SIGKILL);
      }
    }
  }
  ASSERT_TRUE(fences.has_value());
  EXPECT_EQ(fences->status["Seccomp"], "2");
  EXPECT_EQ(fences->status["NoNewPrivs"], "1");
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    EXPECT_EQ(fences->status[set], std::string(16, '0')) << set;
  if (!has_namespaces) GTEST_SKIP() << "the system does not give all namespaces";
  EXPECT_THAT(fences->status["NSpid"], ::testing::EndsWith("\t1"));
  EXPECT_TRUE(fences->has_empty_root);
  for (const auto& [kind, name] : fences->namespaces) EXPECT_NE(name, ours.namespaces.at(kind)) << kind;
}

}  // namespace
}  // namespace attune
