#include "service/records/shared_learning.h"

#include <utility>

#include "base/guarded.h"
#include "base/log.h"
#include "base/status.h"
#include "device/codec.h"
#include "service/records/job_records.h"

namespace attune {
namespace {

// Jobs that wait to be learned from; more are left out.
constexpr size_t kMostOffered = 100;

}  // namespace

absl::StatusOr<std::unique_ptr<SharedLearning>> SharedLearning::Open(const SharedLearningOptions& options,
                                                                     const SqlLocation& location,
                                                                     BlobStore& files,
                                                                     const DeviceDirectory& devices) {
  ASSIGN_OR_RETURN(std::unique_ptr<CostModelStore> store, CostModelStore::Open(location));
  return std::unique_ptr<SharedLearning>(new SharedLearning(options, files, devices, std::move(store)));
}

void SharedLearning::Offer(const JobRecord& job) {
  const bool has_tuned = job.spec.kind == "tuning" && job.state == JobState::kDone && job.spec.part == 0;
  if (options_.owners.empty() || !has_tuned || job.spec.on.empty()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (offered_.size() >= kMostOffered) return;
    offered_.push_back(job);
  }
  loop_.Wake();
}

absl::StatusOr<std::optional<std::string>> SharedLearning::Current() {
  ASSIGN_OR_RETURN(std::optional<std::string> text, store_->Current());
  // One of an earlier program may know other features.
  if (text && !IsUsable(*text)) text.reset();
  return text;
}

double SharedLearning::Step() {
  JobRecord job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (offered_.empty()) return BackgroundLoop::kUntilWoken;
    job = std::move(offered_.front());
    offered_.pop_front();
  }
  absl::Status learned;
  learned.Update(Guarded([&] { learned = LearnFrom(job); }));
  if (!learned.ok())
    Log(LogLevel::kWarning, "nothing is learned from a job", "job", job.spec.id, "reason", learned.message());
  return 0;
}

std::map<std::string, Target> SharedLearning::TrustedDevices() const {
  std::map<std::string, Target> trusted;
  std::set<std::string> others;
  for (const fleet_proto::Device& device : devices_.Devices("")) {
    const auto info = DecodeDevice(device.info());
    if (!info.ok()) continue;
    if (options_.owners.contains(device.owner())) {
      trusted.emplace(info->fingerprint, info->target);
    } else {
      others.insert(info->fingerprint);
    }
  }
  // A record does not tell which of two devices that are alike it comes from.
  std::erase_if(trusted, [&](const auto& entry) { return others.contains(entry.first); });
  return trusted;
}

absl::StatusOr<bool> SharedLearning::Consents(const std::string& tenant) const {
  if (options_.consents == nullptr) return false;
  return options_.consents(tenant);
}

absl::Status SharedLearning::ForgetOthers() {
  ASSIGN_OR_RETURN(const std::vector<std::string> tenants, store_->Tenants());
  for (const std::string& tenant : tenants) {
    ASSIGN_OR_RETURN(const bool consents, Consents(tenant));
    if (!consents) RETURN_IF_ERROR(store_->RemoveTenant(tenant));
  }
  return absl::OkStatus();
}

absl::Status SharedLearning::Gather(const JobRecord& job, const std::map<std::string, Target>& devices) {
  const auto records = JobRecords::Open(job, files_, options_.folder);
  if (absl::IsNotFound(records.status())) return absl::OkStatus();
  RETURN_IF_ERROR(records.status());
  return model_.Gather(job.spec.owner, (*records)->database(), devices);
}

absl::Status SharedLearning::LearnFrom(const JobRecord& job) {
  ASSIGN_OR_RETURN(const bool consents, Consents(job.spec.owner));
  if (!consents) return absl::OkStatus();
  const std::map<std::string, Target> devices = TrustedDevices();
  if (devices.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(Gather(job, devices));
  RETURN_IF_ERROR(ForgetOthers());
  return model_.LearnIfDue(devices).status();
}

}  // namespace attune
