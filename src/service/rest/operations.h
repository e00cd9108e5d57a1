// All operations of the service.
#ifndef ATTUNE_SERVICE_REST_OPERATIONS_H_
#define ATTUNE_SERVICE_REST_OPERATIONS_H_

#include <string>

#include "fleet/server/dispatcher.h"
#include "fleet/store/fleet_store.h"
#include "service/agreement/agreement_desk.h"
#include "service/models/models.h"
#include "service/rest/audit/audit_store.h"
#include "service/rest/callers.h"
#include "service/rest/job_events.h"
#include "service/rest/oidc/oidc_logins.h"
#include "service/rest/operation.h"
#include "service/rest/person_store.h"
#include "service/rest/service_store.h"
#include "service/rest/session_store.h"
#include "service/rest/tenants/tenant_remover.h"
#include "service/rest/tenants/tenants.h"
#include "service/rest/uploads.h"
#include "service/server/job_desk.h"

namespace attune {

// What operations act on.
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
  Dispatcher& dispatcher;
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
