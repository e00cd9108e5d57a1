// A server-sent event.
#ifndef ATTUNE_HTTP_SERVER_EVENT_H_
#define ATTUNE_HTTP_SERVER_EVENT_H_

#include <string>

namespace attune {

struct ServerEvent {
  std::string id = {};     // that a peer names when it comes again; empty: none
  std::string event = {};  // its kind; empty: "message"
  std::string data = {};   // any text
};

}  // namespace attune

#endif  // ATTUNE_HTTP_SERVER_EVENT_H_
