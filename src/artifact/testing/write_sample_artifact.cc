// write_sample_artifact FILE: writes the sample artifact to a file, for tests of programs.
#include <cstdio>

#include "artifact/testing/sample_artifact.h"
#include "base/file.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  const absl::Status status =
      attune::WriteFileAtomically(argv[1], attune::testing::MakeSampleArtifact().Write());
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
