#include "service/rest/rest_server.h"

#include <utility>

#include "base/status.h"
#include "service/models/sqlite_model_store.h"
#include "service/page/page.h"
#include "service/rest/gate.h"
#include "service/rest/job_events.h"
#include "service/rest/local_tokens.h"
#include "service/rest/operations.h"
#include "service/rest/sqlite_service_store.h"
#include "service/rest/sqlite_session_store.h"

namespace attune {
namespace {

constexpr int kThreads = 8;  // that answer; most requests wait for the schedule's thread or the disk

class RestServer final : public FleetExtension {
 public:
  RestServer(const RestServerOptions& options, std::unique_ptr<JobServer> jobs,
             std::unique_ptr<ServiceStore> store, std::unique_ptr<SessionStore> sessions,
             std::unique_ptr<ModelStore> model_store, std::unique_ptr<BlobStore> blobs,
             const FleetServerParts& parts)
      : options_(options),
        jobs_(std::move(jobs)),
        store_(std::move(store)),
        sessions_(std::move(sessions)),
        model_store_(std::move(model_store)),
        blobs_(std::move(blobs)),
        uploads_(*store_, *blobs_, options.uploads),
        models_(*model_store_, *blobs_, {.folder = options.folder + "/imports"}),
        events_(jobs_->desk()),
        callers_(*store_, *sessions_, options.tls.has_value()),
        gate_(callers_, options.requests),
        api_(MakeRestApi(
            {*store_, *sessions_, callers_, uploads_, models_, jobs_->desk(), events_, parts.dispatcher})) {}

  grpc::Service& service() override { return jobs_->service(); }
  void AddMetrics(MetricsText& text) const override {
    jobs_->AddMetrics(text);
    models_.AddMetrics(text);
  }
  void Close(const MemberRefusal& refusal) override { jobs_->Close(refusal); }

  absl::Status Begin() override {
    RETURN_IF_ERROR(jobs_->Begin());
    RETURN_IF_ERROR(models_.Begin());
    RETURN_IF_ERROR(events_.Begin());
    HttpRouter router = RouterOf(api_, gate_);
    ServePage(EmbeddedPage(), router);
    ASSIGN_OR_RETURN(
        http_, HttpServer::Start({.address = options_.address, .tls = options_.tls, .threads = kThreads},
                                 std::move(router)));
    if (options_.on_listening) options_.on_listening(http_->address());
    return absl::OkStatus();
  }

  void Stop() override {
    events_.Stop();
    http_.reset();  // requests that are under way may still ask for jobs
    models_.Stop();
    jobs_->Stop();
  }

 private:
  const RestServerOptions options_;
  const std::unique_ptr<JobServer> jobs_;
  const std::unique_ptr<ServiceStore> store_;
  const std::unique_ptr<SessionStore> sessions_;
  const std::unique_ptr<ModelStore> model_store_;
  const std::unique_ptr<BlobStore> blobs_;
  Uploads uploads_;
  Models models_;
  JobEvents events_;
  Callers callers_;
  Gate gate_;
  const RestApi api_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<FleetExtension>> MakeRestServer(const JobScheduleOptions& jobs,
                                                               const RestServerOptions& options,
                                                               const FleetServerParts& parts) {
  ASSIGN_OR_RETURN(std::unique_ptr<JobServer> job_server, MakeJobServer(jobs, parts));
  ASSIGN_OR_RETURN(std::unique_ptr<ServiceStore> store,
                   SqliteServiceStore::Open(ServiceStorePath(options.folder)));
  ASSIGN_OR_RETURN(std::unique_ptr<SessionStore> sessions,
                   SqliteSessionStore::Open(options.folder + "/sessions.db"));
  ASSIGN_OR_RETURN(std::unique_ptr<ModelStore> models, SqliteModelStore::Open(options.folder + "/models.db"));
  // Nobody's files go because others need the room: a tenant has his quota.
  ASSIGN_OR_RETURN(std::unique_ptr<BlobStore> blobs,
                   BlobStore::Open(options.folder + "/uploads",
                                   {.most_bytes = INT64_MAX,
                                    .most_blob_bytes = options.uploads.most_bytes,
                                    .most_partial_bytes = options.uploads.most_tenant_bytes}));
  return std::make_unique<RestServer>(options, std::move(job_server), std::move(store), std::move(sessions),
                                      std::move(models), std::move(blobs), parts);
}

}  // namespace attune
