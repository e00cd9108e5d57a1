#include "service/client/remote_job.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

// Takes the fields of an object, and keeps the first error.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {
    if (!json.is_object()) Fail("the answer", "is not an object");
  }

  void Take(const char* name, std::string& to) {
    if (const Json* value = Find(name, &Json::is_string)) to = value->get<std::string>();
  }
  void Take(const char* name, double& to) {
    if (const Json* value = Find(name, &Json::is_number)) to = value->get<double>();
  }
  void Take(const char* name, int64_t& to) {
    const Json* value = Find(name, &Json::is_number_integer);
    if (value == nullptr) return;
    if (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX)
      Fail(name, "is too large");
    else
      to = value->get<int64_t>();
  }
  // One that may be null.
  template <typename T>
  void TakeIfKnown(const char* name, T& to) {
    const auto found = json_.find(name);
    if (found == json_.end() || !found->is_null()) Take(name, to);
  }
  // One that may be missing.
  void TakeIfThere(const char* name, std::optional<double>& to) {
    const auto found = json_.find(name);
    if (found != json_.end() && found->is_number()) to = found->get<double>();
  }
  void TakeIfThere(const char* name, std::string& to) {
    const auto found = json_.find(name);
    if (found != json_.end() && found->is_string()) to = found->get<std::string>();
  }
  // The texts of a list that may be missing.
  void TakeIfThere(const char* name, std::vector<std::string>& to) {
    const auto found = json_.find(name);
    if (found == json_.end() || !found->is_array()) return;
    for (const Json& text : *found)
      if (text.is_string()) to.push_back(text.get<std::string>());
  }
  template <typename T>
  void TakeAll(const char* name, std::vector<T>& to, absl::StatusOr<T> (*read)(const Json&)) {
    const Json* list = Find(name, &Json::is_array);
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      absl::StatusOr<T> item = read((*list)[i]);
      if (!item.ok() && status_.ok()) status_ = item.status();
      if (item.ok()) to.push_back(*std::move(item));
    }
  }

  const absl::Status& status() const { return status_; }
  // The value that was read, unless a field was not as it should be.
  template <typename T>
  absl::StatusOr<T> Finish(T& value) const {
    if (!status_.ok()) return status_;
    return std::move(value);
  }

 private:
  const Json* Find(const char* name, bool (Json::*is_fine)() const noexcept) {
    const auto found = json_.find(name);
    if (found != json_.end() && ((*found).*is_fine)()) return &*found;
    Fail(name, found == json_.end() ? "is missing" : "is of another type than it should be");
    return nullptr;
  }
  void Fail(std::string_view name, std::string_view why) {
    if (status_.ok())
      status_ = absl::FailedPreconditionError(
          absl::StrCat("the server's answer about a job is not as this version knows it: ", name, " ", why));
  }

  const Json& json_;
  absl::Status status_;
};

absl::StatusOr<RemotePromise> ReadPromise(const Json& json) {
  RemotePromise promise;
  Fields fields(json);
  fields.Take("name", promise.name);
  fields.TakeIfThere("state", promise.state);
  fields.TakeIfThere("limit", promise.limit);
  fields.TakeIfThere("probability", promise.probability);
  fields.TakeIfThere("low", promise.low);
  fields.TakeIfThere("median", promise.median);
  fields.TakeIfThere("high", promise.high);
  fields.TakeIfThere("evidence", promise.evidence);
  return fields.Finish(promise);
}

absl::StatusOr<RemoteStage> ReadStage(const Json& json) {
  RemoteStage stage;
  Fields fields(json);
  fields.Take("name", stage.name);
  fields.Take("outcome", stage.outcome);
  fields.Take("runner", stage.runner);
  fields.Take("reason", stage.reason);
  fields.Take("waited_seconds", stage.waited_seconds);
  fields.Take("seconds", stage.seconds);
  fields.Take("ended", stage.ended);
  return fields.Finish(stage);
}

absl::StatusOr<RemoteFile> ReadFileOf(const Json& json) {
  RemoteFile file;
  Fields fields(json);
  fields.Take("name", file.name);
  fields.Take("sha256", file.sha256);
  fields.Take("bytes", file.bytes);
  return fields.Finish(file);
}

// The promises, or offers, of a list that may be missing.
absl::StatusOr<std::vector<RemotePromise>> ReadPromises(const Json& json, const char* name) {
  std::vector<RemotePromise> promises;
  if (!json.is_object() || !json.contains(name)) return promises;
  Fields fields(json);
  fields.TakeAll(name, promises, ReadPromise);
  return fields.Finish(promises);
}

}  // namespace

absl::StatusOr<RemotePrediction> ReadRemotePrediction(const Json& json) {
  RemotePrediction prediction;
  Fields fields(json);
  fields.TakeIfThere("verdict", prediction.verdict);
  fields.TakeIfThere("reason", prediction.reason);
  if (!fields.status().ok()) return fields.status();
  ASSIGN_OR_RETURN(prediction.promises, ReadPromises(json, "promises"));
  ASSIGN_OR_RETURN(prediction.offers, ReadPromises(json, "offers"));
  return prediction;
}

absl::StatusOr<RemoteJob> ReadRemoteJob(const Json& json) {
  RemoteJob job;
  Fields fields(json);
  fields.Take("id", job.id);
  fields.Take("kind", job.kind);
  fields.Take("state", job.state);
  fields.Take("priority", job.priority);
  fields.Take("on", job.on);
  fields.Take("stage", job.stage);
  fields.Take("waits_for", job.waits_for);
  fields.Take("runner", job.runner);
  fields.Take("progress", job.progress);
  fields.Take("error", job.error);
  fields.TakeIfKnown("remaining_seconds", job.remaining_seconds);
  fields.Take("submitted", job.submitted);
  fields.TakeIfKnown("ended", job.ended);
  if (!fields.status().ok()) return fields.status();
  ASSIGN_OR_RETURN(job.promises, ReadPromises(json, "promises"));
  job.json = json;
  return job;
}

absl::StatusOr<RemoteJobDetail> ReadRemoteJobDetail(const Json& json) {
  RemoteJobDetail detail;
  ASSIGN_OR_RETURN(detail.job, ReadRemoteJob(json));
  Fields fields(json);
  fields.TakeAll("stages", detail.stages, ReadStage);
  fields.TakeAll("files", detail.files, ReadFileOf);
  if (!fields.status().ok()) return fields.status();
  detail.result = json.value("result", Json());
  return detail;
}

}  // namespace attune
