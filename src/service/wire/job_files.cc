#include "service/wire/job_files.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/printable.h"
#include "base/status.h"
#include "fleet/blobs/blob_store.h"

namespace attune {

absl::Status CheckJobFileName(std::string_view name) {
  const std::vector<std::string_view> parts = absl::StrSplit(name, '/');
  const bool is_path = std::ranges::none_of(parts, [](std::string_view part) {
    return part.empty() || part == "." || part == ".." || part.size() > kMostJobFilePart;
  });
  if (is_path && name.size() <= kMostJobFileName && WithoutControls(std::string(name)) == name)
    return absl::OkStatus();
  return InvalidInput("\"", Printable(std::string(name)), "\" is not a name of a file of a job");
}

absl::Status CheckJobFiles(const std::vector<JobFile>& files) {
  if (files.size() > kMostJobFiles)
    return InvalidInput("a job may have ", kMostJobFiles, " files, and this one has ", files.size());
  std::set<std::string_view> names;
  size_t bytes = 0;
  for (const JobFile& file : files) {
    bytes += file.name.size();
    if (bytes > kMostJobFileNames)
      return InvalidInput("the names of a job's files may have ", kMostJobFileNames, " bytes together");
    RETURN_IF_ERROR(CheckJobFileName(file.name));
    if (!IsBlobDigest(file.digest) || file.bytes < 0)
      return InvalidInput(file.name, ": its digest or its size is none");
    if (!names.insert(file.name).second) return InvalidInput(file.name, ": is there twice");
  }
  for (const std::string_view name : names) {
    const std::string folder = absl::StrCat(name, "/");
    const auto below = names.lower_bound(folder);
    if (below != names.end() && below->starts_with(folder))
      return InvalidInput(name, ": is a file and a folder");
  }
  return absl::OkStatus();
}

jobs_service_proto::JobFile ToWire(const JobFile& file) {
  jobs_service_proto::JobFile wire;
  wire.set_name(file.name);
  wire.set_digest(file.digest);
  wire.set_bytes(file.bytes);
  return wire;
}

WireFiles ToWire(const std::vector<JobFile>& files) {
  WireFiles wire;
  for (const JobFile& file : files) *wire.Add() = ToWire(file);
  return wire;
}

std::vector<JobFile> FromWire(const WireFiles& wire) {
  std::vector<JobFile> files;
  for (const jobs_service_proto::JobFile& file : wire)
    files.push_back({file.name(), file.digest(), file.bytes()});
  return files;
}

}  // namespace attune
