// The OpenAPI document of a REST interface.
#ifndef ATTUNE_SERVICE_REST_OPENAPI_H_
#define ATTUNE_SERVICE_REST_OPENAPI_H_

#include "service/rest/operation.h"

namespace attune {

// By the specification 3.1.0. The same interface gives the same document.
JsonSchema OpenApiDocument(const RestApi& api);

// The schema of what Problem() answers (http/problem.h).
JsonSchema ProblemSchema();

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_OPENAPI_H_
