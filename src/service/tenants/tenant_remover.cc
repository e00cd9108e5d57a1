#include "service/tenants/tenant_remover.h"

#include <memory>

#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kRetrySeconds = 0.5, kRestSeconds = 60;

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
      // Later holdings may be needed by the remaining ones.
      if (!is_empty) break;
    }
    if (is_empty) RETURN_IF_ERROR(store_.Remove(tenant.name));
    if (is_empty) Log(LogLevel::kInfo, "tenant is deleted", "tenant", tenant.name);
    is_done = is_done && is_empty;
  }
  return is_done;
}

double TenantRemover::Step() {
  const absl::StatusOr<bool> done = Look();
  if (!done.ok())
    Log(LogLevel::kWarning, "a tenant cannot be deleted yet", "reason", done.status().message());
  return done.ok() && *done ? kRestSeconds : kRetrySeconds;
}

}  // namespace attune
