// attune zoo [NAME -o FILE.onnx]
#include "zoo/zoo.h"

#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/destinations.h"

namespace attune {
namespace {

struct ZooFlags {
  std::string name, output, json;
  ZooOptions options;
};

std::string InputText(const ZooInput& input) {
  return absl::StrCat(input.name, " ", DTypeName(input.dtype), "[", absl::StrJoin(input.shape, ","), "]");
}

absl::Status List(const ZooFlags& flags) {
  std::vector<std::vector<std::string>> rows = {{"name", "parameters", "GMAC", "input", "what it is"}};
  Json networks = Json::array();
  for (const ZooEntry& entry : ZooNetworks()) {
    std::vector<std::string> inputs;
    for (const ZooInput& input : entry.inputs) inputs.push_back(InputText(input));
    rows.push_back({entry.name, absl::StrFormat("%.2f M", static_cast<double>(entry.parameters) * 1e-6),
                    absl::StrFormat("%.2f", static_cast<double>(entry.macs) * 1e-9),
                    absl::StrJoin(inputs, ", "), entry.description});
    networks.push_back({{"name", entry.name},
                        {"description", entry.description},
                        {"inputs", inputs},
                        {"parameters", entry.parameters},
                        {"macs", entry.macs},
                        {"scales", entry.scales}});
  }
  if (!flags.json.empty()) RETURN_IF_ERROR(WriteJson({{"networks", std::move(networks)}}, flags.json));
  if (flags.json != "-") PrintResult(FormatTable(rows, {false, true, true, false, false}));
  return absl::OkStatus();
}

absl::Status Write(const ZooFlags& flags) {
  ASSIGN_OR_RETURN(const std::string bytes, BuildZooModel(flags.name, flags.options));
  RETURN_IF_ERROR(WriteFileAtomically(flags.output, bytes));
  if (!flags.json.empty()) {
    RETURN_IF_ERROR(
        WriteJson({{"name", flags.name}, {"file", flags.output}, {"bytes", bytes.size()}}, flags.json));
  }
  if (LeaveStdout({flags.output, flags.json}))
    PrintResult(absl::StrCat(flags.output, ": ", FormatBytes(bytes.size()), "\n"));
  return absl::OkStatus();
}

}  // namespace

void AddZooCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("zoo", "List well-known networks, or write one as ONNX with seeded weights");
  auto flags = std::make_shared<ZooFlags>();
  command->add_option("NAME", flags->name, "a network; without it, all are listed");
  AddOutputFlag(*command, "-o,--output", flags->output, "the ONNX file to write");
  command->add_option("--seed", flags->options.seed, "seed of the weights (default: 0)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--batch", flags->options.batch, "(default: 1)");
  command->add_option("--width", flags->options.width,
                      "width of the layers, as a share of the published one (default: 1)");
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  command->callback([flags, &action] {
    if (flags->name.empty() != flags->output.empty())
      throw CLI::RequiredError(flags->name.empty() ? "NAME" : "-o");
    RequireOneStdout({flags->output, flags->json});
    action = [flags] { return flags->name.empty() ? List(*flags) : Write(*flags); };
  });
}

}  // namespace attune
