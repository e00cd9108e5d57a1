// The formats of pictures for a graph's inputs, as comments before its text.
//
//   // picture mean=127.5 std=127.5 order=rgb resize=stretch of "x"
//   graph @name(%x: f32[1,224,224,3]) {
//
// An artifact has the text of its graph, so that they travel with it.
#ifndef ATTUNE_GRAPH_PICTURE_COMMENTS_H_
#define ATTUNE_GRAPH_PICTURE_COMMENTS_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/picture_format.h"

namespace attune {

using PictureFormats = std::map<std::string, PictureFormat>;  // by the names of inputs

// A line each.
std::string PictureComments(const PictureFormats& formats);

// Reads the comment for this input, which stands before the graph in its text; nothing if there is none.
std::optional<PictureFormat> FindPictureComment(std::string_view text, std::string_view input);

}  // namespace attune

#endif  // ATTUNE_GRAPH_PICTURE_COMMENTS_H_
