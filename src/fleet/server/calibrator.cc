#include "fleet/server/calibrator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "device/codec.h"
#include "fleet/calibration/drift.h"
#include "fleet/wire/checked_messages.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

static_assert(size_t{kFirstCalibrationsKept} >= kBaselineCalibrations);
static_assert(size_t{kLatestCalibrationsKept} >= kUsualCalibrations + 2);

constexpr int kMostThreads = 1024;  // of an item
constexpr double kLookSeconds = 1;  // between two looks for devices that are due
constexpr int32_t kLeastPriority = std::numeric_limits<int32_t>::min();
constexpr int32_t kMostPriority = std::numeric_limits<int32_t>::max();

// The peak rates while all processors are busy, as they are when networks are timed: a device that cannot
// shed its heat shows it then.
MeasureItem ItemFor(const proto::Device& device) {
  MeasureItem item = {.kind = MeasureItem::Kind::kMeasurePeaks};
  if (const auto info = DecodeDevice(device.info()); info.ok())
    item.options.threads = std::clamp(static_cast<int>(info->usable.size()), 1, kMostThreads);
  return item;
}

std::vector<Peaks> PeaksOf(const std::vector<Calibration>& calibrations) {
  std::vector<Peaks> peaks;
  for (const Calibration& calibration : calibrations) peaks.push_back(calibration.peaks);
  return peaks;
}

}  // namespace

Calibrator::~Calibrator() {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (!attempts_.empty()) End(attempts_.begin()->first);
}

void Calibrator::Tick() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> over;
  for (auto& [device, attempt] : attempts_)
    if (GoOn(device, attempt)) over.push_back(device);
  for (const std::string& device : over) End(device);
  if (options_.interval_seconds == 0 || clock_.Now() - looked_ < kLookSeconds) return;
  looked_ = clock_.Now();
  BeginDue();
}

absl::Status Calibrator::Begin(const std::string& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(const proto::Device found, Find(device));
  if (!found.is_there()) return absl::FailedPreconditionError(absl::StrCat(device, " is away"));
  if (!found.drained().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(device, " is given out no more (", found.drained(), "); resume it first"));
  }
  const auto known = attempts_.find(device);
  if (known != attempts_.end() && (known->second.is_asked_for || known->second.leased_at))
    return absl::OkStatus();
  if (known != attempts_.end()) End(device);
  Ask(device, true);
  return absl::OkStatus();
}

absl::Status Calibrator::OnResume(const std::string& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(const std::vector<Calibration> calibrations, store_.Calibrations(device));
  // It would be quarantined again if it were still compared with what it was.
  return FindDrift(PeaksOf(calibrations)) ? store_.ForgetCalibrations(device) : absl::OkStatus();
}

absl::StatusOr<proto::CalibrationState> Calibrator::StateOf(const std::string& device) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(const std::vector<Calibration> calibrations, store_.Calibrations(device));
  proto::CalibrationState state;
  for (const Calibration& calibration : calibrations) {
    Measurement measurement;
    measurement.outcome = TrialOutcome::kOk;
    measurement.peaks = calibration.peaks;
    proto::Calibration* added = state.add_calibrations();
    added->set_time_ms(calibration.time_ms);
    added->set_measurement(EncodeMeasurement(measurement));
  }
  state.set_is_going_on(attempts_.contains(device));
  if (const auto failure = failures_.find(device); failure != failures_.end())
    state.set_failure(failure->second.reason);
  return state;
}

absl::StatusOr<proto::Device> Calibrator::Find(const std::string& device) const {
  for (proto::Device& found : dispatcher_.Devices(device))
    if (found.id() == device) return std::move(found);
  return absl::NotFoundError(absl::StrCat("no device ", device, "; attune fleet list shows all"));
}

void Calibrator::BeginDue() {
  for (const proto::Device& device : dispatcher_.Devices(""))
    if (IsDue(device)) Ask(device.id(), false);
}

bool Calibrator::IsDue(const proto::Device& device) const {
  if (!device.is_there() || !device.drained().empty() || attempts_.contains(device.id())) return false;
  const auto failure = failures_.find(device.id());
  if (failure != failures_.end() && clock_.Now() - failure->second.time < options_.retry_seconds)
    return false;
  const auto calibrations = store_.Calibrations(device.id());
  if (!calibrations.ok()) return false;
  if (calibrations->empty()) return true;
  const int64_t age_ms = clock_.WallMillis() - calibrations->back().time_ms;
  return age_ms < 0 || static_cast<double>(age_ms) >= 1e3 * options_.interval_seconds;
}

