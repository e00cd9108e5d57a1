#include "base/private_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/input_file.h"
#include "base/output_file.h"
#include "base/status.h"

namespace attune {

absl::Status MakePrivateFolder(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path folder = path;
  if (!folder.has_filename()) folder = folder.parent_path();  // it ends with a slash
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (!error && is_new) fs::permissions(folder, fs::perms::owner_all, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(path, ": cannot make the folder: ", error.message()));
}

absl::Status WritePrivateFile(const std::string& path, std::string_view content) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OutputFile::Create(path, FileAccess::kOwner));
  RETURN_IF_ERROR(file->Write(content));
  return file->Finish();
}

absl::StatusOr<std::string> ReadPrivateFile(const std::string& path, int64_t max_bytes) {
  ASSIGN_OR_RETURN(const InputFile file, OpenInputFile(path));
  struct stat info = {};
  if (fstat(file.descriptor.get(), &info) != 0)
    return absl::FailedPreconditionError(absl::StrCat(path, ": cannot read: ", std::strerror(errno)));
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return absl::PermissionDeniedError(absl::StrCat(
        path, ": others can read or change this file, which has a secret; close it with chmod 600 ", path));
  if (file.bytes > max_bytes)
    return InvalidInput(path, ": has ", file.bytes, " bytes, at most ", max_bytes, " are read");
  std::string content(static_cast<size_t>(file.bytes), '\0');
  RETURN_IF_ERROR(Annotate(ReadRange(file, 0, file.bytes, content.data()), path));
  return content;
}

}  // namespace attune
