#include "service/tenants/tenant_remover.h"

#include <chrono>
#include <memory>

#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"

namespace attune {
namespace {

constexpr std::chrono::milliseconds kPause(500);
constexpr std::chrono::seconds kRest(60);

}  // namespace

absl::StatusOr<HttpFile> ArchiveOf(const std::string& tenant, const std::string& folder,
                                   const std::vector<TenantHolding>& holdings) {
  ASSIGN_OR_RETURN(TarWriter archive, TarWriter::Begin(folder));
  for (const TenantHolding& holding : holdings)
    if (holding.save) RETURN_IF_ERROR(Annotate(holding.save(tenant, archive), holding.name));
  ASSIGN_OR_RETURN(TarWriter::Archive finished, archive.Finish());
  return HttpFile{.file = std::make_shared<FileDescriptor>(std::move(finished.file)),
                  .bytes = finished.bytes};
}

absl::Status TenantRemover::Begin() {
  if (StartThread(thread_, [this] { Run(); })) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

void TenantRemover::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  wakes_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TenantRemover::Wake() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_woken_ = true;
  }
  wakes_.notify_all();
}

absl::StatusOr<bool> TenantRemover::Look() {
  bool is_done = true;
  ASSIGN_OR_RETURN(const auto tenants, store_.All());
  for (const TenantRecord& tenant : tenants) {
    if (!tenant.is_being_deleted) continue;
    bool is_empty = true;
    for (const TenantHolding& holding : holdings_) {
      absl::StatusOr<bool> removed = holding.remove(tenant.name);
      if (!removed.ok()) return Annotate(removed.status(), holding.name);
      is_empty = is_empty && *removed;
      // What comes later may be needed by what is left.
      if (!is_empty) break;
    }
    if (is_empty) RETURN_IF_ERROR(store_.Remove(tenant.name));
    if (is_empty) Log(LogLevel::kInfo, "tenant is deleted", "tenant", tenant.name);
    is_done = is_done && is_empty;
  }
  return is_done;
}

void TenantRemover::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_ending_) {
    is_woken_ = false;
    lock.unlock();
    const absl::StatusOr<bool> done = Look();
    if (!done.ok())
      Log(LogLevel::kWarning, "a tenant cannot be deleted yet", "reason", done.status().message());
    lock.lock();
    const auto pause = done.ok() && *done ? std::chrono::milliseconds(kRest) : kPause;
    wakes_.wait_for(lock, pause, [&] { return is_ending_ || is_woken_; });
  }
}

}  // namespace attune
