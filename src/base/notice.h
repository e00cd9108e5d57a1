// Messages for people while a long call goes on, such as that it waits for another process.
//
// The libraries print nothing. A program that talks to people says once, at its start, where notices go.
#ifndef ATTUNE_BASE_NOTICE_H_
#define ATTUNE_BASE_NOTICE_H_

#include <string_view>

namespace attune {

// Is called with one sentence, maybe by several threads at once.
using NoticeHandler = void (*)(std::string_view text);

// From now on notices go to `handler`, or to nobody where it is null, as it is at first. Returns the
// previous handler.
NoticeHandler SetNoticeHandler(NoticeHandler handler);

void Notice(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_BASE_NOTICE_H_
