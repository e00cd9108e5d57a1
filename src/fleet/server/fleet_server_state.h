// The state of a fleet's server, and the logic that works on it, without a network.
#ifndef ATTUNE_FLEET_SERVER_FLEET_SERVER_STATE_H_
#define ATTUNE_FLEET_SERVER_FLEET_SERVER_STATE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"
#include "base/sql/sql_database.h"
#include "fleet/admission/admission.h"
#include "fleet/admission/fleet_authority.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/server/calibrator.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/fleet_server_options.h"
#include "fleet/serving/file_calls.h"
#include "fleet/store/fleet_store.h"

namespace attune {

// While it is held, no server of another process has the folder; none (-1) if one has it.
absl::StatusOr<FileDescriptor> LockServerFolder(const std::string& folder);

// All parts are there, and each is thread safe; the folder is this server's alone. Parts are destroyed before
// those that they use.
struct FleetServerState {
  // Fails if the folder is damaged or another server has it.
  static absl::StatusOr<std::unique_ptr<FleetServerState>> Open(const FleetServerOptions& options);

  FileDescriptor lock;  // of the folder
  SqlLocation location;
  std::unique_ptr<FleetStore> store = {};
  std::unique_ptr<BlobStore> blobs = {};
  std::unique_ptr<Dispatcher> dispatcher = {};
  std::unique_ptr<Calibrator> calibrator = {};
  std::unique_ptr<FleetAuthority> authority = {};
  std::unique_ptr<Admission> admission = {};
  std::unique_ptr<FileCalls> file_calls = {};
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_FLEET_SERVER_STATE_H_
