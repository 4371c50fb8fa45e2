#include "comment/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define ALL_TYPES "*"

/* The order of this name that --comment-orders may list; ORDER_TOTAL: none. */
static enum comment_order order_named(struct text word)
{
    static const enum comment_order orders[] = {ORDER_BEST, ORDER_HOT, ORDER_CONTROVERSIAL};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const char *name = comment_order_text(orders[i]);
        if (strlen(name) == word.length && memcmp(name, word.bytes, word.length) == 0)
            return orders[i];
    }
    return ORDER_TOTAL;
}

/* Takes the text before the first `mark` away from *rest, and the mark with it. */
static struct text take_until(struct text *rest, char mark)
{
    const char *end = rest->length > 0 ? memchr(rest->bytes, mark, rest->length) : NULL;
    struct text taken = {rest->bytes, end != NULL ? (size_t)(end - rest->bytes) : rest->length};
    size_t gone = taken.length + (end != NULL);
    *rest = (struct text){rest->bytes + gone, rest->length - gone};
    return taken;
}

static bool equals(struct text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.bytes, word, text.length) == 0;
}

/* One entry: "*", "*:best" or "video:best+hot". Adds its orders to *mask if it is for this type. */
static bool read_entry(struct text entry, const char *type, uint8_t *mask)
{
    uint8_t orders = 0;
    struct text rest = entry;
    struct text of = take_until(&rest, ':');
    bool is_all = equals(of, ALL_TYPES);
    if (!is_all && !name_is_valid(of.bytes, of.length))
        return false;
    if (of.length == entry.length) { /* there is no ':' */
        if (!is_all)
            return false;
        orders = 1 << ORDER_BEST | 1 << ORDER_HOT | 1 << ORDER_CONTROVERSIAL;
    } else {
        do {
            enum comment_order order = order_named(take_until(&rest, '+'));
            if (order == ORDER_TOTAL)
                return false;
            orders |= (uint8_t)(1U << order);
        } while (rest.length > 0);
    }
    if (is_all || equals(of, type))
        *mask |= orders;
    return entry.bytes[entry.length - 1] != '+';
}

/* The orders that the option enables for a type of subjects. False: an entry is not valid. */
static bool read_orders(const char *text, const char *type, uint8_t *mask, struct text *bad)
{
    struct text rest = text_from(text);
    *mask = 0;
    while (rest.length > 0) {
        struct text entry = text_trim(take_until(&rest, ','));
        *bad = entry;
        if (entry.length == 0 || !read_entry(entry, type, mask))
            return false;
    }
    return true;
}

static bool check_orders(const char *text, char *problem, size_t size)
{
    uint8_t mask;
    struct text bad;
    char shown[TEXT_SHOWN];
    if (read_orders(text, "", &mask, &bad))
        return true;
    snprintf(problem, size,
             "comment-orders: '%s' is not '*' or a type (or '*') with the orders best, hot or "
             "controversial, as in 'video:best+hot'",
             text_show(bad, shown));
    return false;
}

static bool check_kind(const char *option, const char *name, char *problem, size_t size)
{
    char shown[TEXT_SHOWN];
    if (name[0] == '\0')
        return true;
    if (!name_is_valid(name, strlen(name))) {
        snprintf(problem, size, "%s: '%s' is not a name: a letter, then up to 31 of a-z 0-9 _ -",
                 option, text_show(text_from(name), shown));
        return false;
    }
    if (strcmp(name, "like") == 0 || strcmp(name, COMMENT_TYPE_NAME) == 0) {
        snprintf(problem, size, "%s: '%s' has a meaning of its own and cannot be used here", option,
                 name);
        return false;
    }
    return true;
}

static bool check(const struct comment_policy_options *options, char *problem, size_t size)
{
    if (!check_kind("comment-dislike", options->dislike, problem, size) ||
        !check_kind("comment-report", options->report, problem, size) ||
        !check_orders(options->orders, problem, size))
        return false;
    if (options->dislike[0] == '\0' || strcmp(options->dislike, options->report) != 0)
        return true;
    snprintf(problem, size, "comment-dislike and comment-report are both '%s', and must differ",
             options->report);
    return false;
}

