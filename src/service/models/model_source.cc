#include "service/models/model_source.h"

#include <algorithm>
#include <filesystem>

#include "api/named_shape.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSavedModel = "saved_model.pb";

Json ToJson(const ModelSource& source) {
  Json files = Json::array();
  for (const ModelFile& file : source.files) files.push_back({{"name", file.name}, {"sha256", file.digest}});
  return {{"files", files}, {"shapes", source.shapes}, {"signature", source.signature}};
}

}  // namespace

absl::Status CheckModelSource(const ModelSource& source) {
  constexpr size_t kMostShapeBytes = 1000;
  if (source.files.empty() || source.files.size() > kMostModelFiles)
    return InvalidInput("a model has 1 to ", kMostModelFiles, " files");
  std::vector<JobFile> files;
  for (const ModelFile& file : source.files) files.push_back({.name = file.name, .digest = file.digest});
  RETURN_IF_ERROR(CheckJobFiles(files));
  if (source.shapes.size() > kMostModelShapes)
    return InvalidInput("a model may have ", kMostModelShapes, " shapes, and this one has ",
                        source.shapes.size());
  for (const std::string& shape : source.shapes) {
    if (shape.size() > kMostShapeBytes || !ParseNamedShape(shape))
      return InvalidInput("/shapes: \"", Printable(shape), "\" is not of the form input=1x3x224x224");
  }
  return absl::OkStatus();
}

std::string IdOfModel(const ModelSource& source) {
  if (source.files.size() == 1 && source.shapes.empty() && source.signature.empty())
    return source.files.front().digest;
  ModelSource named = source;
  named.files.front().name.clear();
  std::sort(named.files.begin() + 1, named.files.end(),
            [](const ModelFile& a, const ModelFile& b) { return a.name < b.name; });
  return Sha256Hex(ToJson(named).dump());
}

std::string PathOfModel(const ModelSource& source) {
  const std::filesystem::path main = source.files.front().name;
  if (main.filename() != kSavedModel) return main.string();
  return main.has_parent_path() ? main.parent_path().string() : ".";
}

std::string ToText(const ModelSource& source) { return ToJson(source).dump(); }

absl::StatusOr<ModelSource> ModelSourceOf(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  ModelSource source;
  try {
    for (const Json& file : json.at("files")) source.files.push_back({file.at("name"), file.at("sha256")});
    source.shapes = json.at("shapes").get<std::vector<std::string>>();
    source.signature = json.at("signature").get<std::string>();
  } catch (const Json::exception& error) {
    return InvalidInput("the files of the model were described differently before (", error.what(), ")");
  }
  RETURN_IF_ERROR(CheckModelSource(source));
  return source;
}

}  // namespace attune
