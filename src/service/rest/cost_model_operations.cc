// The versions of the cost model that jobs share.
#include "service/access/texts.h"
#include "service/rest/operation.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

constexpr PageSize kVersions = {.by_default = 50, .max = 500};

const JsonFields<CostModelVersion>& VersionFields() {
  static const JsonFields<CostModelVersion> fields = {
      {"version", IntegerSchema(), &CostModelVersion::version},
      {"created", TimeSchema(), [](const CostModelVersion& model) { return TimeText(model.created_ms); }},
      {"records", IntegerSchema(), &CostModelVersion::records},
      {"tasks", IntegerSchema(), &CostModelVersion::tasks},
      {"tasks_held_back", IntegerSchema(), &CostModelVersion::held_back},
      {"ranking", NumberSchema(-1, 1), &CostModelVersion::ranking},
      {"ranking_before", OrNull(NumberSchema(-1, 1)),
       [](const CostModelVersion& model) {
         return model.ranking_before ? JsonSchema(*model.ranking_before) : JsonSchema(nullptr);
       }},
      {"state", JsonSchema{{"type", "string"}, {"enum", {"current", "replaced", "rolled_back"}}},
       [](const CostModelVersion& model) { return Name(model.state); }}};
  return fields;
}

JsonSchema ToJson(const CostModelVersion& model) { return JsonOf(model, VersionFields()); }

}  // namespace

void AddCostModelOperations(SharedLearning& learning, RestApi& api) {
  api.schemas["CostModel"] = SchemaOf(VersionFields());
  api.operations.push_back(
      {.id = "listCostModels",
       .route = {"GET", "/v1/cost-models"},
       .summary = "Lists the versions of the cost model that jobs start with, latest first.",
       .parameters = {MostParameter(kVersions)},
       .answers = {{.help = "The versions",
                    .schema = ObjectSchema({{"learns", {{"type", "boolean"}}},
                                            {"cost_models", ListSchema(SchemaNamed("CostModel"))}})}},
       .handler = [&learning](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         ASSIGN_OR_RETURN(const auto versions, learning.Versions(MostOf(call, kVersions)));
         return JsonResponse({{"learns", learning.learns()}, {"cost_models", JsonList(versions, ToJson)}});
       }});
}

}  // namespace attune
