#include "service/rest/job_models.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "work/job/settings.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr char kSetting[] = "model";

// The job's input that is the main file of this model; nothing if there is none.
std::optional<std::string> MainFileOf(const jobs_service_proto::SubmittedJob& job, const std::string& model) {
  for (const std::string& name : {model, model + "/saved_model.pb"}) {
    for (const auto& input : job.inputs())
      if (input.name() == name) return name;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::optional<ModelSource>> ModelOfJob(const jobs_service_proto::SubmittedJob& job) {
  const Json settings = Json::parse(job.settings(), nullptr, /*allow_exceptions=*/false);
  if (!settings.is_object() || !settings.contains(kSetting) || !settings[kSetting].is_string())
    return std::nullopt;
  const auto main = MainFileOf(job, settings[kSetting].get<std::string>());
  if (!main) return std::nullopt;
  const size_t folder_bytes = main->rfind('/') + 1;  // 0 without a folder
  const std::string_view folder = std::string_view(*main).substr(0, folder_bytes);
  ModelSource source;
  for (const auto& input : job.inputs()) {
    if (!input.name().starts_with(folder)) continue;
    ModelFile file = {input.name().substr(folder_bytes), input.digest()};
    source.files.insert(input.name() == *main ? source.files.begin() : source.files.end(), std::move(file));
  }
  SettingsReader reader(settings, "");
  reader.Read("shapes", source.shapes);
  reader.Read("signature", source.signature);
  RETURN_IF_ERROR(reader.status());
  RETURN_IF_ERROR(CheckModelSource(source));
  return source;
}

absl::Status CheckModelOf(const jobs_service_proto::SubmittedJob& job, const std::string& tenant,
                          Models& models) {
  ASSIGN_OR_RETURN(const std::optional<ModelSource> source, ModelOfJob(job));
  if (!source) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::optional<std::string> refusal, models.RefusalOf(tenant, *source));
  if (!refusal) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("/settings/", kSetting, ": ", *refusal));
}

}  // namespace attune
