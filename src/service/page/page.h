// Serves the files of the web page (web/), which are part of the program.
#ifndef ATTUNE_SERVICE_PAGE_PAGE_H_
#define ATTUNE_SERVICE_PAGE_PAGE_H_

#include <span>
#include <string_view>

#include "http/router.h"

namespace attune {

// A file as the build has made it. All texts are constants of the program.
struct PageFile {
  std::string_view path = {};  // "/assets/index-3f2a.js"
  std::string_view content_type = {};
  std::string_view digest = {};  // of the content; differs when that does
  std::string_view content = {}, gzipped = {};
  bool is_hashed = false;  // the path changes with the content, so that it may be kept for ever
};

// All files; empty if the program was built without the page.
std::span<const PageFile> EmbeddedPage();

// Lets the router answer GET with these files. Each path that has no file and no route gets /index.html,
// which then shows the view of that name; those below /v1 and /assets get 404. Adds nothing if there are no
// files.
void ServePage(std::span<const PageFile> files, HttpRouter& router);

}  // namespace attune

#endif  // ATTUNE_SERVICE_PAGE_PAGE_H_
