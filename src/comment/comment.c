#include "comment/comment.h"

#include "base/assert.h"

const char *comment_moderation_text(enum comment_moderation moderation)
{
    static const char *const texts[] = {[COMMENT_VISIBLE] = "visible",
                                        [COMMENT_PENDING] = "pending",
                                        [COMMENT_HIDDEN] = "hidden",
                                        [COMMENT_SHADOW] = "shadow"};
    ASSERT((size_t)moderation < sizeof texts / sizeof texts[0]);
    return texts[moderation];
}

const char *subject_mode_text(enum subject_mode mode)
{
    static const char *const texts[] = {[SUBJECT_OPEN] = "open",
                                        [SUBJECT_HELD] = "held",
                                        [SUBJECT_READONLY] = "readonly",
                                        [SUBJECT_CLOSED] = "closed"};
    ASSERT((size_t)mode < sizeof texts / sizeof texts[0]);
    return texts[mode];
}

const char *comment_order_text(enum comment_order order)
{
    static const char *const texts[] = {
        [ORDER_TOP] = "top",   [ORDER_NEW] = "new", [ORDER_OLD] = "old",
        [ORDER_BEST] = "best", [ORDER_HOT] = "hot", [ORDER_CONTROVERSIAL] = "controversial"};
    ASSERT((size_t)order < sizeof texts / sizeof texts[0]);
    return texts[order];
}
