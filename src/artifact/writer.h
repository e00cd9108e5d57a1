// Writes artifacts.
#ifndef ATTUNE_ARTIFACT_WRITER_H_
#define ATTUNE_ARTIFACT_WRITER_H_

#include <string>

#include "absl/status/statusor.h"
#include "artifact/artifact.h"

namespace attune {

// The bytes of the artifact's file; equal contents give equal bytes. The contents must satisfy the reader's
// rules (validate.h). An error names the first broken rule and is internal, since the compiler made the
// contents.
absl::StatusOr<std::string> WriteArtifact(const ArtifactContents& contents);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_WRITER_H_
