#include "http/console.h"

#include <string.h>

#include "http/accept.h"

/*
 * The page may load only what this server serves, and may send requests only to it. Styles and scripts
 * in the page itself are refused, so a text of a user can never become one.
 */
static const char fields[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n";

const struct console_file *console_find(struct text name)
{
    for (const struct console_file *file = console_files; file->name != NULL; file++) {
        if (name.length == strlen(file->name) && memcmp(name.bytes, file->name, name.length) == 0)
            return file;
    }
    return NULL;
}

const struct console_file *console_index(void)
{
    static const char name[] = "index.html";
    return console_find((struct text){name, sizeof name - 1});
}

/*
 * Does the client have this version? The header is a list of ETags. A proxy that changes the form of
 * an answer may have put W/ before ours. As ETags have quotes, none is a part of another.
 */
static bool has_version(struct text list, const char *etag)
{
    return list.length > 0 && memmem(list.bytes, list.length, etag, strlen(etag)) != NULL;
}

enum status console_answer(struct exchange *exchange, const struct console_file *file,
                           const char *bytes)
{
    const struct request *request = &exchange->reader.request;
    exchange->gzip = accept_takes_gzip(request_text(bytes, request->accept_encoding));
    exchange->etag = exchange->gzip ? file->packed_etag : file->plain_etag;
    exchange->type = file->type;
    exchange->fields = fields;
    if (has_version(request_text(bytes, request->none_match), exchange->etag)) {
        exchange->code = 304;
        exchange->type = NULL;
        exchange->gzip = false;
        return STATUS_OK;
    }
    const struct text *form = exchange->gzip ? &file->packed : &file->plain;
    return buffer_append(&exchange->reply, form->bytes, form->length) ? STATUS_OK
                                                                      : STATUS_NO_MEMORY;
}
