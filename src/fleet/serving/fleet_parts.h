// The parts of a fleet's server that services beside it share.
#ifndef ATTUNE_FLEET_SERVING_FLEET_PARTS_H_
#define ATTUNE_FLEET_SERVING_FLEET_PARTS_H_

#include "base/sql/sql_database.h"
#include "fleet/admission/admission.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/serving/device_directory.h"
#include "fleet/serving/file_calls.h"
#include "fleet/store/fleet_store.h"

namespace attune {

// All outlive the services.
struct FleetParts {
  DeviceDirectory& devices;
  BlobStore& blobs;
  FleetStore& store;
  Admission& admission;
  FileCalls& file_calls;
  // The location of stores that must last. Stores in a folder belong to this server alone.
  const SqlLocation& location;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVING_FLEET_PARTS_H_
