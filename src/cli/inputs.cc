#include "cli/inputs.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "cli/common/output.h"

namespace attune {
namespace {

std::string CheckChannels(const std::string& text) {
  return ParseChannels(text).has_value()
             ? ""
             : absl::StrCat("\"", text, "\" is neither a number nor three of them");
}

}  // namespace

void AddInputFlags(CLI::App& command, InputSources& flags) {
  flags.note = PrintNote;
  command
      .add_option(
          "--input", flags.inputs,
          "NAME=FILE or NAME=random:SEED, repeatable; NAME= may be left out where there is one input. "
          "FILE is .npy, .pb (ONNX tensor), .jpg, .png, .bmp, .wav, or raw bytes")
      ->allow_extra_args(false);
  command
      .add_option("--image-mean", flags.image_mean,
                  "subtracted from samples of 0 to 255: one number, or one per channel (R,G,B)")
      ->check(CheckChannels);
  command
      .add_option("--image-scale", flags.image_scale,
                  "samples are multiplied by this after that: one number, or one per channel")
      ->check(CheckChannels);
  command.add_option("--image-order", flags.image_order, "order of the channels: rgb or bgr")
      ->check(CLI::IsMember({"rgb", "bgr"}));
}

}  // namespace attune
