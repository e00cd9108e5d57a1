// Shows by how much the fences around a measured process change its times:
//
//   sandbox_bench [seconds]
//
// times, for this many seconds each, the same kernels in processes behind all fences, as the measuring
// process does, interleaved with processes that have none, and prints the median ratio of both times and its
// confidence interval. The first are also compared with each other, which shows how far processes differ that
// should not.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/process/namespaces.h"
#include "base/processor_set.h"
#include "device/pin.h"
#include "measure/measured_process.h"
#include "measure/timing.h"
#include "runtime/device.h"

namespace attune {
namespace {

constexpr int kPairs = 15;         // of processes that are compared
constexpr int64_t kFloats = 4096;  // in L1

// Each thread adds its part of the numbers to itself, dims[0] times.
int32_t Work(void* const* buffers, int64_t* dims, void* /*scratch*/, int32_t part, int32_t parts) {
  auto* const numbers = static_cast<float*>(buffers[0]);
  for (int64_t round = 0; round < dims[0]; ++round) {
    for (int64_t i = kFloats * part / parts; i < kFloats * (part + 1) / parts; ++i)
      numbers[i] = numbers[i] * 0.5f + 1;
    asm volatile("" : : : "memory");
  }
  return 0;
}

class WorkProgram final : public MeasuredProgram {
 public:
  WorkProgram(int threads, int64_t rounds) : threads_(threads), rounds_(rounds), numbers_(kFloats) {}

  size_t shared_bytes() const override { return 0; }
  int threads() const override { return threads_; }
  double execution_seconds_limit() const override { return 60; }
  double cpu_seconds_limit() const override { return 1e6; }
  std::string NameOf(int /*buffer*/) const override { return "a buffer"; }
  std::string Refusal(const std::byte* /*shared*/) const override { return ""; }

  SetUpResult SetUp(std::byte* /*shared*/) override {
    return CpuDevice().CreateStream(threads_, &stream_).ok() ? SetUpResult::kReady : SetUpResult::kNoThreads;
  }
  void Poison() override {}
  void Move() override {}
  int32_t Run(int64_t executions) override {
    void* const buffers[] = {numbers_.data()};
    int32_t failure = 0;
    stream_->BeginRun();
    for (; executions > 0 && failure == 0; --executions)
      failure = stream_->Launch({Work, buffers, &rounds_, nullptr, 0, threads_});
    stream_->EndRun();
    return failure;
  }
  int32_t Profile() override { return Run(2); }
  int Fetch() override { return -1; }
  bool Locate(const void* /*address*/, int* /*buffer*/, int64_t* /*offset*/) const override { return false; }

 private:
  const int threads_;
  int64_t rounds_;
  std::vector<float> numbers_;
  std::unique_ptr<Stream> stream_;
};

class FencedBatches final : public BatchRunner {
 public:
  FencedBatches(WorkProgram& program, std::span<const int> processors)
      : process_(MeasuredProcess::Start(program, processors, &failure_)) {}
  std::optional<Failure> Run(int64_t executions, double* seconds) override {
    return process_ == nullptr ? failure_ : process_->Run(executions, seconds);
  }
  std::optional<Failure> Move() override { return std::nullopt; }

 private:
  Failure failure_ = {};
  std::unique_ptr<MeasuredProcess> process_;
};

// Batches in a process without fences, which is asked in the same way, by pipes.
class OpenBatches final : public BatchRunner {
 public:
  OpenBatches(WorkProgram& program, std::span<const int> processors) {
    if (pipe(commands_.data()) != 0 || pipe(replies_.data()) != 0) std::abort();
    process_ = fork();
    if (process_ == 0) Serve(program, processors);
  }
  OpenBatches(const OpenBatches&) = delete;
  OpenBatches& operator=(const OpenBatches&) = delete;
  ~OpenBatches() override {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    for (const int end : {commands_[0], commands_[1], replies_[0], replies_[1]}) close(end);
  }

  std::optional<Failure> Run(int64_t executions, double* seconds) override {
    int32_t failed = 0;
    const Stopwatch watch;
    if (write(commands_[1], &executions, sizeof(executions)) != sizeof(executions) ||
        read(replies_[0], &failed, sizeof(failed)) != sizeof(failed) || failed != 0)
      return Failure{TrialOutcome::kCrashed, "the process without fences failed"};
    *seconds = watch.Seconds();
    return std::nullopt;
  }
  std::optional<Failure> Move() override { return std::nullopt; }