void Calibrator::Ask(const std::string& device, bool is_asked_for) {
  Attempt attempt = {.mailbox = std::make_shared<Mailbox<proto::ToClient>>(), .is_asked_for = is_asked_for};
  attempt.client = dispatcher_.AddClient(
      {.who = {.role = FleetRole::kServer, .owner = kFleetItself, .id = "calibrator"}}, attempt.mailbox);
  proto::FromClient message;
  proto::Ask* ask = message.mutable_ask();
  ask->set_version(kFleetVersion);
  ask->set_key(device);
  ask->set_priority(is_asked_for ? kMostPriority : kLeastPriority);
  failures_.erase(device);
  const int64_t client = attempt.client;
  attempts_[device] = std::move(attempt);
  dispatcher_.Receive(client, message);
}

void Calibrator::End(const std::string& device) {
  const int64_t client = attempts_.at(device).client;
  proto::FromClient message;
  message.mutable_release();
  dispatcher_.Receive(client, message);
  dispatcher_.RemoveClient(client);
  attempts_.erase(device);
}

void Calibrator::Fail(const std::string& device, const std::string& reason) {
  Log(LogLevel::kWarning, "calibration has failed", "device", device, "reason", reason);
  failures_[device] = {.reason = reason, .time = clock_.Now()};
}

bool Calibrator::GoOn(const std::string& device, Attempt& attempt) {
  for (const proto::ToClient& message : attempt.mailbox->Take()) {
    if (message.has_granted()) {
      attempt.leased_at = clock_.Now();
      SendItem(device, attempt);
    } else if (message.has_result()) {
      Take(device, message.result());
      return true;
    }
  }
  if (const std::optional<absl::Status> closed = attempt.mailbox->closed()) {
    Fail(device, std::string(closed->message()));
    return true;
  }
  if (attempt.leased_at && clock_.Now() - *attempt.leased_at >= options_.most_seconds) {
    Fail(device, absl::StrCat("no result in ", options_.most_seconds, " s"));
    return true;
  }
  proto::FromClient alive;
  alive.mutable_heartbeat();
  dispatcher_.Receive(attempt.client, alive);
  return false;
}

void Calibrator::SendItem(const std::string& device, const Attempt& attempt) {
  const absl::StatusOr<proto::Device> found = Find(device);
  if (!found.ok()) return;  // it was removed, which ends the lease
  proto::FromClient message;
  message.mutable_items()->add_items()->set_item(EncodeWorkerRequest(ItemFor(*found)));
  dispatcher_.Receive(attempt.client, message);
}

void Calibrator::Take(const std::string& device, const proto::Result& result) {
  const absl::StatusOr<Measurement> measurement = DecodeMeasurement(result.measurement());
  if (!measurement.ok()) return Fail(device, std::string(measurement.status().message()));
  if (measurement->outcome != TrialOutcome::kOk) return Fail(device, measurement->reason);
  if (const absl::Status recorded = Record(device, measurement->peaks); !recorded.ok())
    Fail(device, std::string(recorded.message()));
}

absl::Status Calibrator::Record(const std::string& device, const Peaks& peaks) {
  RETURN_IF_ERROR(store_.AddCalibration(device, {.time_ms = clock_.WallMillis(), .peaks = peaks}));
  Log(LogLevel::kInfo, "device is calibrated", "device", device, "gflops_per_core", peaks.gflops_per_core,
      "memory_gb_per_s", peaks.memory_gb_per_s);
  ASSIGN_OR_RETURN(const std::vector<Calibration> calibrations, store_.Calibrations(device));
  const std::optional<Drift> drift = FindDrift(PeaksOf(calibrations));
  if (!drift) return absl::OkStatus();
  const std::string reason = absl::StrCat("quarantined: ", drift->Text());
  Log(LogLevel::kWarning, "device is quarantined", "device", device, "reason", reason);
  return dispatcher_.Drain(device, reason);
}

}  // namespace attune
