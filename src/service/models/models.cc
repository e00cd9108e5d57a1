#include "service/models/models.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/state_file.h"
#include "base/status.h"
#include "device/host.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// Facts of another form are made anew.
constexpr char kProgram[] = ATTUNE_VERSION ", facts 2";

absl::Status NoSuchModel(const std::string& id) {
  return absl::NotFoundError(absl::StrCat("there is no model ", id, "; POST /v1/models makes it"));
}

bool IsCurrent(const ModelVerdict& verdict) {
  return verdict.state != ModelState::kImporting && verdict.program == kProgram;
}

ModelVerdict VerdictOf(ImportedModel imported) {
  ModelVerdict verdict = {.state = ModelState::kRefused, .error = std::move(imported.error)};
  if (imported.result == ImportResult::kReady)
    verdict = {.state = ModelState::kReady, .facts = std::move(imported.facts)};
  // The available memory and time say little about the model: a later request imports it again.
  const bool lasts = imported.result == ImportResult::kReady || imported.result == ImportResult::kRefused;
  if (lasts) verdict.program = kProgram;
  return verdict;
}

}  // namespace

Models::Models(ModelStore& store, BlobStore& blobs, const ModelServiceOptions& options, const Clock& clock)
    : store_(store),
      blobs_(blobs),
      options_(options),
      clock_(clock),
      queue_(options.workers, options.most_waiting,
             [this](const std::string& tenant, const std::string& id) { Import(tenant, id); }) {}

absl::Status Models::Begin() {
  std::error_code ignored;  // leftover files do no harm
  fs::remove_all(options_.folder, ignored);
  RETURN_IF_ERROR(MakeStateFolder(options_.folder));
  ASSIGN_OR_RETURN(target_, HostTarget());
  ASSIGN_OR_RETURN(const auto importing, store_.ImportingModels());
  for (const auto& [tenant, id] : importing) queue_.Add(tenant, id);
  return queue_.Begin();
}

absl::StatusOr<KnownModel> Models::Add(const std::string& tenant, const std::string& name,
                                       const ModelSource& source) {
  RETURN_IF_ERROR(CheckModelSource(source));
  for (const ModelFile& file : source.files) {
    if (!blobs_.Has(tenant, file.digest))
      return absl::FailedPreconditionError(
          absl::StrCat(file.name, ": upload ", file.digest, " is not complete; send it first"));
  }
  ASSIGN_OR_RETURN(KnownModel model, store_.AddModel({.tenant = tenant,
                                                      .id = IdOfModel(source),
                                                      .name = name,
                                                      .source = source,
                                                      .created_ms = clock_.WallMillis()}));
  if (IsCurrent(model.verdict)) return model;
  const ModelVerdict before = std::exchange(model.verdict, {});
  RETURN_IF_ERROR(store_.SetVerdict(tenant, model.id, model.verdict));
  if (queue_.Add(tenant, model.id)) return model;
  if (before.state == ModelState::kImporting) {
    RETURN_IF_ERROR(store_.RemoveModel(tenant, model.id).status());
  } else {
    RETURN_IF_ERROR(store_.SetVerdict(tenant, model.id, before));
  }
  return absl::ResourceExhaustedError("too many models of this tenant wait for their import");
}

absl::StatusOr<KnownModel> Models::Find(const std::string& tenant, const std::string& id) {
  ASSIGN_OR_RETURN(std::optional<KnownModel> model, store_.FindModel(tenant, id));
  if (!model) return NoSuchModel(id);
  return *std::move(model);
}

absl::Status Models::Remove(const std::string& tenant, const std::string& id) {
  ASSIGN_OR_RETURN(const bool was_there, store_.RemoveModel(tenant, id));
  return was_there ? absl::OkStatus() : NoSuchModel(id);
}

absl::StatusOr<std::optional<std::string>> Models::RefusalOf(const std::string& tenant,
                                                             const ModelSource& source) {
  ASSIGN_OR_RETURN(const std::optional<KnownModel> model, store_.FindModel(tenant, IdOfModel(source)));
  if (!model || model->verdict.state != ModelState::kRefused || !IsCurrent(model->verdict))
    return std::nullopt;
  return model->verdict.error;
}

absl::Status Models::Lay(const std::string& folder, const std::string& tenant, const ModelSource& source) {
  RETURN_IF_ERROR(MakeStateFolder(folder));
  for (const ModelFile& file : source.files) {
    ASSIGN_OR_RETURN(const auto blob, blobs_.Read(tenant, file.digest));
    RETURN_IF_ERROR(CopyTo(blob.first, blob.second, (fs::path(folder) / file.name).string()));
  }
  return absl::OkStatus();
}

void Models::Import(const std::string& tenant, const std::string& id) {
  const absl::StatusOr<KnownModel> model = Find(tenant, id);
  if (!model.ok()) return;  // it was removed meanwhile
  const std::string folder = absl::StrCat(options_.folder, "/", ++num_imports_);
  ImportedModel imported = {.error = "its files are gone; send them again"};
  const absl::Status laid = Lay(folder, tenant, model->source);
  if (laid.ok()) {
    imported = ImportInProcess(folder, model->source, target_, options_.limits, options_.program);
  } else {
    Log(LogLevel::kWarning, "a model cannot be imported", "model", id, "reason", laid.message());
  }
  std::error_code ignored;  // the next start removes what stays
  fs::remove_all(folder, ignored);
  const ImportResult result = imported.result;
  const absl::Status stored = store_.SetVerdict(tenant, id, VerdictOf(std::move(imported)));
  Log(LogLevel::kInfo, "model is imported", "tenant", tenant, "model", id, "result",
      kImportResults[static_cast<size_t>(result)]);
  if (!stored.ok()) Log(LogLevel::kError, "a verdict is not stored", "model", id, "reason", stored.message());
  const std::lock_guard<std::mutex> lock(mutex_);
  ++results_[static_cast<size_t>(result)];
}

void Models::AddMetrics(MetricsText& text) const {
  const ImportQueue::Counts counts = queue_.counts();
  text.Begin("attune_model_imports", "gauge", "Models that wait for their import, or are being imported.");
  text.Add(static_cast<double>(counts.waiting), {{"state", "waiting"}});
  text.Add(static_cast<double>(counts.running), {{"state", "running"}});
  text.Begin("attune_model_imports_total", "counter", "Imports of models that have ended, by result.");
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < results_.size(); ++i)
    text.Add(static_cast<double>(results_[i]), {{"result", std::string(kImportResults[i])}});
}

absl::StatusOr<std::set<std::string>> FilesOfModels(Models& models, const std::string& tenant) {
  ASSIGN_OR_RETURN(const auto known, models.List(tenant, {}, kMostModels));
  std::set<std::string> digests;
  for (const KnownModel& model : known)
    for (const auto& file : model.source.files) digests.insert(file.digest);
  return digests;
}

absl::Status CopyTo(const FileDescriptor& from, int64_t bytes, const std::string& path) {
  constexpr mode_t kOurs = 0600;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const FileDescriptor to(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOurs));
  off64_t offset = 0;
  while (to.get() >= 0 && offset < bytes) {
    const ssize_t copied =
        copy_file_range(from.get(), &offset, to.get(), nullptr, static_cast<size_t>(bytes - offset), 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied <= 0) break;
  }
  if (to.get() >= 0 && offset == bytes) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

}  // namespace attune
