// Whether this program runs under a sanitizer.
#ifndef ATTUNE_BASE_SANITIZED_H_
#define ATTUNE_BASE_SANITIZED_H_

namespace attune {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ATTUNE_SANITIZED true
#endif
#endif
#ifdef ATTUNE_SANITIZED
inline constexpr bool kIsSanitized = true;
#undef ATTUNE_SANITIZED
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace attune

#endif  // ATTUNE_BASE_SANITIZED_H_
