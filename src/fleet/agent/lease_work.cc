#include "fleet/agent/lease_work.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/token.h"
#include "measure/codec.h"

namespace attune {

namespace proto = fleet_proto;

namespace {

constexpr std::chrono::milliseconds kFetchPause(200);
constexpr size_t kMostMeasurementBytes = kMostMessageBytes - (1 << 20);  // the rest is short

}  // namespace

LeaseWork::LeaseWork(DeviceHost& host, BlobFetcher& fetcher, Send send)
    : host_(host), fetcher_(fetcher), send_(std::move(send)) {
  if (const absl::Status begun = loop_.Start(); !begun.ok())
    Log(LogLevel::kError, "work of leases is not taken", "reason", begun.message());
}

LeaseWork::~LeaseWork() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
    CancelBatches();
  }
  changed_.notify_all();
  loop_.Stop();
}

void LeaseWork::CancelBatches() {
  waiting_.clear();
  for (const int64_t number : batches_) host_.Cancel(number);
}

void LeaseWork::Begin(const LeaseToken& token) {
  CancelBatches();
  batches_.clear();
  taken_.clear();
  results_.clear();
  latest_ = token;
  is_stopped_ = false;
  changed_.notify_all();
}

void LeaseWork::Take(const proto::Work& work) {
  const LeaseToken token = FromWire(work.token());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (token < latest_ || (token == latest_ && is_stopped_)) return;
  if (token > latest_) {
    Log(LogLevel::kInfo, "lease begins", "lease", TokenText(token), "device", work.device(), "owner",
        work.owner());
    Begin(token);
  }
  Portion portion = {.token = token, .owner = work.owner()};
  for (const proto::Item& item : work.items()) {
    if (const auto result = results_.find(item.index()); result != results_.end()) {
      send_(result->second);
      continue;
    }
    if (!taken_.insert(item.index()).second) continue;  // it is being measured
    const auto request = DecodeWorkerRequest(item.item());
    const auto* decoded = request.ok() ? std::get_if<MeasureItem>(&*request) : nullptr;
    if (decoded == nullptr) {
      Log(LogLevel::kWarning, "an item cannot be read", "lease", TokenText(token), "owner", work.owner(),
          "reason", request.status().message());
      proto::Result answer;
      ToWire(token, *answer.mutable_token());
      answer.set_index(item.index());
      answer.set_measurement(EncodeMeasurement(FailedMeasurement(
          TrialOutcome::kRetry,
          absl::StrCat("the device's agent cannot read it: ", request.status().message()))));
      Answer(std::move(answer));
      continue;
    }
    portion.batch.items.push_back({.index = item.index(), .item = *decoded});
  }
  if (portion.batch.items.empty()) return;
  portion.batch.number = ++last_batch_;
  batches_.insert(portion.batch.number);
  waiting_.push_back(std::move(portion));
  loop_.Wake();
}

void LeaseWork::Stop(const LeaseToken& token) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (token != latest_ || is_stopped_) return;
  Log(LogLevel::kInfo, "lease ends", "lease", TokenText(token));
  CancelBatches();
  is_stopped_ = true;
  changed_.notify_all();
}

bool LeaseWork::is_idle() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_stopped_ || taken_.size() == results_.size();
}

void LeaseWork::Observe(const HostEvent& event) {
  const auto* result = std::get_if<HostResult>(&event);
  if (result == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& digest : result->missing) given_.erase(digest);
  if (!batches_.contains(result->number) || is_stopped_) return;
  const auto index = static_cast<int32_t>(result->index);
  if (index != result->index || !taken_.contains(index) || results_.contains(index)) return;
  proto::Result message;
  ToWire(latest_, *message.mutable_token());
  message.set_index(index);
  message.set_measurement(EncodeMeasurement(result->measurement));
  for (const std::string& digest : result->missing) {
    if (const auto reason = unfetched_.find(digest); reason != unfetched_.end()) {
      // To send it to the fleet once more would not help.
      message.set_measurement(EncodeMeasurement(FailedMeasurement(TrialOutcome::kRetry, reason->second)));
    } else {
      message.add_missing(digest);
    }
  }
  if (message.measurement().size() > kMostMeasurementBytes)
    message.set_measurement(EncodeMeasurement(
        FailedMeasurement(TrialOutcome::kOutOfMemory, "the result is larger than a message may be")));
  Answer(std::move(message));
}

void LeaseWork::Answer(proto::Result result) {
  send_(result);
  const int32_t index = result.index();
  results_[index] = std::move(result);
}

double LeaseWork::Step() {
  Portion portion;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_.empty()) return BackgroundLoop::kUntilWoken;
    portion = std::move(waiting_.front());
    waiting_.pop_front();
  }
  Prepare(portion);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (Counts(portion.token)) host_.Run(std::move(portion.batch));
  return 0;
}

bool LeaseWork::Counts(const LeaseToken& token) const {
  return token == latest_ && !is_stopped_ && !is_ending_;
}

absl::StatusOr<FileDescriptor> LeaseWork::Fetch(const Portion& portion, const std::string& digest) {
  for (;;) {
    auto file = fetcher_.Fetch(portion.token, portion.owner, digest);
    if (!absl::IsUnavailable(file.status())) return file;
    // The connection is broken, and will be made again.
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kFetchPause, [&] { return !Counts(portion.token); });
    if (!Counts(portion.token)) return file;
  }
}

void LeaseWork::Prepare(const Portion& portion) {
  std::set<std::string> needed;
  for (const HostItem& item : portion.batch.items)
    needed.insert({item.item.subject, item.item.data, item.item.baseline});
  needed.erase("");
  for (const std::string& digest : needed) {
    const auto file = Fetch(portion, digest);
    if (!file.ok()) {
      Log(LogLevel::kWarning, "a blob cannot be had", "lease", TokenText(portion.token), "owner",
          portion.owner, "digest", digest, "reason", file.status().message());
      host_.Forget(digest);  // it may be there from another owner
      const std::lock_guard<std::mutex> lock(mutex_);
      given_.erase(digest);
      if (!absl::IsNotFound(file.status()))
        unfetched_[digest] = absl::StrCat("on the device's machine: ", file.status().message());
      continue;
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      unfetched_.erase(digest);
      if (!given_.insert(digest).second) continue;
    }
    host_.Put(digest, file->get());
  }
}

}  // namespace attune
