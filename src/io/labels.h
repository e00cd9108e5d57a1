// The names of the classes of a classifier.
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
  // One name per line, the first for class 0; or, if every line is a number followed by a name, "index
  // name" in any order, with gaps. Ignores blank lines at the end. Errors name `name` (the file) and the
  // line.
  static absl::StatusOr<Labels> Parse(std::string_view text, std::string_view name);
  static absl::StatusOr<Labels> Read(const std::string& path);

  // The name of class `index`, or the number itself if the file has no name for it. If the file has one
  // name more than the network has `classes` (0: unknown), because it begins with the background, names are
  // shifted by one.
  std::string Name(int64_t index, int64_t classes = 0) const;
  int64_t size() const { return static_cast<int64_t>(names_.size()); }

 private:
  std::map<int64_t, std::string> names_;
};

}  // namespace attune

#endif  // ATTUNE_IO_LABELS_H_
