#include "service/client/arriving_file.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {

absl::Status ArrivingFile::Add(std::string_view piece) {
  if (std::ssize(piece) > file_.bytes - position_) return IsAnother();
  RETURN_IF_ERROR(output_.Write(piece));
  sum_.Add(piece);
  position_ += std::ssize(piece);
  return absl::OkStatus();
}

absl::Status ArrivingFile::Finish() {
  if (position_ != file_.bytes || sum_.Finish() != file_.digest) return IsAnother();
  return output_.Finish();
}

absl::Status ArrivingFile::IsAnother() const {
  return absl::DataLossError(absl::StrCat(file_.name,
                                          ": the bytes are not those that the server has announced; "
                                          "the file was damaged or has changed"));
}

}  // namespace attune
