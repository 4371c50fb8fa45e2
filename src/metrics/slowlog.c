#include "metrics/slowlog.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MORE_ROOM 32 /* the room for "... (123 more bytes)" */

void slowlog_init(struct slowlog *slowlog)
{
    memset(slowlog, 0, sizeof *slowlog);
    pthread_mutex_init(&slowlog->lock, NULL);
}

void slowlog_destroy(struct slowlog *slowlog)
{
    pthread_mutex_destroy(&slowlog->lock);
}

/*
 * Makes a word printable and short enough: control bytes, a backslash and bytes above ASCII become
 * \xNN.
 */
static void shorten(struct text word, char out[SLOWLOG_WORD])
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0, i = 0;
    for (; i < word.length; i++) {
        unsigned char byte = (unsigned char)word.bytes[i];
        bool plain = byte >= 0x20 && byte < 0x7f && byte != '\\';
        size_t wanted = plain ? 1 : 4;
        bool last = i + 1 == word.length;
        if (used + wanted > SLOWLOG_WORD - (last ? 1 : MORE_ROOM))
            break;
        if (plain) {
            out[used++] = (char)byte;
        } else {
            memcpy(out + used, "\\x", 2);
            out[used + 2] = digits[byte >> 4];
            out[used + 3] = digits[byte & 15];
            used += 4;
        }
    }
    out[used] = '\0';
    if (i < word.length)
        snprintf(out + used, SLOWLOG_WORD - used, "... (%zu more bytes)", word.length - i);
}

static void fill(struct slowlog_entry *entry, const struct slowlog_event *event)
{
    uint32_t shown = event->count < SLOWLOG_WORDS ? event->count : SLOWLOG_WORDS;
    entry->time_s = event->time_s;
    entry->took_us = event->took_ns / 1000;
    if (event->total > shown && shown == SLOWLOG_WORDS)
        shown--;
    for (uint32_t i = 0; i < shown; i++)
        shorten(event->words[i], entry->words[i]);
    entry->count = shown;
    if (event->total > shown)
        snprintf(entry->words[entry->count++], SLOWLOG_WORD, "... (%" PRIu32 " more arguments)",
                 event->total - shown);
    snprintf(entry->client, sizeof entry->client, "%s", event->client);
    snprintf(entry->name, sizeof entry->name, "%s", event->name);
}

void slowlog_add(struct slowlog *slowlog, const struct slowlog_event *event)
{
    pthread_mutex_lock(&slowlog->lock);
    struct slowlog_entry *entry = &slowlog->entries[slowlog->next % SLOWLOG_ENTRIES];
    entry->id = slowlog->next++;
    fill(entry, event);
    if (slowlog->count < SLOWLOG_ENTRIES)
        slowlog->count++;
    pthread_mutex_unlock(&slowlog->lock);
}

bool slowlog_get(struct slowlog *slowlog, uint64_t before, struct slowlog_entry *out)
{
    pthread_mutex_lock(&slowlog->lock);
    uint64_t end = before < slowlog->next ? before : slowlog->next;
    bool there = end > slowlog->next - slowlog->count;
    if (there)
        *out = slowlog->entries[(end - 1) % SLOWLOG_ENTRIES];
    pthread_mutex_unlock(&slowlog->lock);
    return there;
}

uint32_t slowlog_length(struct slowlog *slowlog)
{
    pthread_mutex_lock(&slowlog->lock);
    uint32_t count = slowlog->count;
    pthread_mutex_unlock(&slowlog->lock);
    return count;
}

uint64_t slowlog_total(struct slowlog *slowlog)
{
    pthread_mutex_lock(&slowlog->lock);
    uint64_t total = slowlog->next;
    pthread_mutex_unlock(&slowlog->lock);
    return total;
}

void slowlog_reset(struct slowlog *slowlog)
{
    pthread_mutex_lock(&slowlog->lock);
    slowlog->count = 0;
    pthread_mutex_unlock(&slowlog->lock);
}
