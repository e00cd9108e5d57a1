// What a person should know while a long call goes on, such as what it waits for.
//
// The libraries print nothing. A program that talks to people says once, at its start, where notices go.
#ifndef ATTUNE_BASE_NOTICE_H_
#define ATTUNE_BASE_NOTICE_H_

#include <string_view>

namespace attune {

// Gets one sentence, maybe from several threads at once.
using NoticeHandler = void (*)(std::string_view text);

// From now on notices go to `handler`; to nobody where it is null, as at first. Returns the one before.
NoticeHandler SetNoticeHandler(NoticeHandler handler);

void Notice(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_BASE_NOTICE_H_
