// The versions of the cost model that jobs share.
#include "service/access/texts.h"
#include "service/rest/operations.h"
#include "service/rest/paging.h"

namespace attune {
namespace {

constexpr PageSize kVersions = {.by_default = 50, .max = 500};

JsonSchema VersionSchema() {
  return ObjectSchema({{"version", IntegerSchema()},
                       {"created", TimeSchema()},
                       {"records", IntegerSchema()},
                       {"tasks", IntegerSchema()},
                       {"tasks_held_back", IntegerSchema()},
                       {"ranking", NumberSchema(-1, 1)},
                       {"ranking_before", OrNull(NumberSchema(-1, 1))},
                       {"state", {{"type", "string"}, {"enum", {"current", "replaced", "rolled_back"}}}}});
}

JsonSchema ToJson(const CostModelVersion& model) {
  JsonSchema json = {{"version", model.version},           {"created", TimeText(model.created_ms)},
                     {"records", model.records},           {"tasks", model.tasks},
                     {"tasks_held_back", model.held_back}, {"ranking", model.ranking},
                     {"ranking_before", nullptr},          {"state", Name(model.state)}};
  if (model.ranking_before) json["ranking_before"] = *model.ranking_before;
  return json;
}

}  // namespace

void AddCostModelOperations(const RestParts& parts, RestApi& api) {
  JobDesk& desk = parts.jobs;
  api.schemas["CostModel"] = VersionSchema();
  api.operations.push_back(
      {.id = "listCostModels",
       .method = "GET",
       .path = "/v1/cost-models",
       .summary = "Lists the versions of the cost model that jobs start with, latest first.",
       .parameters = {MostParameter(kVersions)},
       .answers = {{.help = "The versions",
                    .schema = ObjectSchema({{"learns", {{"type", "boolean"}}},
                                            {"cost_models", ListSchema(SchemaNamed("CostModel"))}})}},
       .handler = [&desk](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         ASSIGN_OR_RETURN(const auto versions, desk.learning().Versions(MostOf(call, kVersions)));
         JsonSchema list = JsonSchema::array();
         for (const CostModelVersion& version : versions) list.push_back(ToJson(version));
         return JsonResponse({{"learns", desk.learning().learns()}, {"cost_models", list}});
       }});
}

}  // namespace attune
