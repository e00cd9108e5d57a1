// The source of a model: its files, and the settings to read them.
#ifndef ATTUNE_SERVICE_MODELS_MODEL_SOURCE_H_
#define ATTUNE_SERVICE_MODELS_MODEL_SOURCE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

struct ModelFile {
  std::string name = {};    // below the model's folder
  std::string digest = {};  // of an upload

  bool operator==(const ModelFile&) const = default;
};

struct ModelSource {
  // The first one is the main file: the model itself, or the saved_model.pb of a SavedModel. Others are read
  // where it names them.
  std::vector<ModelFile> files = {};
  std::vector<std::string> shapes = {};  // of inputs whose dimensions it leaves open: "input=1x3x224x224"
  std::string signature = {};

  bool operator==(const ModelSource&) const = default;
};

inline constexpr size_t kMostModelFiles = 2000, kMostModelShapes = 100;

// Fails, naming what is wrong, unless names are those of files below a folder, and shapes are ones.
absl::Status CheckModelSource(const ModelSource& source);

// The source must be one that CheckModelSource() accepts, here and below. 64 hexadecimal digits: the digest
// of the file, if there is one file and nothing else to say; else a digest of everything but the main file's
// name.
std::string IdOfModel(const ModelSource& source);

// The name by which importers open it: that of its main file, or of a SavedModel's folder.
std::string PathOfModel(const ModelSource& source);

std::string ToText(const ModelSource& source);
absl::StatusOr<ModelSource> ModelSourceOf(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_MODEL_SOURCE_H_
