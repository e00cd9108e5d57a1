#include "measure/local_service.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/threads.h"
#include "measure/batch_knowledge.h"
#include "measure/batch_results.h"
#include "measure/codec.h"
#include "measure/measure_worker.h"
#include "measure/timing.h"

namespace attune {
namespace {

constexpr double kSendSeconds = 30;  // for an idle worker to accept its request

// The time limit for a worker that takes all the time it may: prepackings, checks and batches have their
// own limits, and run one after the other.
double SecondsLimit(const MeasureItem& item) {
  constexpr double kSteps = 40;
  return 120 + kSteps * item.options.execution_seconds_limit +
         (kTimingPatience + 2) * item.options.seconds_limit;
}

// The measurement that follows from an answer of the pool.
Measurement Judge(const absl::StatusOr<std::string>& answer, const ProcessEnd& end) {
  if (answer.ok()) {
    absl::StatusOr<Measurement> decoded = DecodeMeasurement(*answer);
    if (decoded.ok()) return *std::move(decoded);
    return FailedMeasurement(TrialOutcome::kRetry, std::string(decoded.status().message()));
  }
  if (absl::IsAborted(answer.status()))
    return FailedMeasurement(TrialOutcome::kRetry, std::string(answer.status().message()));
  const TrialOutcome outcome = absl::IsDeadlineExceeded(answer.status()) ? TrialOutcome::kTimedOut
                               : absl::IsUnavailable(answer.status())    ? OutcomeOf(end)
                                                                         : TrialOutcome::kRetry;
  return FailedMeasurement(
      outcome, absl::StrCat("the measuring process failed: ", answer.status().message(), "; ", end.reason));
}

}  // namespace

absl::Status PutMissing(MeasuringService& service, const Blob& blob) {
  return service.Has(blob.digest()) ? absl::OkStatus() : service.Put(blob);
}

// Uses its own thread to send items to the workers.
class LocalMeasuringService::Batch final : public MeasureBatch {
 public:
  Batch(LocalMeasuringService& service, std::vector<MeasureItem> items)
      : service_(service),
        items_(std::move(items)),
        blobs_(service.Use(items_)),  // keeps them alive until the batch is over
        results_(items_.size()) {
    if (!StartThread(thread_, [this] { Run(); })) results_.Drop("the system has no more threads");
  }

  ~Batch() override {
    Cancel();
    if (thread_.joinable()) thread_.join();
  }

  std::optional<std::pair<size_t, Measurement>> Next(Deadline deadline) override {
    return results_.Next(deadline);
  }
  bool is_over() const override { return results_.is_over(); }
  void Cancel() override { is_cancelled_ = true; }

  double SecondsSinceHeartbeat() const override { return SystemClock().Now() - heartbeat_; }

 private:
  void Run() {
    // Exclusive items keep their order, and nothing else runs beside them.
    for (size_t begin = 0; begin < items_.size() && !is_cancelled_;) {
      size_t end = begin + 1;
      while (end < items_.size() && items_[end].is_exclusive() == items_[begin].is_exclusive()) ++end;
      Ask(begin, end);
      begin = end;
    }
    results_.Drop("cancelled");
  }

  void Ask(size_t begin, size_t end) {
    const bool is_exclusive = items_[begin].is_exclusive();
    PooledRequests requests;
    requests.count = end - begin;
    requests.at_once = is_exclusive ? 1 : static_cast<size_t>(std::max(1, service_.options_.checkers));
    requests.send = [&](WorkerProcess& worker, size_t i) {
      return service_.Send(worker, knowledge_.Apply(items_[begin + i]), blobs_);
    };
    requests.seconds_limit = [&](size_t i) { return SecondsLimit(items_[begin + i]); };
    requests.preferred = [&](size_t i) { return service_.CheckerOf(items_[begin + i].subject); };
    requests.answered = [&](size_t i, const auto& answer, const ProcessEnd& end_of_process, int64_t worker) {
      if (!is_exclusive) service_.NoteChecker(items_[begin + i].subject, worker);
      Measurement measurement = Judge(answer, end_of_process);
      knowledge_.Learn(items_[begin + i], measurement);
      results_.Deliver(begin + i, std::move(measurement));
    };
    requests.is_cancelled = [&] { return is_cancelled_.load(); };
    requests.alive = [&] { heartbeat_ = SystemClock().Now(); };
    service_.pool_.Run(requests);
  }

