// Everything that an import could not do, collected to be reported at once.
#ifndef ATTUNE_IMPORT_COMMON_NOT_SUPPORTED_H_
#define ATTUNE_IMPORT_COMMON_NOT_SUPPORTED_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "import/common/failure.h"

namespace attune::importing {

class NotSupportedList {
 public:
  // Adds the line "not supported: <op> <name>: <reason>", once.
  void Add(std::string_view op, std::string_view name, std::string_view reason);
  bool empty() const { return lines_.empty(); }
  // Unimplemented with all lines; ok if there are none.
  absl::Status status() const;

  // Calls `attempt`. If it fails for a reason that another way may avoid, removes the lines that it added
  // and returns the reason. A spent budget is not such a reason.
  std::optional<ImportFailure> Try(const std::function<void()>& attempt);

 private:
  std::vector<std::string> lines_;
  std::set<std::string> known_;
};

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_NOT_SUPPORTED_H_
