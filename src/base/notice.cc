#include "base/notice.h"

#include <atomic>

namespace attune {
namespace {

std::atomic<NoticeHandler> notice_handler = nullptr;

}  // namespace

NoticeHandler SetNoticeHandler(NoticeHandler handler) { return notice_handler.exchange(handler); }

void Notice(std::string_view text) {
  if (const NoticeHandler handler = notice_handler.load()) handler(text);
}

}  // namespace attune
