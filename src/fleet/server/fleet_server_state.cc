#include "fleet/server/fleet_server_state.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sqlite/active_lock.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/admission/restored_times.h"
#include "fleet/identity/authority_files.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

absl::StatusOr<std::vector<RestoredTime>> RestoredTimesOf(const std::string& folder, FleetSecrets* secrets) {
  if (secrets == nullptr) return ReadRestoredTimes(folder);
  ASSIGN_OR_RETURN(const std::string text, secrets->LoadRestoredTimes());
  return ParseRestoredTimes(text);
}

}  // namespace

absl::StatusOr<FileDescriptor> LockServerFolder(const std::string& folder) {
  return LockActive(folder + "/fleet.db", "server");
}

absl::StatusOr<std::unique_ptr<FleetServerState>> FleetServerState::Open(const FleetServerOptions& options) {
  RETURN_IF_ERROR(MakeStateFolder(options.folder));
  ASSIGN_OR_RETURN(FileDescriptor lock, LockServerFolder(options.folder));
  if (lock.get() < 0)
    return absl::FailedPreconditionError(absl::StrCat(options.folder, ": another server has this folder"));
  std::unique_ptr<FleetServerState> state(new FleetServerState{
      .lock = std::move(lock), .location = options.location.value_or(SqlLocation(options.folder))});
  ASSIGN_OR_RETURN(std::unique_ptr<FleetStore> store, FleetStore::Open(state->location));
  FleetSecrets* secrets = state->location.is_postgres() ? store.get() : nullptr;
  ASSIGN_OR_RETURN(AuthorityFiles authorities,
                   AuthorityFiles::OpenOrCreate(options.folder, SystemClock(), secrets));
  state->store = std::move(store);
  ASSIGN_OR_RETURN(state->blobs, BlobStore::Open(options.folder + "/blobs", options.blobs));
  ASSIGN_OR_RETURN(state->dispatcher, Dispatcher::Create(*state->store, options.dispatcher));
  state->calibrator = std::make_unique<Calibrator>(*state->dispatcher, *state->store, options.calibrator);
  state->authority = std::make_unique<FleetAuthority>(std::move(authorities));
  state->admission = std::make_unique<Admission>(*state->authority, *state->store);
  ASSIGN_OR_RETURN(std::vector<RestoredTime> restored, RestoredTimesOf(options.folder, secrets));
  state->admission->SetRestoredTimes(std::move(restored));
  state->file_calls = std::make_unique<FileCalls>(options.file_calls);
  return state;
}

}  // namespace attune
