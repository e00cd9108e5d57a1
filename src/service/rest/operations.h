// All operations of the service.
#ifndef ATTUNE_SERVICE_REST_OPERATIONS_H_
#define ATTUNE_SERVICE_REST_OPERATIONS_H_

#include <string>

#include "fleet/serving/device_directory.h"
#include "fleet/store/fleet_store.h"
#include "service/agreement/agreement_desk.h"
#include "service/identity/callers.h"
#include "service/identity/oidc_logins.h"
#include "service/models/models.h"
#include "service/queue/job_desk.h"
#include "service/rest/job_events.h"
#include "service/rest/operation.h"
#include "service/state/audit_store.h"
#include "service/state/person_store.h"
#include "service/state/service_store.h"
#include "service/state/session_store.h"
#include "service/tenants/tenant_remover.h"
#include "service/tenants/tenants.h"
#include "service/uploads/uploads.h"

namespace attune {

// The parts of the server that operations use.
struct RestParts {
  ServiceStore& store;
  SessionStore& sessions;
  PersonStore& people;
  AuditStore& audit;
  Tenants& tenants;
  TenantRemover& remover;
  std::string folder;  // for archives while they are sent
  Callers& callers;
  OidcLogins* logins;  // null: no issuer is trusted
  Uploads& uploads;
  Models& models;
  JobDesk& jobs;
  AgreementDesk& agreements;
  JobEvents& events;
  DeviceDirectory& devices;
  FleetStore& fleet;
};

// The parts must outlive it.
RestApi MakeRestApi(const RestParts& parts);

// Each adds its operations and their schemas.
void AddSessionOperations(const RestParts& parts, RestApi& api);
void AddLoginOperations(const RestParts& parts, RestApi& api);
void AddPersonOperations(const RestParts& parts, RestApi& api);
void AddAuditOperations(const RestParts& parts, RestApi& api);
void AddTenantOperations(const RestParts& parts, RestApi& api);
void AddTokenOperations(const RestParts& parts, RestApi& api);
void AddUploadOperations(const RestParts& parts, RestApi& api);
void AddModelOperations(const RestParts& parts, RestApi& api);
void AddJobOperations(const RestParts& parts, RestApi& api);
void AddPredictionOperations(const RestParts& parts, RestApi& api);
void AddJobResultOperations(const RestParts& parts, RestApi& api);
void AddJobRecordOperations(const RestParts& parts, RestApi& api);
void AddSigningKeyOperations(const RestParts& parts, RestApi& api);
void AddDeviceOperations(const RestParts& parts, RestApi& api);
void AddDeviceStateOperations(const RestParts& parts, RestApi& api);
void AddCostModelOperations(const RestParts& parts, RestApi& api);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_OPERATIONS_H_
