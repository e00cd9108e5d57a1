// The parts of a fleet that a schedule uses, without the fleet's server.
#ifndef ATTUNE_SERVICE_QUEUE_FLEET_PARTS_FOR_TEST_H_
#define ATTUNE_SERVICE_QUEUE_FLEET_PARTS_FOR_TEST_H_

#include <memory>

#include "base/testing/temporary_folder.h"
#include "fleet/admission/admission.h"
#include "fleet/admission/fleet_authority.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/identity/authority_files.h"
#include "fleet/serving/file_calls.h"
#include "fleet/serving/fleet_parts.h"
#include "fleet/serving/made_up_devices_for_test.h"
#include "fleet/store/fleet_store.h"

namespace attune {

struct FleetPartsOfTest {
  FleetPartsOfTest() { admission.SetAddresses("127.0.0.1:1", "127.0.0.1:2"); }

  FleetParts parts() {
    return {.devices = devices,
            .blobs = *blobs,
            .store = *store,
            .admission = admission,
            .file_calls = file_calls,
            .location = location};
  }

  const testing::TemporaryFolder folder;
  MadeUpDevices devices;
  const std::unique_ptr<BlobStore> blobs = *BlobStore::Open(folder / "blobs", {});
  const std::unique_ptr<FleetStore> store = *FleetStore::Open(folder / "fleet.db");
  FleetAuthority authority{*AuthorityFiles::OpenOrCreate(folder / "state")};
  Admission admission{authority, *store};
  FileCalls file_calls;
  const SqlLocation location{folder / "stores"};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_FLEET_PARTS_FOR_TEST_H_
