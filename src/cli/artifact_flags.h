// What the command line asks of an artifact's file before its code, which is native, runs.
#ifndef ATTUNE_CLI_ARTIFACT_FLAGS_H_
#define ATTUNE_CLI_ARTIFACT_FLAGS_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "api/compiled_model.h"

namespace attune {

struct ArtifactFlags {
  std::string sha256;
  std::string trusted;  // a list of digests
};

// Adds --sha256 and --trusted, whose default is in the environment: ATTUNE_TRUSTED.
void AddArtifactFlags(CLI::App& command, ArtifactFlags& flags);

// Reads the list, if there is one: a digest a line, as sha256sum prints them, with whatever follows it. Empty
// lines and those that begin with # count for nothing.
absl::StatusOr<ArtifactOptions> ReadArtifactFlags(const ArtifactFlags& flags);

// From now on, a file of this name that becomes shorter, or whose disk fails, while it is mapped ends the
// program with one sentence that names it and exit code 1, where it was a signal.
void ExplainLostFile(std::string path);

}  // namespace attune

#endif  // ATTUNE_CLI_ARTIFACT_FLAGS_H_
