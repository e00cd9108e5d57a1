#include "import/common/not_supported.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "base/printable.h"

namespace attune::importing {

void NotSupportedList::Add(std::string_view op, std::string_view name, std::string_view reason) {
  // A single line, whatever a name contains.
  std::string line = WithoutControls(absl::StrCat(kNotSupportedMark, op, " ", name, ": ", reason));
  if (known_.insert(line).second) lines_.push_back(std::move(line));
}

absl::Status NotSupportedList::status() const {
  return empty() ? absl::OkStatus() : absl::UnimplementedError(absl::StrJoin(lines_, "\n"));
}

std::optional<ImportFailure> NotSupportedList::Try(const std::function<void()>& attempt) {
  const size_t before = lines_.size();
  try {
    attempt();
    return std::nullopt;
  } catch (const ImportFailure& failure) {
    if (absl::IsResourceExhausted(failure.status)) throw;
    ImportFailure reason = failure;
    if (absl::IsCancelled(reason.status)) reason.status = NotSupported(lines_.at(before));
    for (size_t i = before; i < lines_.size(); ++i) known_.erase(lines_[i]);
    lines_.resize(before);
    return reason;
  }
}

}  // namespace attune::importing
