// Answers with a file, or with the part of it that a request wants.
#ifndef ATTUNE_HTTP_FILE_RESPONSE_H_
#define ATTUNE_HTTP_FILE_RESPONSE_H_

#include <string_view>

#include "http/message.h"

namespace attune {

// `response` has the headers. A request with one range of bytes gets that (206), or 416 if the file has none
// of them; a request for several, or in another unit, gets the whole file, as
// https://www.rfc-editor.org/rfc/rfc9110#name-range allows. A file with a digest has an ETag, by which peers
// that have it are told so (304), and Repr-Digest (https://www.rfc-editor.org/rfc/rfc9530).
HttpResponse FileResponse(const HttpRequest& request, HttpFile file, HttpResponse response);

// Whether the header If-None-Match names the tag, or any
// (https://www.rfc-editor.org/rfc/rfc9110#name-if-none-match).
bool IsTagAmong(std::string_view if_none_match, std::string_view tag);

}  // namespace attune

#endif  // ATTUNE_HTTP_FILE_RESPONSE_H_
