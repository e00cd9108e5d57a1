// Writes artifacts.
#ifndef ATTUNE_ARTIFACT_WRITER_H_
#define ATTUNE_ARTIFACT_WRITER_H_

#include <string>

#include "absl/status/statusor.h"
#include "artifact/artifact.h"

namespace attune {

// The bytes of the artifact's file; equal contents give equal bytes. The contents are held to the same
// rules as the reader's (validate.h), and an error, which names the first broken one, is internal: the
// compiler made them.
absl::StatusOr<std::string> WriteArtifact(const ArtifactContents& contents);

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_WRITER_H_
