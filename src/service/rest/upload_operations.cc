// Uploads, by the core of the tus protocol (https://tus.io/protocols/resumable-upload): HEAD says where to
// resume, PATCH adds bytes there.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "fleet/blobs/blob_store.h"
#include "http/problem.h"
#include "service/access/problems.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

constexpr size_t kMostPieceBytes = size_t{4} << 20;
constexpr char kPieceType[] = "application/offset+octet-stream";

const JsonFields<Upload>& UploadFields() {
  static const JsonFields<Upload> fields = {
      {"sha256", DigestSchema(), &Upload::digest},
      {"bytes", IntegerSchema(), &Upload::bytes},
      {"offset", IntegerSchema(), &Upload::offset},
      {"is_complete", JsonSchema{{"type", "boolean"}}, &Upload::is_complete},
      {"created", TimeSchema(), [](const Upload& upload) { return TimeText(upload.created_ms); }}};
  return fields;
}

JsonSchema ToJson(const Upload& upload) { return JsonOf(upload, UploadFields()); }

absl::StatusOr<HttpResponse> List(Uploads& uploads, const RestCall& call) {
  ASSIGN_OR_RETURN(const std::vector<Upload> all, uploads.List(call.caller.tenant));
  return JsonResponse({{"uploads", JsonList(all, ToJson)}});
}

HttpResponse Told(const Upload& upload, int status) {
  HttpResponse response =
      status == 204 ? HttpResponse{.status = status} : JsonResponse(ToJson(upload), status);
  response.headers["Location"] = absl::StrCat("/v1/uploads/", upload.digest);
  response.headers["Upload-Offset"] = absl::StrCat(upload.offset);
  response.headers["Upload-Length"] = absl::StrCat(upload.bytes);
  response.headers["Tus-Resumable"] = "1.0.0";
  response.headers["Cache-Control"] = "no-store";
  return response;
}

// A body that is too large has a status of its own.
absl::StatusOr<HttpResponse> ToldOrProblem(const absl::StatusOr<Upload>& upload, int status) {
  if (upload.ok()) return Told(*upload, status);
  if (absl::IsOutOfRange(upload.status())) return Problem(413, upload.status().message());
  return upload.status();
}

absl::StatusOr<HttpResponse> Begin(Uploads& uploads, Tenants& tenants, const RestCall& call) {
  const auto digest = call.body["sha256"].get<std::string>();
  const auto bytes = call.body["bytes"].get<int64_t>();
  const auto known = uploads.Find(call.caller.tenant, digest);
  if (absl::IsNotFound(known.status())) {
    ASSIGN_OR_RETURN(std::optional<HttpResponse> refusal, tenants.RefusalOfBytes(call.caller.tenant, bytes));
    if (refusal) return *std::move(refusal);
  }
  return ToldOrProblem(uploads.Begin(call.caller.tenant, digest, bytes), 201);
}

absl::StatusOr<HttpResponse> Append(Uploads& uploads, const RestCall& call) {
  const auto offset = call.parameters["Upload-Offset"].get<int64_t>();
  return ToldOrProblem(uploads.Append(call.caller.tenant, call.Text("sha256"), offset, call.request.body),
                       204);
}

std::vector<RestHeader> Headers() {
  return {{"Upload-Offset", "Bytes received so far"}, {"Upload-Length", "Bytes of the whole file"}};
}

RestParameter Digest() {
  return {.name = "sha256", .place = "path", .help = "The digest of the file", .schema = DigestSchema()};
}

}  // namespace

void AddUploadOperations(Uploads& uploads, Tenants& tenants, RestApi& api) {
  api.schemas["Upload"] = SchemaOf(UploadFields());
  std::vector<RestHeader> begun = Headers();
  begun.push_back({"Location", "URL for its bytes"});
  api.operations.push_back(
      {.id = "beginUpload",
       .route = {"POST", "/v1/uploads"},
       .summary = "Starts the upload of a file, or finds the one that was started before.",
       .role = AccessRole::kMember,
       .body = ObjectSchema({{"sha256", DigestSchema()}, {"bytes", IntegerSchema()}}),
       .answers = {{.status = 201,
                    .help = "The upload has started",
                    .schema = SchemaNamed("Upload"),
                    .headers = begun}},
       .problems = {409, 422},
       .handler = [&uploads, &tenants](const RestCall& call) { return Begin(uploads, tenants, call); }});
  api.operations.push_back({.id = "listUploads",
                            .route = {"GET", "/v1/uploads"},
                            .summary = "Lists the files that the tenant has uploaded, or is uploading.",
                            .answers = {{.help = "Latest first", .schema = ItemsSchema("uploads", "Upload")}},
                            .handler = [&uploads](const RestCall& call) { return List(uploads, call); }});
  api.operations.push_back(
      {.id = "getUpload",
       .route = {"GET", "/v1/uploads/{sha256}"},
       .summary = "Returns the progress of an upload; HEAD returns it in headers.",
       .parameters = {Digest()},
       .answers = {{.help = "The upload", .schema = SchemaNamed("Upload"), .headers = Headers()}},
       .problems = {404, 422},
       .handler = [&uploads](const RestCall& call) {
         return ToldOrProblem(uploads.Find(call.caller.tenant, call.Text("sha256")), 200);
       }});
  api.operations.push_back(
      {.id = "appendToUpload",
       .route = {"PATCH", "/v1/uploads/{sha256}"},
       .summary = "Adds bytes. After the last ones, the server checks the whole file, and keeps it if its "
                  "digest is right.",
       .role = AccessRole::kMember,
       .parameters = {Digest(),
                      {.name = "Upload-Offset",
                       .place = "header",
                       .help = "Offset of the body's first byte in the file",
                       .schema = IntegerSchema(),
                       .is_required = true}},
       .body_type = kPieceType,
       .most_body_bytes = kMostPieceBytes,
       .answers = {{.status = 204, .help = "The bytes are stored", .headers = Headers()}},
       .problems = {404, 409, 422},
       .handler = [&uploads](const RestCall& call) { return Append(uploads, call); }});
  api.operations.push_back({.id = "removeUpload",
                            .route = {"DELETE", "/v1/uploads/{sha256}"},
                            .summary = "Deletes a file. Jobs that were submitted with it keep it.",
                            .role = AccessRole::kMember,
                            .parameters = {Digest()},
                            .answers = {{.status = 204, .help = "The file is deleted"}},
                            .problems = {404, 422},
                            .handler = [&uploads](const RestCall& call) -> absl::StatusOr<HttpResponse> {
                              RETURN_IF_ERROR(uploads.Remove(call.caller.tenant, call.Text("sha256")));
                              return HttpResponse{.status = 204};
                            }});
}

}  // namespace attune
