// Artifact files with faults, for tests.
#ifndef ATTUNE_ARTIFACT_DAMAGED_FILES_FOR_TEST_H_
#define ATTUNE_ARTIFACT_DAMAGED_FILES_FOR_TEST_H_

#include <functional>
#include <span>
#include <string>

#include "artifact/encode.h"
#include "artifact/reader.h"
#include "artifact/testing/sample_artifact.h"

namespace attune::testing {

inline std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

inline ArtifactError Parse(const std::string& file) {
  ArtifactView view;
  return ParseArtifact(Bytes(file), &view);
}

inline format::Header HeaderOf(const std::string& file) {
  format::Header header;
  format::Decoder decoder(Bytes(file));
  decoder(header);
  return header;
}

// Applies `change` to the file's header and repairs the checksums.
inline std::string WithHeader(std::string file, const std::function<void(format::Header&)>& change,
                              bool repair_kernels = true) {
  format::Header header = HeaderOf(file);
  change(header);
  format::Encoder encoder;
  encoder(header);
  file.replace(0, encoder.bytes().size(), encoder.bytes());
  RepairChecksums(file, repair_kernels);
  return file;
}

// A file with a manifest that the writer would refuse, or of another version: it is written with a valid
// manifest, which is then replaced.
inline std::string WriteUnchecked(const SampleArtifact& sample, const Manifest& manifest,
                                  bool repair_kernels = true, uint32_t version = kArtifactVersion) {
  std::string file = sample.Write();
  format::Header header = HeaderOf(file);
  Manifest encoded = manifest;
  format::Encoder encoder(version);
  encoder(encoded);
  std::string body = file.substr(header.code.offset);
  file.resize(format::kHeaderBytes);
  file += encoder.bytes();
  file.resize((file.size() + format::kPageBytes - 1) / format::kPageBytes * format::kPageBytes);
  const int64_t shift = static_cast<int64_t>(file.size()) - static_cast<int64_t>(header.code.offset);
  file += body;
  return WithHeader(
      file,
      [&](format::Header& h) {
        h.version = version;
        h.manifest.bytes = encoder.bytes().size();
        h.code.offset += shift;
        h.constants.offset += shift;
        h.file_bytes = file.size();
      },
      repair_kernels);
}

}  // namespace attune::testing

#endif  // ATTUNE_ARTIFACT_DAMAGED_FILES_FOR_TEST_H_