 private:
  [[noreturn]] void Serve(WorkProgram& program, std::span<const int> processors) const {
    const PinnedTo pinned(processors);
    close(commands_[1]);  // so that the end of the other process is the end of this one
    int64_t executions = 0;
    if (program.SetUp(nullptr) != SetUpResult::kReady) _exit(1);
    while (read(commands_[0], &executions, sizeof(executions)) == sizeof(executions)) {
      const int32_t failed = program.Run(executions);
      if (write(replies_[1], &failed, sizeof(failed)) != sizeof(failed)) break;
    }
    _exit(0);
  }

  std::array<int, 2> commands_ = {}, replies_ = {};
  pid_t process_ = -1;
};

// The ratio of the times of both; 0 if one fails.
double RatioOf(BatchRunner& candidate, BatchRunner& baseline, double seconds) {
  MeasureOptions options;
  options.precision = 0;
  options.abandon_ratio = 0;
  options.max_batches = 1 << 20;
  options.seconds_limit = seconds;
  Measurement measurement;
  TimeInterleaved(candidate, &baseline, 0, options, &measurement);
  return measurement.ratio;
}

// The first processors that this process may use.
std::vector<int> FirstProcessors(int count) {
  const ProcessorSet usable = ProcessorSet::OfThisThread();
  std::vector<int> first;
  for (int number = 0; number < kMaxProcessors && std::ssize(first) < count; ++number)
    if (usable.Has(number)) first.push_back(number);
  return first;
}

struct Ratios {
  double to_open = 0, to_fenced = 0;
  bool has_namespaces = false;
};

Ratios Measure(int threads, int64_t rounds, double seconds) {
  const std::vector<int> processors = FirstProcessors(threads);
  WorkProgram program(threads, rounds);
  OpenBatches open(program, processors);
  Ratios ratios = {.has_namespaces = EnterNamespaces().ok() && LeaveFiles().ok()};
  FencedBatches fenced(program, processors), again(program, processors);
  ratios.to_open = RatioOf(fenced, open, seconds);
  ratios.to_fenced = RatioOf(fenced, again, seconds);
  return ratios;
}

// In a process of its own, so that the next process without fences is as young as the one behind them: on two
// threads, an old one was measured to be up to 5 % faster.
Ratios MeasureApart(int threads, int64_t rounds, double seconds) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) std::abort();
  const pid_t process = fork();
  if (process == 0) {
    const Ratios ratios = Measure(threads, rounds, seconds);
    _exit(write(ends[1], &ratios, sizeof(ratios)) == sizeof(ratios) ? 0 : 1);
  }
  close(ends[1]);
  Ratios ratios;
  if (read(ends[0], &ratios, sizeof(ratios)) != sizeof(ratios)) ratios = {};
  close(ends[0]);
  waitpid(process, nullptr, 0);
  return ratios;
}

void Print(const char* name, const std::vector<double>& ratios) {
  const MedianInterval median = FindMedian(ratios, 0.95);
  std::printf("  %s %.4f (%.4f to %.4f)", name, median.median, median.low, median.high);
}

void Compare(int threads, int64_t rounds, double seconds) {
  std::vector<double> to_open, to_fenced;
  bool has_namespaces = true;
  for (int pair = 0; pair < kPairs; ++pair) {
    const Ratios ratios = MeasureApart(threads, rounds, seconds / kPairs);
    to_open.push_back(ratios.to_open);
    to_fenced.push_back(ratios.to_fenced);
    has_namespaces = has_namespaces && ratios.has_namespaces;
  }
  std::printf("%d threads, %4ld rounds:", threads, static_cast<long>(rounds));
  Print("fenced to open", to_open);
  Print("fenced to fenced", to_fenced);
  std::printf("%s\n", has_namespaces ? "" : "  without namespaces");
}

int Main(double seconds) {
  signal(SIGPIPE, SIG_IGN);
  for (const int64_t rounds : {1, 30, 1000}) Compare(1, rounds, seconds);
  Compare(2, 30, seconds);
  return 0;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) { return attune::Main(argc > 1 ? std::atof(argv[1]) : 10); }
