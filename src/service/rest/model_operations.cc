// Models: imported in processes of their own, listed, shown, forgotten.
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "http/problem.h"
#include "service/access/texts.h"
#include "service/models/import_worker.h"
#include "service/rest/operation.h"
#include "service/rest/operations.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

constexpr PageSize kPage = {.by_default = 50, .max = 200};
constexpr int kMostSignature = 200;
constexpr char kQueueSeconds[] = "10";  // after which a full queue is tried again

JsonSchema FileSchema() {
  return ObjectSchema(
      {{"name", {{"type", "string"}, {"maxLength", kMostJobFileName}}}, {"sha256", DigestSchema()}});
}

JsonSchema ShapesSchema() {
  return {
      {"type", "array"},
      {"items", {{"type", "string"}, {"maxLength", 1000}}},
      {"maxItems", kMostModelShapes},
      {"description", "Shapes of inputs with dimensions that the model leaves open: \"input=1x3x224x224\""}};
}

JsonSchema Described(JsonSchema schema, const char* description) {
  schema["description"] = description;
  return schema;
}

JsonSchema FactsSchema() {
  const JsonSchema tensors = ListSchema(ObjectSchema({{"name", TextSchema()}, {"type", TextSchema()}}));
  const JsonSchema task = ObjectSchema({{"task", TextSchema()},
                                        {"description", TextSchema()},
                                        {"anchor", TextSchema()},
                                        {"uses", IntegerSchema()},
                                        {"sure_uses", IntegerSchema()},
                                        {"flops", NumberSchema()},
                                        {"bytes_read", NumberSchema()},
                                        {"bytes_written", NumberSchema()},
                                        {"multiplicand", TextSchema()}});
  return ObjectSchema({{"format", {{"type", "string"}, {"enum", kModelFormats}}},
                       {"network", TextSchema()},
                       {"interface", TextSchema()},
                       {"inputs", tensors},
                       {"outputs", tensors},
                       {"weight_bytes", NumberSchema()},
                       {"target", TextSchema()},
                       {"tasks", ListSchema(task)}});
}

const JsonFields<KnownModel>& ModelFields() {
  static const JsonFields<KnownModel> fields = {
      {"id", DigestSchema(), &KnownModel::id},
      {"name", TextSchema(), &KnownModel::name},
      {"state",
       {{"type", "string"}, {"enum", {"importing", "ready", "refused"}}},
       [](const KnownModel& model) { return Name(model.verdict.state); }},
      {"error", Described(TextSchema(), "Reason why it is refused"),
       [](const KnownModel& model) { return model.verdict.error; }},
      {"created", TimeSchema(), [](const KnownModel& model) { return TimeText(model.created_ms); }}};
  return fields;
}

JsonSchema ToJson(const KnownModel& model) { return JsonOf(model, ModelFields()); }

void AddModelSchemas(JsonSchema& schemas) {
  JsonSchema facts = FactsSchema();
  facts["type"] = {"object", "null"};
  facts["description"] = "Facts about the network, once it is ready";
  schemas["Model"] = SchemaOf(ModelFields());
  schemas["ModelDetail"] = SchemaOf(ModelFields(), {{"files", ListSchema(FileSchema())},
                                                    {"shapes", ListSchema(TextSchema())},
                                                    {"signature", TextSchema()},
                                                    {"facts", facts}});
  JsonSchema files = ListSchema(FileSchema());
  files["maxItems"] = kMostModelFiles;
  files["description"] =
      "Other files that the model names: weights beside it, or the variables of a SavedModel";
  schemas["NewModel"] =
      ObjectSchema({{"name", {{"type", "string"}, {"minLength", 1}, {"maxLength", kMostJobFileName}}},
                    {"sha256", DigestSchema()},
                    {"files", files},
                    {"shapes", ShapesSchema()},
                    {"signature", {{"type", "string"}, {"maxLength", kMostSignature}}}},
                   {"files", "shapes", "signature"});
}

JsonSchema ToDetail(const KnownModel& model) {
  JsonSchema json = ToJson(model);
  json["files"] = JsonSchema::array();
  for (const ModelFile& file : model.source.files)
    json["files"].push_back({{"name", file.name}, {"sha256", file.digest}});
  json["shapes"] = model.source.shapes;
  json["signature"] = model.source.signature;
  json["facts"] = nullptr;
  if (model.verdict.state == ModelState::kReady)
    json["facts"] = JsonSchema::parse(model.verdict.facts, nullptr, /*allow_exceptions=*/false);
  return json;
}

