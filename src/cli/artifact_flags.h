// Flags that check an artifact's file before its native code runs.
#ifndef ATTUNE_CLI_ARTIFACT_FLAGS_H_
#define ATTUNE_CLI_ARTIFACT_FLAGS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "api/compiled_model.h"

namespace attune {

struct ArtifactFlags {
  std::string sha256;
  std::string trusted;             // a file with a list of digests
  std::vector<std::string> trust;  // files with public keys
};

// Adds --sha256, --trusted and --trust; the environment variables ATTUNE_TRUSTED and ATTUNE_TRUST set the
// defaults of the latter two.
void AddArtifactFlags(CLI::App& command, ArtifactFlags& flags);

// Reads the files of keys and the list, if there are any: one digest per line, as sha256sum prints them; the
// rest of the line is ignored. Empty lines and lines that begin with # are ignored.
absl::StatusOr<ArtifactOptions> ReadArtifactFlags(const ArtifactFlags& flags);

// From now on, if the file of this name becomes shorter while it is mapped, or its disk fails, the program
// ends with exit code 1 and one sentence that names the file, instead of dying from the signal.
void ExplainLostFile(std::string path);

}  // namespace attune

#endif  // ATTUNE_CLI_ARTIFACT_FLAGS_H_
