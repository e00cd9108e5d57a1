// The settings of jobs that are options (options/options.toml): read and written.
#ifndef ATTUNE_KINDS_OPTION_SETTINGS_H_
#define ATTUNE_KINDS_OPTION_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "options/option.h"
#include "work/job/settings.h"

namespace attune {

// Says whose settings are read: those of a job, or of a variant of a quantization job.
enum class SettingsOf : uint8_t { kJob, kVariant };

// Reads those of the options that are settings.
void ReadOptions(SettingsReader& reader, const BoundOptions& options, SettingsOf of = SettingsOf::kJob);

// Writes those of the options that are settings to an object.
void WriteOptions(const BoundOptions& options, SettingsOf of, nlohmann::ordered_json& to);

// Says of the setting "shapes" what is wrong with it, if anything is.
void CheckShapes(SettingsReader& reader, const std::vector<std::string>& shapes);

// Whether the settings of a tuning job name options of compiling or of pictures, so that its artifact is not
// that of another job for the same model.
bool ChangeArtifact(const nlohmann::json& settings);

}  // namespace attune

#endif  // ATTUNE_KINDS_OPTION_SETTINGS_H_
