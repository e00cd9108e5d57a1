// Tags by which a peer tells whether what it has is still what there is.
#ifndef ATTUNE_HTTP_ENTITY_TAG_H_
#define ATTUNE_HTTP_ENTITY_TAG_H_

#include <string_view>

namespace attune {

// Whether the header If-None-Match names the tag, or any
// (https://www.rfc-editor.org/rfc/rfc9110#name-if-none-match).
bool IsTagAmong(std::string_view if_none_match, std::string_view tag);

}  // namespace attune

#endif  // ATTUNE_HTTP_ENTITY_TAG_H_