// Returns the model with the status, or a problem: some errors of imports have a status of their own.
absl::StatusOr<HttpResponse> ToldOrProblem(const absl::StatusOr<KnownModel>& model, int status) {
  if (model.ok()) {
    HttpResponse response = JsonResponse(ToDetail(*model), status);
    response.headers["Location"] = absl::StrCat("/v1/models/", model->id);
    return response;
  }
  if (absl::IsOutOfRange(model.status())) return Problem(413, model.status().message());
  if (!absl::IsResourceExhausted(model.status())) return model.status();
  HttpResponse problem = Problem(429, model.status().message());
  problem.headers["Retry-After"] = kQueueSeconds;
  return problem;
}

absl::StatusOr<HttpResponse> Add(Models& models, const RestCall& call) {
  const auto name = call.body["name"].get<std::string>();
  ModelSource source = {.files = {{name, call.body["sha256"].get<std::string>()}},
                        .shapes = call.body.value("shapes", std::vector<std::string>()),
                        .signature = call.body.value("signature", "")};
  for (const nlohmann::json& file : call.body.value("files", nlohmann::json::array()))
    source.files.push_back({file["name"].get<std::string>(), file["sha256"].get<std::string>()});
  return ToldOrProblem(models.Add(call.caller.tenant, name, source), 201);
}

// The cursor of a list: it continues after this model. Clients must not interpret it.
std::string CursorAfter(const KnownModel& model) {
  return absl::WebSafeBase64Escape(absl::StrCat(model.created_ms, ":", model.id));
}

absl::StatusOr<ModelCursor> CursorOf(const std::string& text) {
  ModelCursor cursor;
  if (text.empty()) return cursor;
  std::string known;
  const bool is_text = absl::WebSafeBase64Unescape(text, &known);
  const std::pair<std::string, std::string> parts = absl::StrSplit(known, absl::MaxSplits(':', 1));
  if (!is_text || !absl::SimpleAtoi(parts.first, &cursor.created_ms) || !IsBlobDigest(parts.second))
    return UnknownCursor();
  cursor.id = parts.second;
  return cursor;
}

absl::StatusOr<HttpResponse> List(Models& models, const RestCall& call) {
  const int64_t most = MostOf(call, kPage);
  ASSIGN_OR_RETURN(const ModelCursor after, CursorOf(call.Text("cursor")));
  // One more tells whether there is a further page.
  ASSIGN_OR_RETURN(std::vector<KnownModel> found, models.List(call.caller.tenant, after, most + 1));
  JsonSchema next = CutToPage(found, most, CursorAfter);
  return PageOf("models", JsonList(found, ToJson), std::move(next));
}

RestOperation AddOperation(Models& models) {
  return {.id = "addModel",
          .route = {"POST", "/v1/models"},
          .summary = "Imports a model from uploaded files, or finds it; its state tells the result.",
          .role = AccessRole::kMember,
          .body = SchemaNamed("NewModel"),
          .most_body_bytes = size_t{1} << 20,
          .answers = {{.status = 201,
                       .help = "The model is stored",
                       .schema = SchemaNamed("ModelDetail"),
                       .headers = {{"Location", "URL of the model"}}}},
          .problems = {404, 409, 422},
          .handler = [&models](const RestCall& call) { return Add(models, call); }};
}

RestOperation ListOperation(Models& models) {
  return {.id = "listModels",
          .route = {"GET", "/v1/models"},
          .summary = "Lists the tenant's models, latest first.",
          .parameters = {CursorParameter(), MostParameter(kPage)},
          .answers = {{.help = "A page of models", .schema = PageSchema("models", "Model")}},
          .handler = [&models](const RestCall& call) { return List(models, call); }};
}

}  // namespace

void AddModelOperations(Models& models, RestApi& api) {
  AddModelSchemas(api.schemas);
  const RestParameter id = {
      .name = "id", .place = "path", .help = "The id of the model", .schema = DigestSchema()};
  api.operations.push_back(AddOperation(models));
  api.operations.push_back(ListOperation(models));
  api.operations.push_back(
      {.id = "getModel",
       .route = {"GET", "/v1/models/{id}"},
       .summary = "Returns a model: its files, its state, and facts once it is imported.",
       .parameters = {id},
       .answers = {{.help = "The model", .schema = SchemaNamed("ModelDetail")}},
       .problems = {404},
       .handler = [&models](const RestCall& call) {
         return ToldOrProblem(models.Find(call.caller.tenant, call.Text("id")), 200);
       }});
  api.operations.push_back({.id = "removeModel",
                            .route = {"DELETE", "/v1/models/{id}"},
                            .summary = "Deletes a model; its files stay.",
                            .role = AccessRole::kMember,
                            .parameters = {id},
                            .answers = {{.status = 204, .help = "The model is deleted"}},
                            .problems = {404},
                            .handler = [&models](const RestCall& call) -> absl::StatusOr<HttpResponse> {
                              RETURN_IF_ERROR(models.Remove(call.caller.tenant, call.Text("id")));
                              return HttpResponse{.status = 204};
                            }});
}

}  // namespace attune
