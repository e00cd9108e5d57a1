#include "api/samples.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

int64_t Bytes(const std::vector<NamedTensor>& values) {
  int64_t sum = 0;
  for (const NamedTensor& value : values) sum += value.tensor.num_bytes();
  return sum;
}

// The files in the folder, sorted by name; hidden files are not samples.
absl::StatusOr<std::vector<fs::path>> Entries(const std::string& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(".")) entries.push_back(it->path());
  }
  if (error) return InvalidInput(folder, ": cannot list the folder: ", error.message());
  std::ranges::sort(entries);
  return entries;
}

// The --input arguments of one sample: a file for the only input that no flag gives, or a folder of files
// named after the inputs.
absl::StatusOr<std::vector<std::string>> ArgumentsOf(const fs::path& entry,
                                                     const std::vector<InputDeclaration>& open) {
  std::error_code error;
  if (!fs::is_directory(entry, error)) {
    if (open.size() == 1) return std::vector<std::string>{absl::StrCat(open[0].name, "=", entry.string())};
    return InvalidInput(entry.string(), ": the network takes ", open.size(),
                        " inputs, so a sample is a folder of files that are named as these");
  }
  std::vector<std::string> arguments;
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, Entries(entry.string()));
  for (const fs::path& file : files) {
    arguments.push_back(absl::StrCat(file.stem().string(), "=", file.string()));
  }
  return arguments;
}

}  // namespace

std::optional<double> ParseShare(const std::string& text) {
  absl::string_view number = text;
  const bool is_percent = absl::ConsumeSuffix(&number, "%");
  double share = 0;
  if (!absl::SimpleAtod(number, &share)) return std::nullopt;
  if (is_percent) share /= 100;
  return share >= 0 && share <= 1 ? std::optional(share) : std::nullopt;
}

absl::StatusOr<Samples> ReadSamples(const SampleSettings& options, const InputSources& inputs,
                                    GivenInputs& given, const std::vector<InputDeclaration>& declarations,
                                    const WorkControl& control) {
  if (!given.random.empty()) {
    return InvalidInput("--input: a network is calibrated with data, not with random numbers");
  }
  std::vector<InputDeclaration> open;
  for (const InputDeclaration& declaration : declarations) {
    const bool is_given = std::ranges::any_of(
        given.values, [&](const NamedTensor& value) { return value.name == declaration.name; });
    if (!is_given) open.push_back(declaration);
  }
  ASSIGN_OR_RETURN(std::vector<fs::path> entries, Entries(options.folder));
  if (entries.empty()) return InvalidInput(options.folder, ": holds no samples");
  if (std::ssize(entries) > options.most) entries.resize(static_cast<size_t>(options.most));
  Samples samples;
  int64_t bytes = 0;
  for (const fs::path& entry : entries) {
    if (bytes >= kMostSampleBytes) break;
    RETURN_IF_ERROR(control.Continue("reading sample", std::ssize(samples), std::ssize(entries)));
    InputSources of_sample = inputs;
    ASSIGN_OR_RETURN(of_sample.inputs, ArgumentsOf(entry, open));
    ASSIGN_OR_RETURN(GivenInputs sample, ReadInputs(of_sample, open));
    given.raw_pictures.merge(sample.raw_pictures);
    std::ranges::copy(given.values, std::back_inserter(sample.values));
    bytes += Bytes(sample.values);
    samples.push_back(std::move(sample.values));
  }
  return samples;
}

}  // namespace attune
