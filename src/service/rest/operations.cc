#include "service/rest/operations.h"

#include <memory>

#include "service/rest/operation.h"

namespace attune {

RestApi MakeRestApi(const RestParts& parts) {
  RestApi api;
  api.schemas["Problem"] = ProblemSchema();
  AddJobOperations({.keys = parts.store,
                    .tenants = parts.tenants,
                    .uploads = parts.uploads,
                    .models = parts.models,
                    .forecaster = parts.forecaster,
                    .submissions = parts.submissions},
                   parts.jobs, parts.control, api);
  AddPredictionOperations({.uploads = parts.uploads, .models = parts.models, .forecaster = parts.forecaster},
                          api);
  AddJobResultOperations(parts.jobs, parts.events, api);
  AddJobRecordOperations(parts.jobs, api);
  AddUploadOperations(parts.uploads, parts.tenants, api);
  AddModelOperations(parts.models, api);
  AddDeviceOperations(parts.devices, api);
  AddDeviceStateOperations(parts.devices, parts.fleet, api);
  AddCostModelOperations(parts.learning, api);
  AddSigningKeyOperations(parts.signer, api);
  AddSessionOperations({.people = parts.people, .callers = parts.callers, .logins = parts.logins}, api);
  AddLoginOperations(parts.logins, parts.callers, api);
  AddPersonOperations(parts.people, api);
  AddAuditOperations(parts.audit, api);
  AddTenantOperations({.tenants = parts.tenants,
                       .remover = parts.remover,
                       .tokens = parts.store,
                       .people = parts.people,
                       .learning = parts.learning,
                       .folder = parts.folder},
                      api);
  AddTokenOperations(parts.store, parts.tenants, api);
  const auto document = std::make_shared<HttpResponse>();
  api.operations.push_back(
      {.id = "getDocument",
       .route = {"GET", "/v1/openapi.json"},
       .summary = "Returns this document.",
       .role = std::nullopt,
       .answers = {{.help = "The document", .schema = {{"type", "object"}}}},
       .handler = [document](const RestCall&) -> absl::StatusOr<HttpResponse> { return *document; }});
  *document = JsonResponse(OpenApiDocument(api));
  return api;
}

}  // namespace attune
