// The data of tenants in the stores of a server.
#ifndef ATTUNE_PROCESS_SERVER_HOLDINGS_H_
#define ATTUNE_PROCESS_SERVER_HOLDINGS_H_

#include <vector>

#include "fleet/serving/device_directory.h"
#include "fleet/serving/fleet_parts.h"
#include "fleet/store/fleet_store.h"
#include "service/agreement/known_answers.h"
#include "service/agreement/quantization_model.h"
#include "service/models/models.h"
#include "service/queue/job_control.h"
#include "service/queue/job_reader.h"
#include "service/queue/job_server.h"
#include "service/records/shared_learning.h"
#include "service/state/audit_store.h"
#include "service/state/people_store.h"
#include "service/state/service_store.h"
#include "service/tenants/tenant_remover.h"
#include "service/uploads/uploads.h"

namespace attune {

struct HoldingParts {
  JobReader& jobs;
  JobControl& control;
  SharedLearning& learning;
  Models& models;
  Uploads& uploads;
  ServiceStore& service;
  PeopleStore& people;
  KnownAnswers& known;
  QuantizationModel& quantizations;
  AuditStore& audit;
  DeviceDirectory& devices;
  FleetStore& fleet;
  JobServer& runners;  // has their connections
};

// In the order in which they are to be removed. The parts must outlive them.
std::vector<TenantHolding> HoldingsOf(const HoldingParts& parts);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_HOLDINGS_H_