  LocalMeasuringService& service_;
  const std::vector<MeasureItem> items_;
  const std::map<std::string, Blob> blobs_;
  std::atomic<bool> is_cancelled_ = false;
  std::atomic<double> heartbeat_ = SystemClock().Now();

  BatchKnowledge knowledge_;  // used by the thread only
  BatchResults results_;

  std::thread thread_;  // last member: uses all of the above
};

LocalMeasuringService::LocalMeasuringService(DeviceInfo device, LocalServiceOptions options)
    : device_(std::move(device)),
      options_(std::move(options)),
      pool_({.kind = kMeasureWorkerKind,
             .program = options_.worker_program,
             .limits = {},
             .start_seconds_limit = options_.start_seconds_limit,
             .set_up = nullptr}) {}

LocalMeasuringService::~LocalMeasuringService() = default;

bool LocalMeasuringService::Has(const std::string& digest) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return by_digest_.contains(digest);
}

absl::Status LocalMeasuringService::Put(const Blob& blob) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (by_digest_.contains(blob.digest())) return absl::OkStatus();
  blobs_.push_back(blob);
  by_digest_[blob.digest()] = std::prev(blobs_.end());
  bytes_ += blob.size();
  while (bytes_ > options_.blob_bytes && blobs_.size() > 1) Evict(blobs_.begin());
  return absl::OkStatus();
}

void LocalMeasuringService::Forget(const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = by_digest_.find(digest); found != by_digest_.end()) Evict(found->second);
}

void LocalMeasuringService::Evict(std::list<Blob>::iterator blob) {
  bytes_ -= blob->size();
  by_digest_.erase(blob->digest());
  checked_.erase(blob->digest());
  blobs_.erase(blob);
}

std::map<std::string, Blob> LocalMeasuringService::Use(const std::vector<MeasureItem>& items) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<std::string, Blob> used;
  for (const MeasureItem& item : items) {
    for (const std::string& digest : {item.subject, item.data, item.baseline}) {
      const auto found = by_digest_.find(digest);
      if (found == by_digest_.end() || !used.emplace(digest, *found->second).second) continue;
      blobs_.splice(blobs_.end(), blobs_, found->second);
    }
  }
  return used;
}

absl::Status LocalMeasuringService::Send(WorkerProcess& worker, const MeasureItem& item,
                                         const std::map<std::string, Blob>& blobs) {
  const Deadline deadline = After(kSendSeconds);
  std::vector<Blob> lacking;
  std::vector<std::string> forgotten;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::set<std::string>& sent = sent_[worker.id()];
    for (const std::string& digest : sent) {
      if (!by_digest_.contains(digest) && !blobs.contains(digest)) forgotten.push_back(digest);
    }
    for (const std::string& digest : forgotten) sent.erase(digest);
    for (const std::string& digest : {item.subject, item.data, item.baseline}) {
      const auto blob = blobs.find(digest);
      if (blob != blobs.end() && sent.insert(digest).second) lacking.push_back(blob->second);
    }
  }
  for (const std::string& digest : forgotten)
    RETURN_IF_ERROR(SendMessage(worker.socket(), EncodeWorkerRequest(ForgetBlob{digest}), deadline));
  for (const Blob& blob : lacking) {
    ASSIGN_OR_RETURN(const FileDescriptor file, blob.Open());
    RETURN_IF_ERROR(SendMessage(worker.socket(), EncodeWorkerRequest(NewBlob{blob.digest()}), deadline));
    RETURN_IF_ERROR(SendFile(worker.socket(), file.get(), deadline));
  }
  return worker.Send(EncodeWorkerRequest(item), deadline);
}

int64_t LocalMeasuringService::CheckerOf(const std::string& digest) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = checked_.find(digest);
  return found == checked_.end() ? -1 : found->second;
}

void LocalMeasuringService::NoteChecker(const std::string& digest, int64_t worker) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (worker >= 0 && by_digest_.contains(digest)) checked_[digest] = worker;
}

std::unique_ptr<MeasureBatch> LocalMeasuringService::Submit(std::vector<MeasureItem> items) {
  return std::make_unique<Batch>(*this, std::move(items));
}

}  // namespace attune
