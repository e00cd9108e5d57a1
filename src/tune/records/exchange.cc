#include "tune/records/exchange.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <ios>
#include <istream>
#include <limits>
#include <memory>
#include <streambuf>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "base/status.h"
#include "tune/records/record_json.h"

namespace attune {
namespace {

// The size of a transaction: large enough to be cheap, short enough for a tuner that waits for the lock.
constexpr size_t kBatchRecords = 256;
constexpr size_t kBatchBytes = 4 << 20;

// Collects records and adds them in batches.
class Batch {
 public:
  Batch(const DatabaseSource& database, ImportReport& report) : database_(&database), report_(&report) {}

  absl::Status Add(Record record) {
    bytes_ += sizeof(Record) + record.task.size() + record.reason.size();
    records_.push_back(std::move(record));
    ++report_->records;
    return records_.size() >= kBatchRecords || bytes_ >= kBatchBytes ? Flush() : absl::OkStatus();
  }
  absl::Status Add(const TuningRun& run) {
    ASSIGN_OR_RETURN(RecordDatabase* const database, (*database_)());
    ASSIGN_OR_RETURN(const bool changed, database->MergeRun(run));
    report_->runs_added += changed ? 1 : 0;
    return absl::OkStatus();
  }
  absl::Status Flush() {
    if (records_.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(RecordDatabase* const database, (*database_)());
    ASSIGN_OR_RETURN(const int64_t added, database->Add(records_));
    report_->added += added;
    records_.clear();
    bytes_ = 0;
    return absl::OkStatus();
  }

 private:
  const DatabaseSource* database_;
  ImportReport* report_;
  std::vector<Record> records_;
  size_t bytes_ = 0;
};

// Reads lines of bounded length.
class LineReader {
 public:
  explicit LineReader(std::istream& in) : in_(&in), buffer_(kMaxLineBytes + 2) {}

  // Reads the next line; a line that was cut is longer than kMaxLineBytes. Returns false at the end.
  bool Next(std::string_view* line) {
    in_->getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    auto length = static_cast<size_t>(in_->gcount());
    if (in_->bad() || (length == 0 && in_->fail())) return false;
    if (in_->fail() && !in_->eof()) {
      in_->clear();
      in_->ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    } else if (!in_->eof()) {
      --length;  // does not count the newline
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

// The standard library has no stream that reads an open descriptor.
class FileBuffer : public std::streambuf {
 public:
  explicit FileBuffer(InputFile file) : file_(std::move(file)) {}

 protected:
  int_type underflow() override {
    ssize_t count;
    do {
      count = read(file_.descriptor.get(), buffer_.data(), buffer_.size());
    } while (count < 0 && errno == EINTR);
    if (count < 0) throw std::ios_base::failure("read");  // makes the stream bad
    setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
    return count == 0 ? traits_type::eof() : traits_type::to_int_type(buffer_[0]);
  }

 private:
  InputFile file_;
  std::array<char, 1 << 16> buffer_;
};

bool Selects(const RecordFilter& filter, const TuningRun& run) {
  return (filter.run.empty() || run.id == filter.run) &&
         (filter.device.empty() || run.device == filter.device);
}

}  // namespace

absl::StatusOr<ImportReport> ImportRecords(const DatabaseSource& database, std::istream& lines,
                                           const std::string& name, const RecordImportOptions& options) {
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
  RETURN_IF_ERROR(database().status());  // creates it if nothing was added
  return report;
}

absl::StatusOr<ImportReport> ImportRecordFile(const DatabaseSource& database, const std::string& path,
                                              const RecordImportOptions& options) {
  absl::StatusOr<InputFile> file = OpenInputFile(path);
  std::error_code ignored;
  if (!file.ok() && std::filesystem::is_fifo(path, ignored)) {
    return InvalidInput(file.status().message(), "; name it -, and let standard input come from it");
  }
  RETURN_IF_ERROR(file.status());
  FileBuffer buffer(*std::move(file));
  std::istream lines(&buffer);
  return ImportRecords(database, lines, path, options);
}

absl::StatusOr<ImportReport> MergeRecords(RecordDatabase& database, RecordDatabase& source,
                                          const RecordFilter& which) {
  std::error_code ignored;
  if (std::filesystem::equivalent(source.path(), database.path(), ignored)) {
    return InvalidInput(source.path(), ": is the database that it would be merged into");
  }
  ImportReport report;
  const DatabaseSource target = [&database] { return &database; };
  Batch batch(target, report);
  ASSIGN_OR_RETURN(const std::vector<TuningRun> runs, source.Runs());
  for (const TuningRun& run : runs) {
    if (Selects(which, run)) RETURN_IF_ERROR(batch.Add(run));
  }
  RETURN_IF_ERROR(
      source.ForEachRecord(which, [&](const Record& record) { return batch.Add(record); }, &report.skipped));
  RETURN_IF_ERROR(batch.Flush());
  if (report.skipped > 0)
    report.first_skipped = source.path() + ": some rows are not records that this attune can read";
  return report;
}

absl::StatusOr<ExportReport> ExportRecords(RecordDatabase& database, const RecordFilter& filter,
                                           const std::function<absl::Status(std::string_view)>& write) {
  ExportReport report;
  ASSIGN_OR_RETURN(const std::vector<TuningRun> runs, database.Runs());
  for (const TuningRun& run : runs) {
    if (!Selects(filter, run)) continue;
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
