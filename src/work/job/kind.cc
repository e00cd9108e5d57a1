#include "work/job/kind.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

// Specs are stored and sent as JSON, which has no other texts.
absl::Status CheckTexts(const JobSpec& spec) {
  try {
    std::ignore = nlohmann::json({spec.id, spec.kind, spec.owner, spec.base, spec.settings}).dump();
  } catch (const nlohmann::json::exception&) {
    return InvalidInput("a setting, or the name of its folder, is not text in UTF-8");
  }
  return absl::OkStatus();
}

std::string NameOf(const JobSpec& spec) { return absl::StrCat("job \"", Printable(spec.id), "\""); }

absl::Status RefuseSettings(const JobSpec& spec, std::span<const PlacedSetting> settings) {
  for (const PlacedSetting& setting : settings) {
    if (spec.settings.is_object() && spec.settings.contains(std::string(setting.name)))
      return InvalidInput(NameOf(spec), ": ", setting.name, ": ", setting.why_not);
  }
  return absl::OkStatus();
}

}  // namespace

std::string PartFolder(int part) { return absl::StrCat("parts/", part, "/"); }

const JobKind* JobKinds::Find(std::string_view name) const {
  const auto found = std::ranges::find(rows_, name, &JobKind::name);
  return found == rows_.end() ? nullptr : &*found;
}

std::string JobKinds::SubjectOf(const JobSpec& spec) const {
  const JobKind* kind = Find(spec.kind);
  return kind == nullptr ? "" : kind->subject(spec);
}

absl::Status JobKinds::Check(const JobSpec& spec) const {
  const std::string job = NameOf(spec);
  const JobKind* kind = Find(spec.kind);
  RETURN_IF_ERROR(Annotate(CheckTexts(spec), job));
  if (kind != nullptr) return Annotate(kind->check(spec), job);
  const auto name = [](std::string* out, const JobKind& known) { out->append(known.name); };
  return InvalidInput(job, ": there is no kind \"", Printable(spec.kind), "\"; there are ",
                      absl::StrJoin(rows_, ", ", name));
}

absl::Status JobKinds::CheckForThisMachine(const JobSpec& spec) const {
  if (spec.parts > 1)
    return InvalidInput(NameOf(spec), ": parts: is for jobs on a server, which has several devices");
  return RefuseSettings(spec, Find(spec.kind)->remote);
}

absl::Status JobKinds::CheckForServer(const JobSpec& spec) const {
  return RefuseSettings(spec, Find(spec.kind)->local);
}

}  // namespace attune