/* A screen is needed only if it can hold anything. */
static bool make_screen(struct comment_policy *policy, uint64_t links, char *problem, size_t size)
{
    char reason[256];
    bool any_links = links >= COMMENT_ANY_LINKS;
    if (any_links && policy->words_path[0] == '\0')
        return true;
    policy->screen = screen_new(any_links ? UINT32_MAX : (uint32_t)links);
    if (policy->screen == NULL) {
        snprintf(problem, size, "there is no memory for the policy for comments");
        return false;
    }
    if (policy->words_path[0] == '\0' ||
        screen_load(policy->screen, policy->words_path, reason, sizeof reason))
        return true;
    snprintf(problem, size, "comment-words: %s", reason);
    return false;
}

static struct comment_policy *policy_make(const struct comment_policy_options *options)
{
    struct comment_policy *policy = calloc(1, sizeof *policy);
    if (policy == NULL)
        return NULL;
    policy->hold = options->hold;
    policy->repeat_s = (uint32_t)((options->repeat_ms + 999) / 1000);
    policy->report_at = options->report_at > 0 ? (uint32_t)options->report_at : 1;
    snprintf(policy->dislike_name, sizeof policy->dislike_name, "%s", options->dislike);
    snprintf(policy->report_name, sizeof policy->report_name, "%s", options->report);
    policy->words_path = options->words;
    policy->orders_text = options->orders;
    atomic_store(&policy->dislike, POLICY_NO_NAME);
    atomic_store(&policy->report, POLICY_NO_NAME);
    atomic_store(&policy->type, POLICY_NO_TYPE);
    return policy;
}

struct comment_policy *comment_policy_new(const struct comment_policy_options *options,
                                          char *problem, size_t size)
{
    if (!check(options, problem, size))
        return NULL;
    struct comment_policy *policy = policy_make(options);
    if (policy == NULL) {
        snprintf(problem, size, "there is no memory for the policy for comments");
        return NULL;
    }
    if (make_screen(policy, options->links, problem, size))
        return policy;
    comment_policy_free(policy);
    return NULL;
}

void comment_policy_free(struct comment_policy *policy)
{
    if (policy == NULL)
        return;
    screen_free(policy->screen);
    free(policy);
}

bool comment_policy_reload(struct comment_policy *policy, char *problem, size_t size)
{
    return policy->words_path[0] == '\0' ||
           screen_load(policy->screen, policy->words_path, problem, size);
}

static void learn_type(struct comment_policy *policy, uint16_t index, const char *name)
{
    uint8_t mask;
    struct text bad;
    bool valid = read_orders(policy->orders_text, name, &mask, &bad);
    ASSERT(valid && index < LIMIT_TYPES);
    atomic_store(&policy->orders[index], mask);
    if (strcmp(name, COMMENT_TYPE_NAME) == 0)
        atomic_store(&policy->type, index);
}

void comment_policy_learn(void *context, enum name_role role, uint16_t index, const char *text,
                          size_t length)
{
    struct comment_policy *policy = context;
    char name[LIMIT_NAME_LENGTH + 1] = "";
    ASSERT(length > 0 && length <= LIMIT_NAME_LENGTH);
    memcpy(name, text, length);
    if (role == NAME_TYPE)
        learn_type(policy, index, name);
    else if (role == NAME_KIND && strcmp(name, policy->dislike_name) == 0)
        atomic_store(&policy->dislike, (uint8_t)index);
    else if (role == NAME_KIND && strcmp(name, policy->report_name) == 0)
        atomic_store(&policy->report, (uint8_t)index);
}

bool comment_policy_holds(const struct comment_policy *policy, struct text text, bool was_open)
{
    return policy->hold == COMMENT_HOLD_ALL || (policy->hold == COMMENT_HOLD_FIRST && !was_open) ||
           screen_holds(policy->screen, text);
}
