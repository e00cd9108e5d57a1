#include "formats.h"

#include <algorithm>
#include <iterator>

#include "litert_cases.h"
#include "onnx_cases.h"

namespace attune::conformance {
namespace {

constexpr Format kFormats[] = {
    {"onnx",
     "# The ONNX backend data, through compiled code as through the reference: pass, ns (not supported, with "
     "the reason) or contested.\n"
     "# Written by: conformance --update. Cases that pass may only be added.\n",
     FindOnnxCases},
    {"litert",
     "# LiteRT's test models, compiled code beside the reference: pass, ns (not supported, with the reason), "
     "refused (damaged, with the error) or contested.\n"
     "# Written by: conformance --format litert --update. Cases that pass may only be added.\n",
     FindLitertCases},
};

}  // namespace

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

const Format& FormatNamed(std::string_view name) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats),
                       [&](const Format& format) { return format.name == name; });
}

}  // namespace attune::conformance
