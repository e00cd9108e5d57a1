#include "service/rest/operations.h"

#include <memory>

#include "service/rest/openapi.h"

namespace attune {

RestApi MakeRestApi(const RestParts& parts) {
  RestApi api;
  api.schemas["Problem"] = ProblemSchema();
  AddJobOperations(parts, api);
  AddPredictionOperations(parts, api);
  AddJobResultOperations(parts, api);
  AddJobRecordOperations(parts, api);
  AddUploadOperations(parts, api);
  AddModelOperations(parts, api);
  AddDeviceOperations(parts, api);
  AddDeviceStateOperations(parts, api);
  AddCostModelOperations(parts, api);
  AddSigningKeyOperations(parts, api);
  AddSessionOperations(parts, api);
  AddLoginOperations(parts, api);
  AddPersonOperations(parts, api);
  AddAuditOperations(parts, api);
  AddTenantOperations(parts, api);
  AddTokenOperations(parts, api);
  const auto document = std::make_shared<HttpResponse>();
  api.operations.push_back(
      {.id = "getDocument",
       .method = "GET",
       .path = "/v1/openapi.json",
       .summary = "Returns this document.",
       .role = std::nullopt,
       .answers = {{.help = "The document", .schema = {{"type", "object"}}}},
       .handler = [document](const RestCall&) -> absl::StatusOr<HttpResponse> { return *document; }});
  *document = JsonResponse(OpenApiDocument(api));
  return api;
}

}  // namespace attune
