// Which numbers pictures become for an input: what a user says comes before what the model says.
#ifndef ATTUNE_API_PICTURES_H_
#define ATTUNE_API_PICTURES_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "base/picture_format.h"
#include "graph/graph.h"
#include "options/settings.h"

namespace attune {

// Whether the shape is that of a picture: [N,C,H,W], [N,H,W,C] or either without N, and C is 1 or 3. Sizes
// may be open.
bool TakesPictures(const Shape& shape);

// Whether the settings or the model say which numbers go into the input, and not only which part of a picture
// does.
bool SaysNumbers(const PictureSettings& settings, const InputDeclaration& input);

// Returns the format of pictures for the input. Each setting replaces a part of what the model says. An input
// of integers takes samples as bytes, i8 less 128, unless the settings name a mean or a deviation. Errors
// name the setting.
absl::StatusOr<PictureFormat> PictureFormatFor(const PictureSettings& settings,
                                               const InputDeclaration& input);

// Whether the network takes samples of 0 to 255 because it scales them itself: before anything else, it adds
// or subtracts a constant of at least 8, or scales by at most an eighth.
bool ScalesSamples(const Value& input);

// Tells a person that a picture goes in as it is, and what to do. `option` is the name of the option for it.
std::string RawPictureNote(std::string_view file, std::string_view input, std::string_view option);

}  // namespace attune

#endif  // ATTUNE_API_PICTURES_H_
