// All operations as peers see them, without a network.
#ifndef ATTUNE_PROCESS_SERVER_REST_FOR_TEST_H_
#define ATTUNE_PROCESS_SERVER_REST_FOR_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "base/testing/skipping_clock.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/fleet_for_test.h"
#include "import/onnx/testing/model_builder.h"
#include "process/server/holdings.h"
#include "process/server/job_server_for_test.h"
#include "process/server/tenant_use.h"
#include "service/agreement/agreements.h"
#include "service/identity/made_up_issuer_for_test.h"
#include "service/models/model_store.h"
#include "service/queue/job_server.h"
#include "service/rest/gate.h"
#include "service/rest/operations.h"
#include "service/runner/runner_for_test.h"
#include "service/state/people_store.h"
#include "service/state/service_store.h"

namespace attune {

// A service, whose every answer is compared with its OpenAPI document.
class RestTest : public ::testing::Test {
 protected:
  using Json = nlohmann::json;

  RestTest()
      : fleet_([this](const std::string& folder, const FleetParts& parts) {
          dispatcher_ = dynamic_cast<Dispatcher*>(&parts.devices);
          fleet_store_ = &parts.store;
          JobScheduleOptions options = {.folder = folder + "/jobs",
                                        .strategy = FindSchedulingStrategy("fair_share")};
          options.trusted_owners = {kServersOwner};  // whose devices those of a FleetOfTest are
          options.teaches_cost_model = [this](const std::string& tenant) {
            return TeachesCostModel(*tenant_store_, tenant);
          };
          // A store of its own, since the schedule outlives the test's.
          options.device_quota = [this](const std::string& tenant,
                                        double running) -> absl::StatusOr<std::optional<std::string>> {
            const auto store = TenantStore::Open(SqlLocation(fleet_.folder().path()));
            return store.ok() ? DeviceRefusalOf(**store, tenant, running) : store.status();
          };
          options.storage_quota = [this](const std::string& tenant) -> absl::StatusOr<StorageShare> {
            const SqlLocation location(fleet_.folder().path());
            const auto tenants = TenantStore::Open(location);
            const auto uploads = ServiceStore::Open(location);
            RETURN_IF_ERROR(tenants.status());
            RETURN_IF_ERROR(uploads.status());
            return StorageShareOf(**tenants, **uploads, tenant);
          };
          // A machine that runs all tenants' jobs, and is not connected.
          const int64_t now = SystemClock().WallMillis();
          const absl::Status added = parts.store.AddCertificate(
              {.who = {.role = FleetRole::kRunner, .owner = kServersOwner, .id = "runner-away"},
               .serial = "away",
               .begin_ms = now,
               .end_ms = now + kDayMs});
          EXPECT_TRUE(added.ok() || absl::IsAlreadyExists(added)) << added;
          auto made = std::make_unique<JobServerOfTest>(options, parts);
          jobs_ = &made->jobs();
          return made;
        }),
        store_(*ServiceStore::Open(SqlLocation(fleet_.folder().path()))),
        people_(*PeopleStore::Open(SqlLocation(fleet_.folder().path()))),
        audit_(*AuditStore::Open(SqlLocation(fleet_.folder().path()))),
        audit_log_(*audit_),
        tenant_store_(*TenantStore::Open(SqlLocation(fleet_.folder().path()))),
        blobs_(*BlobStore::Open(fleet_.folder().path() + "/uploads", {})),
        uploads_(*store_, *blobs_, {.most_bytes = 1000, .most_tenant_bytes = 1500}),
        model_store_(*ModelStore::Open(SqlLocation(fleet_.folder().path()))),
        models_(*model_store_, *blobs_, {.folder = fleet_.folder().path() + "/imports"}),
        agreement_store_(*AgreementStore::Open(SqlLocation(fleet_.folder().path()))),
        agreements_(*agreement_store_, models_, jobs_->schedule().reader(), jobs_->schedule().ended(),
                    *dispatcher_, [this] { return TenantsThatAnswer(*tenant_store_); }),
        events_(jobs_->schedule().reader(), /*look_seconds=*/0.01),
        callers_({.tokens = *store_, .people = *people_, .audit = audit_log_, .logins = &logins_}),
        tenants_(
            *tenant_store_, [this](const std::string& tenant) { return use_.StateOf(tenant); }, clock_),
        remover_(*tenant_store_, HoldingsOf({.jobs = jobs_->schedule().reader(),
                                             .control = jobs_->schedule().control(),
                                             .learning = jobs_->schedule().learning(),
                                             .models = models_,
                                             .uploads = uploads_,
                                             .service = *store_,
                                             .people = *people_,
                                             .known = agreements_.known(),
                                             .quantizations = agreements_.quantizations(),
                                             .audit = *audit_,
                                             .devices = *dispatcher_,
                                             .fleet = *fleet_store_,
                                             .runners = *jobs_})),
        gate_(callers_, audit_log_, tenants_, {.at_once = 10'000, .seconds_each = 1e-4},
              fleet_.folder().path()),
        api_(MakeRestApi({.store = *store_,
                          .people = *people_,
                          .audit = *audit_,
                          .tenants = tenants_,
                          .remover = remover_,
                          .folder = fleet_.folder().path(),
                          .callers = callers_,
                          .logins = &logins_,
                          .uploads = uploads_,
                          .models = models_,
                          .submissions = jobs_->schedule().submissions(),
                          .jobs = jobs_->schedule().reader(),
                          .control = jobs_->schedule().control(),
                          .learning = jobs_->schedule().learning(),
                          .signer = jobs_->schedule().signer(),
                          .forecaster = agreements_.forecaster(),
                          .events = events_,
                          .devices = *dispatcher_,
                          .fleet = *fleet_store_})),
        router_(RouterOf(api_, gate_)) {
    EXPECT_TRUE(models_.Begin().ok());
    EXPECT_TRUE(agreements_.Begin().ok());
    EXPECT_TRUE(events_.Begin().ok());
    EXPECT_TRUE(audit_log_.Begin().ok());
    EXPECT_TRUE(remover_.Begin().ok());
    document_ = Json::parse(Ask("", "GET", "/v1/openapi.json").body);
  }

  void SetUp() override { SetLogLevel(LogLevel::kError); }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  // The text of a new token, by the tenant and the role.
  std::string Token(const std::string& tenant, AccessRole role) {
    const std::string text = *NewTokenText();
    const int64_t now = SystemClock().WallMillis();
    EXPECT_TRUE(store_
                    ->AddToken({.id = *NewId(),
                                .name = "test",
                                .tenant = tenant,
                                .role = role,
                                .created_ms = now,
                                .expires_ms = now + kDayMs},
                               DigestOfToken(text))
                    .ok());
    return text;
  }

  using Headers = std::map<std::string, std::string, std::less<>>;
  // The answer, which must be as the document says.
  HttpResponse Ask(const std::string& token, const std::string& method, const std::string& path,
                   const std::string& body = "", Headers headers = {}) {
    if (!token.empty()) headers["authorization"] = "Bearer " + token;
    if (!body.empty()) headers.try_emplace("content-type", "application/json");
    HttpResponse response =
        router_.Answer({.method = method, .path = path, .headers = std::move(headers), .body = body});
    if (!document_.is_null()) ExpectDocumented(method, path, response);
    return response;
  }
  HttpResponse Post(const std::string& token, const std::string& path, const Json& body,
                    const Headers& headers = {}) {
    return Ask(token, "POST", path, body.dump(), headers);
  }
  Json Get(const std::string& token, const std::string& path) {
    const HttpResponse response = Ask(token, "GET", path);
    EXPECT_EQ(response.status, 200) << path << response.body;
    return response.status == 200 ? Json::parse(response.body) : Json();
  }

  void ExpectDocumented(const std::string& method, const std::string& path, const HttpResponse& response) {
    const RestOperation* operation = OperationAt(method, path);
    if (operation == nullptr) return;  // the router's own problem
    const std::string route = absl::StrReplaceAll(operation->route.path, {{"...}", "}"}});
    const std::string verb = absl::AsciiStrToLower(operation->route.method);
    const Json& answers = document_["paths"][route][verb]["responses"];
    const std::string status = absl::StrCat(response.status);
    ASSERT_TRUE(answers.contains(status)) << method << " " << path << ": " << status << response.body;
    Json answer = answers[status];
    if (answer.contains("$ref")) {
      EXPECT_EQ(answer["$ref"], "#/components/responses/" + status);
      answer = document_["components"]["responses"][status];
    }
    if (!answer.contains("content")) {
      EXPECT_EQ(response.body, "");
      return;
    }
    const auto content = answer["content"].items().begin();
    if (response.events == nullptr) EXPECT_EQ(response.content_type, content.key());
    if (!content.value().contains("schema")) return;
    const JsonSchema schema = JsonSchema::parse(content.value()["schema"].dump());
    EXPECT_EQ(CheckJson(Json::parse(response.body), schema, api_.schemas), absl::OkStatus())
        << method << " " << path << ": " << response.body;
  }
  const RestOperation* OperationAt(const std::string& method, const std::string& path) const {
    const RestOperation* best = nullptr;
    for (const RestOperation& operation : api_.operations) {
      HttpRouter one;
      one.Add(
          {operation.route.method, operation.route.path, [](const HttpRequest&) { return HttpResponse{}; }});
      if (one.Answer({.method = method, .path = path}).status == 200) best = &operation;
    }
    return best;
  }

  // A network whose one operator reads and writes a megabyte.
  static std::string ModelBytes() {
    onnx::Model model;
    model.AddInput("x", {"256", "1024"});
    model.AddNode("Relu", {"x"}, {"y"});
    model.AddOutput("y");
    return model.proto.SerializeAsString();
  }
  // A file that the server has of an owner of files, as if a job had handed it in.
  JobFile Keep(const std::string& owner, const std::string& name, const std::string& content) {
    const JobFile file = {.name = name, .digest = Sha256Hex(content), .bytes = std::ssize(content)};
    BlobStore& files = jobs_->schedule().files();
    if (files.Has(owner, file.digest)) return file;
    EXPECT_TRUE(files.Append(owner, file.digest, 0, content).ok());
    EXPECT_TRUE(files.Finish(owner, file.digest).ok());
    return file;
  }
  // Sends a file whole, and returns its digest.
  std::string Upload(const std::string& token, const std::string& content) {
    const std::string digest = Sha256Hex(content);
    EXPECT_EQ(Post(token, "/v1/uploads", {{"sha256", digest}, {"bytes", content.size()}}).status, 201);
    EXPECT_EQ(Patch(token, digest, 0, content).status, 204);
    return digest;
  }
  HttpResponse Patch(const std::string& token, const std::string& digest, size_t offset,
                     const std::string& bytes) {
    return Ask(
        token, "PATCH", "/v1/uploads/" + digest, bytes,
        {{"content-type", "application/offset+octet-stream"}, {"upload-offset", absl::StrCat(offset)}});
  }
  static Json MockJob(const std::string& name = "mock", int repeat = 1) {
    return {{"name", name},
            {"kind", "mock"},
            {"settings", {{"stages", {{{"name", "work"}, {"seconds", 0}}}}, {"repeat", repeat}}}};
  }
  // A runner of this tenant.
  std::unique_ptr<RunnerOfTest> Runner(const std::string& tenant) {
    const std::string folder = fleet_.folder().path() + "/runner";
    EXPECT_TRUE(SaveCredentials(folder, fleet_.Enrol("runner", tenant)).ok());
    return std::make_unique<RunnerOfTest>(JobRunnerOptions{.folder = folder});
  }
  std::string Submit(const std::string& token, const Json& job) {
    const HttpResponse response = Post(token, "/v1/jobs", job);
    EXPECT_EQ(response.status, 201) << response.body;
    return response.status == 201 ? Json::parse(response.body)["id"].get<std::string>() : "";
  }
  static std::string Detail(const HttpResponse& problem) {
    return Json::parse(problem.body)["detail"].get<std::string>();
  }

  JobServer* jobs_ = nullptr;
  Dispatcher* dispatcher_ = nullptr;
  FleetStore* fleet_store_ = nullptr;
  FleetOfTest fleet_;
  std::unique_ptr<ServiceStore> store_;
  std::unique_ptr<PeopleStore> people_;
  std::unique_ptr<AuditStore> audit_;
  AuditLog audit_log_;
  std::unique_ptr<TenantStore> tenant_store_;
  std::unique_ptr<BlobStore> blobs_;
  Uploads uploads_;
  std::unique_ptr<ModelStore> model_store_;
  Models models_;
  std::unique_ptr<AgreementStore> agreement_store_;
  Agreements agreements_;
  JobEvents events_;
  MadeUpIssuer issuer_;
  OidcLogins logins_{{.url = "https://attune.example.org", .issuers = {MadeUpIssuer::Configured()}},
                     issuer_,
                     SystemClock(),
                     {.refresh_seconds = 0.05, .least_seconds = 0.02, .wait_seconds = 3600}};
  Callers callers_;
  testing::SkippingClock clock_;  // of what tenants may do
  TenantUse use_{jobs_->schedule().reader(), *store_, /*seconds=*/0};
  Tenants tenants_;
  TenantRemover remover_;
  Gate gate_;
  const RestApi api_;
  const HttpRouter router_;
  Json document_ = nullptr;
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_REST_FOR_TEST_H_
