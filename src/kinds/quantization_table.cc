#include "kinds/quantization_table.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/status.h"
#include "kinds/loss_judgement.h"

namespace attune {
namespace {

using Json = QuantizationTable::Json;

bool IsNumber(const Json& row, const char* key) { return row.contains(key) && row[key].is_number(); }

// Returns the loss among the samples that judge, or else among those for comparison.
double LossOf(const Json& row) { return row.at(IsNumber(row, "judged_loss") ? "judged_loss" : "drop"); }

bool IsRow(const Json& row) {
  if (!row.is_object() || !row.contains("name") || !row["name"].is_string()) return false;
  if (!row.contains("seconds") || !row["seconds"].is_object()) return false;
  if (!std::ranges::all_of(row["seconds"], [](const Json& seconds) { return seconds.is_number(); }))
    return false;
  if (row.contains("error")) return row["error"].is_string();
  return IsNumber(row, "ms") && IsNumber(row, "baseline_ms") && IsNumber(row, "speedup") &&
         IsNumber(row, "drop");
}

bool IsTable(const Json& table) {
  if (!table.is_object() || !table.contains("settings") || !table["settings"].is_string()) return false;
  return table.contains("rows") && table["rows"].is_array() && std::ranges::all_of(table["rows"], IsRow);
}

}  // namespace

absl::StatusOr<QuantizationTable> QuantizationTable::Open(std::string path, std::string settings) {
  QuantizationTable table(std::move(path), std::move(settings));
  std::error_code error;
  if (!std::filesystem::exists(table.path_, error) && !error) return table;
  constexpr int64_t kMostBytes = int64_t{16} << 20;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(table.path_, kMostBytes));
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!IsTable(json))
    return InvalidInput(table.path_, ": is not a table of quantization results; delete it to begin anew");
  if (json["settings"] != table.settings_) {
    return InvalidInput(table.path_, ": holds results of other settings; delete it to begin anew");
  }
  table.rows_ = json["rows"].get<std::vector<Json>>();
  return table;
}

bool QuantizationTable::Has(std::string_view name) const {
  return std::ranges::any_of(rows_, [&](const Json& row) { return row["name"] == name; });
}

absl::Status QuantizationTable::Append(Json row) {
  rows_.push_back(std::move(row));
  constexpr int kIndent = 1;
  const Json table = {{"settings", settings_}, {"rows", rows_}};
  return WriteFileAtomically(path_, table.dump(kIndent, ' ', false, Json::error_handler_t::replace) + "\n");
}

double QuantizationTable::baseline_ms() const {
  const auto measured =
      std::ranges::find_if(rows_, [](const Json& row) { return row.contains("baseline_ms"); });
  return measured == rows_.end() ? 0 : measured->at("baseline_ms").get<double>();
}

const Json* QuantizationTable::Best(double max_drop, int variants) const {
  // Less is better, from the first on.
  const auto rank = [&](const Json& row) {
    const double loss = LossOf(row);
    const bool is_judged = IsNumber(row, "judged_loss") && IsNumber(row, "judged_samples");
    const double most = is_judged ? UpperLoss(loss, row["judged_samples"].get<double>(), variants) : loss;
    const int tier = most <= max_drop ? 0 : loss <= max_drop ? 1 : 2;
    return std::tuple(tier, tier == 2 ? loss : 0, -row.at("speedup").get<double>());
  };
  const Json* best = nullptr;
  for (const Json& row : rows_) {
    if (!row.contains("error") && (best == nullptr || rank(row) < rank(*best))) best = &row;
  }
  return best;
}

}  // namespace attune
