#include "library/request.h"

#include <algorithm>
#include <utility>

#include "library/convert.h"
#include "options/public_options.h"

namespace attune::compiler {

CompileRequest RequestOf(const OptimizeOptions& optimizing, std::shared_ptr<MeasuringService> service) {
  CompileRequest request;
  Assign(optimizing, request);
  request.service = std::move(service);
  return request;
}

CompileRequest RequestOf(const OptimizeOptions& optimizing, const CompileOptions& compiling,
                         std::shared_ptr<MeasuringService> service) {
  CompileRequest request = RequestOf(optimizing, std::move(service));
  Assign(compiling, request);
  request.threads = std::max(1, compiling.threads);
  return request;
}

void check(const OptimizeOptions& options) {
  NameFace();
  CompileSettings compile;
  Assign(options, compile);
  Check(CheckRanges(compile));
}

void check(const CompileOptions& options) {
  NameFace();
  CompileSettings compile;
  Assign(options, compile);
  Check(CheckRanges(compile));
}

void check(const TuneOptions& options) {
  NameFace();
  TuneSettings tune;
  Assign(options, tune);
  Check(CheckRanges(tune));
}

void check(const QuantizeOptions& options) {
  NameFace();
  QuantizeSettings quantize;
  SampleSettings sample;
  Assign(options, quantize, sample);
  Check(CheckRanges(quantize));
  Check(CheckRanges(sample));
}

void check(const PictureOptions& options) {
  NameFace();
  PictureSettings picture;
  Assign(options, picture);
  Check(CheckRanges(picture));
}

}  // namespace attune::compiler
