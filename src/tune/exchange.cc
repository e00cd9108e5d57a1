#include "tune/exchange.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tune/record_json.h"

namespace attune {
namespace {

// A transaction's worth: long enough to be cheap, short enough for a tuner that waits for its turn.
constexpr size_t kBatchRecords = 256;
constexpr size_t kBatchBytes = 4 << 20;

// Collects records and adds them in batches.
class Batch {
 public:
  Batch(RecordDatabase& database, ImportReport& report) : database_(&database), report_(&report) {}

  absl::Status Add(Record record) {
    bytes_ += sizeof(Record) + record.task.size() + record.reason.size();
    records_.push_back(std::move(record));
    ++report_->records;
    return records_.size() >= kBatchRecords || bytes_ >= kBatchBytes ? Flush() : absl::OkStatus();
  }
  absl::Status Add(const TuningRun& run) {
    ASSIGN_OR_RETURN(const bool changed, database_->MergeRun(run));
    report_->runs_added += changed ? 1 : 0;
    return absl::OkStatus();
  }
  absl::Status Flush() {
    if (records_.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const int64_t added, database_->Add(records_));
    report_->added += added;
    records_.clear();
    bytes_ = 0;
    return absl::OkStatus();
  }

 private:
  RecordDatabase* database_;
  ImportReport* report_;
  std::vector<Record> records_;
  size_t bytes_ = 0;
};

// Reads lines of bounded length.
class LineReader {
 public:
  explicit LineReader(std::istream& in) : in_(&in), buffer_(kMaxLineBytes + 2) {}

  // The next line, which is longer than kMaxLineBytes if it is cut; false at the end.
  bool Next(std::string_view* line) {
    in_->getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    auto length = static_cast<size_t>(in_->gcount());
    if (in_->bad() || (length == 0 && in_->fail())) return false;
    if (in_->fail() && !in_->eof()) {
      in_->clear();
      in_->ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    } else if (!in_->eof()) {
      --length;  // the newline counts
    }
    if (length > 0 && buffer_[length - 1] == '\r') --length;
    ++number_;
    *line = std::string_view(buffer_.data(), length);
    return true;
  }
  int64_t number() const { return number_; }

 private:
  std::istream* in_;
  std::vector<char> buffer_;
  int64_t number_ = 0;
};

// A file that takes its name when it is complete.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path) {
    std::string temporary = path + ".tmp-XXXXXX";
    const int descriptor = mkstemp(temporary.data());
    if (descriptor < 0) return Failure(path);
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(descriptor, 0666 & ~mask);
    return std::unique_ptr<OutputFile>(new OutputFile(path, temporary, fdopen(descriptor, "w")));
  }
  ~OutputFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    unlink(temporary_.c_str());
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  absl::Status Write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return absl::OkStatus();
    return Failure(path_);
  }
  absl::Status Finish() {
    if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) return Failure(path_);
    if (rename(temporary_.c_str(), path_.c_str()) != 0) return Failure(path_);
    std::fclose(std::exchange(file_, nullptr));
    return absl::OkStatus();
  }

 private:
  OutputFile(std::string path, std::string temporary, std::FILE* file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}
  static absl::Status Failure(const std::string& path) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": cannot write: ", std::strerror(errno)));
  }

  const std::string path_, temporary_;
  std::FILE* file_;
};

}  // namespace

absl::StatusOr<ImportReport> ImportRecords(RecordDatabase& database, std::istream& lines,
                                           const std::string& name, const ImportOptions& options) {
  ImportReport report;
  Batch batch(database, report);
  LineReader reader(lines);
  std::string_view line;
  while (reader.Next(&line)) {
    if (line.empty()) continue;
    absl::StatusOr<std::variant<Record, TuningRun>> parsed = ParseJsonLine(line);
    if (parsed.ok()) {
      RETURN_IF_ERROR(std::visit([&](auto& value) { return batch.Add(std::move(value)); }, *parsed));
      continue;
    }
    const std::string where = absl::StrCat(name, ":", reader.number());
    if (!options.skip_damaged) {
      RETURN_IF_ERROR(batch.Flush());
      return Annotate(
          absl::Status(parsed.status().code(),
                       absl::StrCat(parsed.status().message(),
                                    "; repair the line, or pass over such lines with --skip-damaged "
                                    "(those before it are imported)")),
          where);
    }
    if (report.skipped++ == 0) report.first_skipped = Annotate(parsed.status(), where).message();
  }
  if (lines.bad()) return absl::UnavailableError(absl::StrCat(name, ": cannot be read to its end"));
  RETURN_IF_ERROR(batch.Flush());
  return report;
}

absl::StatusOr<ImportReport> ImportRecordFile(RecordDatabase& database, const std::string& path,
                                              const ImportOptions& options) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return InvalidInput(path, ": is a folder, not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot open: ", std::strerror(errno)));
  return ImportRecords(database, file, path, options);
}

absl::StatusOr<ImportReport> MergeRecords(RecordDatabase& database, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::equivalent(path, database.path(), ignored)) {
    return InvalidInput(path, ": is the database that it would be merged into");
  }
  ASSIGN_OR_RETURN(const auto source, RecordDatabase::Open(path, {.create = false}));
  ImportReport report;
  Batch batch(database, report);
  ASSIGN_OR_RETURN(const std::vector<TuningRun> runs, source->Runs());
  for (const TuningRun& run : runs) RETURN_IF_ERROR(batch.Add(run));
  RETURN_IF_ERROR(
      source->ForEachRecord({}, [&](const Record& record) { return batch.Add(record); }, &report.skipped));
  RETURN_IF_ERROR(batch.Flush());
  if (report.skipped > 0)
    report.first_skipped = path + ": some rows are no records that this attune can read";
  return report;
}

absl::StatusOr<ExportReport> ExportRecords(RecordDatabase& database, const RecordFilter& filter,
                                           const std::function<absl::Status(std::string_view)>& write) {
  ExportReport report;
  ASSIGN_OR_RETURN(const std::vector<TuningRun> runs, database.Runs());
  for (const TuningRun& run : runs) {
    if (!filter.run.empty() && run.id != filter.run) continue;
    if (!filter.device.empty() && run.device != filter.device) continue;
    RETURN_IF_ERROR(write(ToJsonLine(run) + "\n"));
    ++report.runs;
  }
  RETURN_IF_ERROR(database.ForEachRecord(
      filter,
      [&](const Record& record) {
        ++report.records;
        return write(ToJsonLine(record) + "\n");
      },
      &report.skipped));
  return report;
}

absl::StatusOr<ExportReport> ExportRecordFile(RecordDatabase& database, const RecordFilter& filter,
                                              const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, OutputFile::Create(path));
  ASSIGN_OR_RETURN(const ExportReport report,
                   ExportRecords(database, filter, [&](std::string_view line) { return file->Write(line); }));
  RETURN_IF_ERROR(file->Finish());
  return report;
}

}  // namespace attune
