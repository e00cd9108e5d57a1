#include "base/user_path.h"

#include "absl/strings/str_cat.h"

namespace attune {

std::optional<std::string> FindUserPath(const UserPath& path,
                                        const std::function<const char*(const char*)>& environment) {
  const auto value = [&](const char* name) {
    const char* text = environment(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (std::string own = value(path.variable); !own.empty()) return own;
  if (const std::string folder = value(path.xdg_variable); !folder.empty())
    return absl::StrCat(folder, "/", path.name);
  if (const std::string home = value("HOME"); !home.empty())
    return absl::StrCat(home, "/", path.home_folder, "/", path.name);
  return std::nullopt;
}

}  // namespace attune
