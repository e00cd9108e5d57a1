// Finds a user's own files, by the XDG Base Directory Specification.
#ifndef ATTUNE_BASE_USER_PATH_H_
#define ATTUNE_BASE_USER_PATH_H_

#include <functional>
#include <optional>
#include <string>

namespace attune {

struct UserPath {
  const char* variable = nullptr;      // of the environment, which gives this very path
  const char* xdg_variable = nullptr;  // gives the folder for files of this kind
  const char* home_folder = nullptr;   // the same folder, below the home folder, where that is not set
  const char* name = nullptr;          // of the path, below that folder
};

// The first that the environment gives; nothing if not even HOME is set. `environment` is getenv or a
// replacement for it. An empty variable counts as one that is not set.
std::optional<std::string> FindUserPath(const UserPath& path,
                                        const std::function<const char*(const char*)>& environment);

}  // namespace attune

#endif  // ATTUNE_BASE_USER_PATH_H_
