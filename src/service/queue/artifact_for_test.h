// Artifacts as tuning jobs build them, for the tests of what is made of them.
#ifndef ATTUNE_SERVICE_QUEUE_ARTIFACT_FOR_TEST_H_
#define ATTUNE_SERVICE_QUEUE_ARTIFACT_FOR_TEST_H_

#include <string>

#include "artifact/testing/sample_artifact.h"
#include "base/file.h"
#include "nlohmann/json.hpp"

namespace attune {

// The declarations of MakeSampleArtifact().
inline constexpr char kSampleInterface[] =
    "input x f32[8,48]\noutput sum f32[8,48]\noutput rows f32[n<=8,48]\noutput columns f32[8,m<=48]\n"
    "output counter i64[]\noutput copied f32[8,k<=96]\noutput through f32[8,48]\n";

// An artifact that says that it was made of the model with this content.
inline std::string ArtifactOfModel(const std::string& model) {
  testing::SampleArtifact artifact = testing::MakeSampleArtifact();
  artifact.manifest.provenance.model_sha256 = Sha256Hex(model);
  return artifact.Write();
}

// The result of a job that has built and judged a sample artifact with this file.
inline nlohmann::json ResultOfBuilt(const std::string& file) {
  return {{"artifact",
           {{"sha256", Sha256Hex(file)},
            {"bytes", file.size()},
            {"network", Sha256Hex("network")},
            {"interface", kSampleInterface}}},
          {"judged",
           {{"network", Sha256Hex("network")},
            {"interface", kSampleInterface},
            {"artifact_bytes", file.size()}}}};
}

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_ARTIFACT_FOR_TEST_H_
