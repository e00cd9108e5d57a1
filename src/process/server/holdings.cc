#include "process/server/holdings.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "service/rest/job_json.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;
using Json = nlohmann::ordered_json;

constexpr int64_t kAtOnce = 500;  // rows that are in memory

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::Status SaveJob(JobReader& jobs, const JobQuery& query, TarWriter& archive) {
  const auto detail = jobs.Show(query);
  // It may have gone meanwhile.
  if (absl::IsNotFound(detail.status())) return absl::OkStatus();
  RETURN_IF_ERROR(detail.status());
  const std::string folder = absl::StrCat("jobs/", query.id, "/");
  RETURN_IF_ERROR(archive.Add(absl::StrCat(folder, "job.json"), Line(ToJson(*detail))));
  for (const proto::JobFile& file : detail->files()) {
    const auto opened = jobs.OpenFile(query, file.name());
    // A running job has others by now.
    if (absl::IsNotFound(opened.status())) continue;
    RETURN_IF_ERROR(opened.status());
    RETURN_IF_ERROR(
        archive.AddFile(absl::StrCat(folder, file.name()), opened->file.descriptor, opened->file.bytes));
  }
  return absl::OkStatus();
}

absl::Status SaveJobs(JobReader& jobs, const std::string& tenant, TarWriter& archive) {
  std::string before;
  for (;;) {
    ASSIGN_OR_RETURN(const auto listed, jobs.List({.owner = tenant, .before = before, .most = kAtOnce}));
    for (const proto::Job& job : listed)
      RETURN_IF_ERROR(SaveJob(jobs, {.id = job.id(), .owner = tenant}, archive));
    if (std::ssize(listed) < kAtOnce) return absl::OkStatus();
    before = listed.back().id();
  }
}

absl::Status SaveModels(Models& models, const std::string& tenant, TarWriter& archive) {
  ModelCursor after;
  for (;;) {
    ASSIGN_OR_RETURN(const auto found, models.List(tenant, after, kAtOnce));
    for (const KnownModel& model : found) {
      const Json json = {{"id", model.id},
                         {"name", model.name},
                         {"created_ms", model.created_ms},
                         {"state", Name(model.verdict.state)},
                         {"facts", model.verdict.facts},
                         {"error", model.verdict.error}};
      RETURN_IF_ERROR(archive.Add(absl::StrCat("models/", model.id, ".json"), Line(json)));
    }
    if (std::ssize(found) < kAtOnce) return absl::OkStatus();
    after = {.created_ms = found.back().created_ms, .id = found.back().id};
  }
}

absl::StatusOr<bool> RemoveModels(Models& models, const std::string& tenant) {
  ASSIGN_OR_RETURN(const auto found, models.List(tenant, {}, kAtOnce));
  for (const KnownModel& model : found) {
    const absl::Status removed = models.Remove(tenant, model.id);
    if (!absl::IsNotFound(removed)) RETURN_IF_ERROR(removed);
  }
  return found.empty();
}

