// All operations of the service.
#ifndef ATTUNE_SERVICE_REST_OPERATIONS_H_
#define ATTUNE_SERVICE_REST_OPERATIONS_H_

#include <string>

#include "fleet/serving/device_directory.h"
#include "fleet/store/fleet_store.h"
#include "service/agreement/forecaster.h"
#include "service/identity/callers.h"
#include "service/identity/oidc_logins.h"
#include "service/models/models.h"
#include "service/queue/artifact_signer.h"
#include "service/queue/job_control.h"
#include "service/queue/job_reader.h"
#include "service/queue/job_submissions.h"
#include "service/records/shared_learning.h"
#include "service/rest/job_events.h"
#include "service/rest/operation.h"
#include "service/state/audit_store.h"
#include "service/state/people_store.h"
#include "service/state/service_store.h"
#include "service/tenants/tenant_remover.h"
#include "service/tenants/tenants.h"
#include "service/uploads/uploads.h"

namespace attune {

// All parts of the server that operations use; each gets its own alone.
struct RestParts {
  ServiceStore& store;
  PeopleStore& people;
  AuditStore& audit;
  Tenants& tenants;
  TenantRemover& remover;
  std::string folder;  // for archives while they are sent
  Callers& callers;
  OidcLogins* logins;  // null: no issuer is trusted
  Uploads& uploads;
  Models& models;
  JobSubmissions& submissions;
  JobReader& jobs;
  JobControl& control;
  SharedLearning& learning;
  const ArtifactSigner& signer;
  Forecaster& forecaster;
  JobEvents& events;
  DeviceDirectory& devices;
  FleetStore& fleet;
};

// The parts must outlive it.
RestApi MakeRestApi(const RestParts& parts);

// Each of the following adds its operations and their schemas. Its arguments must outlive the operations.

struct SessionParts {
  PeopleStore& people;
  Callers& callers;
  OidcLogins* logins;  // null: no issuer is trusted
};
void AddSessionOperations(const SessionParts& parts, RestApi& api);
// `logins` may be null.
void AddLoginOperations(OidcLogins* logins, Callers& callers, RestApi& api);
void AddPersonOperations(PeopleStore& people, RestApi& api);
void AddAuditOperations(AuditStore& audit, RestApi& api);

struct TenantParts {
  Tenants& tenants;
  TenantRemover& remover;
  ServiceStore& tokens;
  PeopleStore& people;
  SharedLearning& learning;
  std::string folder;  // for archives while they are sent
};
void AddTenantOperations(const TenantParts& parts, RestApi& api);
void AddTokenOperations(ServiceStore& tokens, Tenants& tenants, RestApi& api);
void AddUploadOperations(Uploads& uploads, Tenants& tenants, RestApi& api);
void AddModelOperations(Models& models, RestApi& api);

// The parts that a submission goes through.
struct SubmissionParts {
  ServiceStore& keys;  // of clients who submit again
  Tenants& tenants;
  Uploads& uploads;
  Models& models;
  Forecaster& forecaster;
  JobSubmissions& submissions;
};
void AddJobOperations(const SubmissionParts& parts, JobReader& jobs, JobControl& control, RestApi& api);

struct PredictionParts {
  Uploads& uploads;
  Models& models;
  Forecaster& forecaster;
};
void AddPredictionOperations(const PredictionParts& parts, RestApi& api);
void AddJobResultOperations(JobReader& jobs, JobEvents& events, RestApi& api);
void AddJobRecordOperations(JobReader& jobs, RestApi& api);
void AddSigningKeyOperations(const ArtifactSigner& signer, RestApi& api);
void AddDeviceOperations(DeviceDirectory& devices, RestApi& api);
void AddDeviceStateOperations(const DeviceDirectory& devices, FleetStore& fleet, RestApi& api);
void AddCostModelOperations(SharedLearning& learning, RestApi& api);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_OPERATIONS_H_
