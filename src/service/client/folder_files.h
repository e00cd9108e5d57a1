// The files of a folder that is sent elsewhere.
#ifndef ATTUNE_SERVICE_CLIENT_FOLDER_FILES_H_
#define ATTUNE_SERVICE_CLIENT_FOLDER_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

struct FolderFile {
  std::string name;  // below the folder, with slashes
  std::string path;
};

// All files in the folder and below it, by name. A link to a file of the folder is a file; one that leads out
// of the folder or to another folder is an error, as is everything that is neither file nor folder, and more
// files than a job may have. Errors name the folder or the entry.
absl::StatusOr<std::vector<FolderFile>> FilesOfFolder(const std::string& folder);

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_FOLDER_FILES_H_
