#include "cli/samples.h"

#include <string>

#include "api/quantize.h"

namespace attune {

void AddSampleFlags(CLI::App& command, SampleOptions& flags, bool needed) {
  CLI::Option* data = command.add_option("--data", flags.folder,
                                         "folder of samples: one file each (as for --input), or, with "
                                         "several inputs, one folder each with files named after the inputs");
  if (needed) data->required();
  command
      .add_option("--samples", flags.most,
                  "most samples to read (default: 1000), and no more than 1 GiB of them")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  command
      .add_option("--agreement", flags.agreement,
                  "how the outputs are compared with those in fp32: top-1 (default where the only output is "
                  "[batch, classes]), iou of segmentations, error (default elsewhere), or cosine")
      ->check(CLI::IsMember(quant::AgreementNames()));
  command.add_option("--max-drop", flags.max_drop, "most loss of agreement with auto (default: 1%)")
      ->check([](const std::string& text) {
        return ParseShare(text).has_value() ? "" : "\"" + text + "\" is not a share like 1% or 0.01";
      });
}

}  // namespace attune
