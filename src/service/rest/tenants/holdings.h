// What the stores of a server have of tenants.
#ifndef ATTUNE_SERVICE_REST_TENANTS_HOLDINGS_H_
#define ATTUNE_SERVICE_REST_TENANTS_HOLDINGS_H_

#include <vector>

#include "fleet/server/dispatcher.h"
#include "fleet/server/fleet_server.h"
#include "fleet/store/fleet_store.h"
#include "service/agreement/known_answers.h"
#include "service/agreement/quantization_model.h"
#include "service/models/models.h"
#include "service/rest/audit/audit_store.h"
#include "service/rest/service_store.h"
#include "service/rest/sql_people_store.h"
#include "service/rest/tenants/tenant_remover.h"
#include "service/rest/uploads.h"
#include "service/server/job_desk.h"

namespace attune {

struct HoldingParts {
  JobDesk& jobs;
  Models& models;
  Uploads& uploads;
  ServiceStore& service;
  SqlPeopleStore& people;
  KnownAnswers& known;
  QuantizationModel& quantizations;
  AuditStore& audit;
  Dispatcher& dispatcher;
  FleetStore& fleet;
  FleetExtension& runners;  // has their connections
};

// In the order in which they are to be removed. The parts must outlive them.
std::vector<TenantHolding> HoldingsOf(const HoldingParts& parts);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_TENANTS_HOLDINGS_H_