absl::Status SaveUploads(const HoldingParts& parts, const std::string& tenant, TarWriter& archive) {
  ASSIGN_OR_RETURN(const auto uploads, parts.service.Uploads(tenant));
  for (const KnownUpload& upload : uploads) {
    const auto opened = parts.uploads.blobs().Read(tenant, upload.digest);
    if (absl::IsNotFound(opened.status())) continue;  // it has not come whole
    RETURN_IF_ERROR(opened.status());
    RETURN_IF_ERROR(archive.AddFile(absl::StrCat("uploads/", upload.digest), opened->first, opened->second));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> RemoveUploads(const HoldingParts& parts, const std::string& tenant) {
  ASSIGN_OR_RETURN(const auto uploads, parts.service.Uploads(tenant));
  for (const KnownUpload& upload : uploads) {
    RETURN_IF_ERROR(parts.uploads.blobs().Forget(tenant, upload.digest));
    RETURN_IF_ERROR(parts.service.RemoveUpload(tenant, upload.digest));
  }
  return true;
}

absl::Status SaveTokens(ServiceStore& store, const std::string& tenant, TarWriter& archive) {
  ASSIGN_OR_RETURN(const auto tokens, store.Tokens(tenant, SystemClock().WallMillis()));
  std::string lines;
  for (const AccessToken& token : tokens)
    lines += Line({{"id", token.id},
                   {"name", token.name},
                   {"role", Name(token.role)},
                   {"created_ms", token.created_ms},
                   {"expires_ms", token.expires_ms}});
  return archive.Add("tokens.jsonl", lines);
}

absl::Status SavePeople(PeopleStore& store, const std::string& tenant, TarWriter& archive) {
  ASSIGN_OR_RETURN(const auto people, store.People(tenant));
  std::string lines;
  for (const PersonRecord& person : people)
    lines += Line({{"id", person.id},
                   {"issuer", person.issuer},
                   {"subject", person.subject},
                   {"name", person.name},
                   {"role", Name(person.role)},
                   {"created_ms", person.created_ms},
                   {"last_login_ms", person.last_login_ms}});
  return archive.Add("people.jsonl", lines);
}

absl::Status SaveAudit(AuditStore& audit, const std::string& tenant, TarWriter& archive) {
  AuditQuery query = {.tenant = tenant, .most = kAtOnce};
  for (int part = 0;; ++part) {
    ASSIGN_OR_RETURN(const auto entries, audit.Entries(query));
    if (entries.empty()) return absl::OkStatus();
    std::string lines;
    for (const KeptAuditEntry& kept : entries)
      lines += Line({{"sequence", kept.sequence},
                     {"time_ms", kept.entry.time_ms},
                     {"actor", kept.entry.actor},
                     {"actor_name", kept.entry.actor_name},
                     {"operation", kept.entry.operation},
                     {"subject", kept.entry.subject},
                     {"request", kept.entry.request},
                     {"result", kept.entry.result},
                     {"hash", kept.hash}});
    RETURN_IF_ERROR(archive.Add(absl::StrFormat("audit/%06d.jsonl", part), lines));
    query.before = entries.back().sequence;
  }
}

// Ends the membership of the tenant's machines and clients: a later tenant of the same name has others.
// Returns whether there was nothing to end.
absl::StatusOr<bool> DismissMembers(const HoldingParts& parts, const std::string& tenant) {
  ASSIGN_OR_RETURN(const int64_t revoked,
                   parts.fleet.RevokeOwner(
                       tenant, {.reason = "its tenant was deleted", .time_ms = SystemClock().WallMillis()}));
  bool is_there = revoked > 0;
  const auto refusal = [&](const CertificateFacts& facts) -> absl::Status {
    if (facts.who.owner != tenant) return absl::OkStatus();
    is_there = true;
    return CertificateIsRevoked();
  };
  parts.devices.Close(refusal);
  parts.runners.Close(refusal);
  for (const fleet_proto::Device& device : parts.devices.Devices("")) {
    if (device.owner() != tenant) continue;
    is_there = true;
    const absl::Status removed = parts.devices.Remove(device.id());
    if (!absl::IsNotFound(removed)) RETURN_IF_ERROR(removed);
  }
  return !is_there;
}

}  // namespace

std::vector<TenantHolding> HoldingsOf(const HoldingParts& parts) {
  return {
      // First, so that no machine gets or brings anything more.
      {.name = "machines",
       .remove = [parts](const auto& tenant) -> absl::StatusOr<bool> {
         RETURN_IF_ERROR(DismissMembers(parts, tenant).status());
         return true;
       }},
      {.name = "jobs",
       .save = [parts](const auto& tenant, auto& archive) { return SaveJobs(parts.jobs, tenant, archive); },
       .remove = [parts](const auto& tenant) { return parts.control.RemoveJobs(tenant); }},
      {.name = "models",
       .save = [parts](const auto& tenant,
                       auto& archive) { return SaveModels(parts.models, tenant, archive); },
       .remove = [parts](const auto& tenant) { return RemoveModels(parts.models, tenant); }},
      {.name = "uploads",
       .save = [parts](const auto& tenant, auto& archive) { return SaveUploads(parts, tenant, archive); },
       .remove = [parts](const auto& tenant) { return RemoveUploads(parts, tenant); }},
      {.name = "tokens",
       .save = [parts](const auto& tenant,
                       auto& archive) { return SaveTokens(parts.service, tenant, archive); },
       .remove = [parts](const auto& tenant) -> absl::StatusOr<bool> {
         RETURN_IF_ERROR(parts.service.RemoveTenant(tenant));
         return true;
       }},
      {.name = "people",
       .save = [parts](const auto& tenant,
                       auto& archive) { return SavePeople(parts.people, tenant, archive); },
       .remove = [parts](const auto& tenant) -> absl::StatusOr<bool> {
         RETURN_IF_ERROR(parts.people.RemoveTenant(tenant));
         return true;
       }},
      {.name = "known answers",
       .remove = [parts](const auto& tenant) -> absl::StatusOr<bool> {
         RETURN_IF_ERROR(parts.known.RemoveTenant(tenant));
         parts.quantizations.RemoveTenant(tenant);
         return true;
       }},
      {.name = "records of the cost model",
       .remove = [parts](const auto& tenant) -> absl::StatusOr<bool> {
         RETURN_IF_ERROR(parts.learning.RemoveTenant(tenant));
         return true;
       }},
      {.name = "trust in owners of devices",
       .remove = [parts](const auto& tenant) -> absl::StatusOr<bool> {
         RETURN_IF_ERROR(parts.devices.ForgetOwner(tenant));
         return true;
       }},
      {.name = "audit",
       .save = [parts](const auto& tenant, auto& archive) { return SaveAudit(parts.audit, tenant, archive); },
       .remove = [parts](const auto& tenant) -> absl::StatusOr<bool> {
         RETURN_IF_ERROR(parts.audit.Erase(tenant));
         return true;
       }},
      // Last, since jobs had members of their own, and connections take a moment to end.
      {.name = "connections",
       .remove = [parts](const auto& tenant) { return DismissMembers(parts, tenant); }},
  };
}

}  // namespace attune
