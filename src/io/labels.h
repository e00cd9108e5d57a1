// The names of a classifier's classes.
#ifndef ATTUNE_IO_LABELS_H_
#define ATTUNE_IO_LABELS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace attune {

class Labels {
 public:
  // One name a line, the first being class 0; or, where every line begins with a number and a name
  // follows, "index name" in any order, with gaps. Blank lines at the end do not count. Errors name `name`
  // (the file) and the line.
  static absl::StatusOr<Labels> Parse(std::string_view text, std::string_view name);
  static absl::StatusOr<Labels> Read(const std::string& path);

  // The name of class `index`, or the number itself where the file has none. If the file has one name more
  // than the network has `classes` (0: unknown), since it begins with the background, that of the next one.
  std::string Name(int64_t index, int64_t classes = 0) const;
  int64_t size() const { return static_cast<int64_t>(names_.size()); }

 private:
  std::map<int64_t, std::string> names_;
};

}  // namespace attune

#endif  // ATTUNE_IO_LABELS_H_
