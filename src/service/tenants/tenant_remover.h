// The data of tenants in the server's stores: saved into an archive, and removed.
//
// A deletion can take long, and the server may be killed in it. So it is a state of the tenant, and a thread
// does what is left to do: every holding removes what it still has, and once none has anything, the tenant
// itself is forgotten.
#ifndef ATTUNE_SERVICE_TENANTS_TENANT_REMOVER_H_
#define ATTUNE_SERVICE_TENANTS_TENANT_REMOVER_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "http/message.h"
#include "service/state/tenant_store.h"
#include "service/tenants/tar_writer.h"

namespace attune {

// The data of tenants in one store.
struct TenantHolding {
  std::string name = {};
  // Into files below the store's name. Null: nothing is saved.
  std::function<absl::Status(const std::string& tenant, TarWriter& archive)> save = nullptr;
  // Returns whether nothing is left; otherwise it is asked again a little later.
  std::function<absl::StatusOr<bool>(const std::string& tenant)> remove = nullptr;
};

// An archive of all holdings, in an unnamed file of `folder`.
absl::StatusOr<HttpFile> ArchiveOf(const std::string& tenant, const std::string& folder,
                                   const std::vector<TenantHolding>& holdings);

// Thread safe. The store and what the holdings act on must outlive it.
class TenantRemover {
 public:
  TenantRemover(TenantStore& store, std::vector<TenantHolding> holdings)
      : store_(store), holdings_(std::move(holdings)) {}

  // Resumes deletions that were begun before. Fails if the system has no thread to give.
  absl::Status Begin() { return loop_.Start(); }
  void Stop() { loop_.Stop(); }
  // There is something new to do.
  void Wake() { loop_.Wake(); }

  const std::vector<TenantHolding>& holdings() const { return holdings_; }

 private:
  double Step();
  // Whether nothing is left to do.
  absl::StatusOr<bool> Look();

  TenantStore& store_;
  const std::vector<TenantHolding> holdings_;
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_TENANTS_TENANT_REMOVER_H_
