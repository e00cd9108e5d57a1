#include "cli/inputs.h"

#include "cli/common/output.h"
#include "cli/option_flags.h"

namespace attune {

void AddInputFlags(CLI::App& command, InputSources& flags) {
  flags.note = PrintNote;
  command
      .add_option(
          "--input", flags.inputs,
          "NAME=FILE or NAME=random:SEED, repeatable; NAME= may be left out where there is one input. "
          "FILE is .npy, .pb (ONNX tensor), .jpg, .png, .bmp, .wav, or raw bytes")
      ->allow_extra_args(false);
  AddOptionFlags(command, OptionsOf(flags.pictures));
}

}  // namespace attune
