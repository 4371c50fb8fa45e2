#include "move/xml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <expat.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/limits.h"
#include "comment/screen.h"
#include "move/foreign.h"

#define PIECE_BYTES KIB(64)

struct captured {
    char *bytes;
    size_t length;
    size_t room;
    bool over;
};

struct xml {
    const struct xml_format *format;
    XML_Parser parser;
    const char **attributes;                        /* of the element that begins */
    char names[XML_DEPTH_MOST + 1][XML_NAME_BYTES]; /* of the open elements; [0] is "" */
    unsigned depth;
    const struct xml_field *field; /* whose text is being captured; NULL: none */
    struct captured captured[XML_FIELDS_MOST];
    uint64_t bytes; /* that were given to the parser */
    uint64_t heard; /* how many of them when the parser last called */
    enum status status;
    char *problem;
    size_t size;
};

static void stop(struct xml *xml, enum status status)
{
    if (xml->status == STATUS_OK)
        xml->status = status;
    XML_StopParser(xml->parser, XML_FALSE);
}

enum status xml_refuse(struct xml *xml, const char *sentence)
{
    snprintf(xml->problem, xml->size, "line %llu: %s", (unsigned long long)xml_line(xml), sentence);
    stop(xml, STATUS_BAD_ARGUMENT);
    return STATUS_BAD_ARGUMENT;
}

uint64_t xml_line(const struct xml *xml)
{
    return XML_GetCurrentLineNumber(xml->parser);
}

struct text xml_text(const struct xml *xml, unsigned field, bool *over)
{
    ASSERT(field < XML_FIELDS_MOST);
    const struct captured *captured = &xml->captured[field];
    if (over != NULL)
        *over = captured->over;
    if (captured->length == 0)
        return (struct text){"", 0};
    struct text text = {captured->bytes, captured->length};
    if (captured->over) /* It may have been cut within a character. */
        text.length = utf8_valid(text);
    return foreign_trim(text);
}

void xml_forget(struct xml *xml, unsigned field)
{
    ASSERT(field < XML_FIELDS_MOST);
    xml->captured[field].length = 0;
    xml->captured[field].over = false;
}

static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon != NULL ? colon + 1 : name;
}

struct text xml_attribute(const struct xml *xml, const char *name)
{
    for (const char **at = xml->attributes; at != NULL && at[0] != NULL; at += 2)
        if (strcmp(local_name(at[0]), name) == 0)
            return foreign_trim(text_from(at[1]));
    return (struct text){"", 0};
}

const char *xml_parent(const struct xml *xml)
{
    return xml->depth > 0 ? xml->names[xml->depth - 1] : "";
}

static const struct xml_field *field_of(const struct xml *xml)
{
    for (size_t i = 0; i < xml->format->field_count; i++) {
        const struct xml_field *field = &xml->format->fields[i];
        if (field->depth == xml->depth && strcmp(field->name, xml->names[xml->depth]) == 0 &&
            (field->parent == NULL || strcmp(field->parent, xml_parent(xml)) == 0))
            return field;
    }
    return NULL;
}

static void on_begin(void *context, const char *name, const char **attributes)
{
    struct xml *xml = context;
    xml->heard = xml->bytes;
    if (xml->status != STATUS_OK)
        return;
    if (xml->depth == XML_DEPTH_MOST) {
        xml_refuse(xml, "elements are nested more than 64 deep");
        return;
    }
    snprintf(xml->names[++xml->depth], XML_NAME_BYTES, "%s", local_name(name));
    xml->attributes = attributes;
    xml->field = field_of(xml);
    if (xml->field != NULL)
        xml_forget(xml, xml->field->field);
    if (xml->depth <= xml->format->depth) {
        enum status status =
            xml->format->begin(xml->format->context, xml, xml->depth, xml->names[xml->depth]);
        if (status != STATUS_OK)
            stop(xml, status);
    }
    xml->attributes = NULL;
}

static void on_end(void *context, const char *name)
{
    struct xml *xml = context;
    (void)name;
    xml->heard = xml->bytes;
    if (xml->status != STATUS_OK)
        return;
    ASSERT(xml->depth > 0); /* expat has compared begins and ends */
    xml->field = NULL;
    if (xml->depth <= xml->format->depth) {
        enum status status =
            xml->format->end(xml->format->context, xml, xml->depth, xml->names[xml->depth]);
        if (status != STATUS_OK)
            stop(xml, status);
    }
    xml->depth--;
}

static void on_text(void *context, const char *bytes, int length)
{
    struct xml *xml = context;
    xml->heard = xml->bytes;
    if (xml->field == NULL || length <= 0 || xml->status != STATUS_OK)
        return;
    struct captured *captured = &xml->captured[xml->field->field];
    size_t left = xml->field->limit - captured->length;
    size_t more = (size_t)length < left ? (size_t)length : left;
    captured->over = captured->over || more < (size_t)length;
    if (more == 0)
        return;
    if (captured->length + more > captured->room) {
        char *grown = array_grow(captured->bytes, &captured->room, captured->length + more, 256, 1);
        if (grown == NULL) {
            snprintf(xml->problem, xml->size, "there is no memory for a text");
            stop(xml, STATUS_NO_MEMORY);
            return;
        }
        captured->bytes = grown;
    }
    memcpy(captured->bytes + captured->length, bytes, more);
    captured->length += more;
}

/* Comments, processing instructions and the like. */
static void on_other(void *context, const char *bytes, int length)
{
    struct xml *xml = context;
    (void)bytes, (void)length;
    xml->heard = xml->bytes;
}

static void on_doctype(void *context, const char *name, const char *system, const char *public,
                       int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    xml_refuse(context, "a document type declaration (<!DOCTYPE) is not accepted, because it could "
                        "define entities or name other files");
}

static enum status parse_piece(struct xml *xml, int length, bool last)
{
    xml->bytes += (uint64_t)length;
    enum XML_Status result = XML_ParseBuffer(xml->parser, length, last);
    if (xml->status != STATUS_OK)
        return xml->status;
    if (result != XML_STATUS_OK) {
        enum XML_Error error = XML_GetErrorCode(xml->parser);
        snprintf(xml->problem, xml->size, "line %llu: the file is not XML: %s",
                 (unsigned long long)xml_line(xml), XML_ErrorString(error));
        return error == XML_ERROR_NO_MEMORY ? STATUS_NO_MEMORY : STATUS_BAD_ARGUMENT;
    }
    if (xml->bytes - xml->heard > XML_TOKEN_BYTES)
        return xml_refuse(xml, "a tag, a comment or an instruction is longer than 1 MiB");
    return STATUS_OK;
}

static enum status read_all(struct xml *xml, int fd)
{
    for (;;) {
        void *buffer = XML_GetBuffer(xml->parser, PIECE_BYTES);
        if (buffer == NULL) {
            snprintf(xml->problem, xml->size, "there is no memory for reading XML");
            return STATUS_NO_MEMORY;
        }
        ssize_t got;
        do
            got = read(fd, buffer, PIECE_BYTES);
        while (got < 0 && errno == EINTR);
        if (got < 0) {
            snprintf(xml->problem, xml->size, "the file cannot be read: %s", strerror(errno));
            return STATUS_IO_FAILED;
        }
        enum status status = parse_piece(xml, (int)got, got == 0);
        if (status != STATUS_OK || got == 0)
            return status;
        if (xml->format->progress != NULL)
            xml->format->progress(xml->format->context, xml->bytes);
    }
}

static bool parser_make(struct xml *xml)
{
    xml->parser = XML_ParserCreate(NULL);
    if (xml->parser == NULL)
        return false;
    XML_SetUserData(xml->parser, xml);
    XML_SetElementHandler(xml->parser, on_begin, on_end);
    XML_SetCharacterDataHandler(xml->parser, on_text);
    XML_SetDefaultHandler(xml->parser, on_other);
    XML_SetStartDoctypeDeclHandler(xml->parser, on_doctype);
    return true;
}

enum status xml_read(int fd, const struct xml_format *format, char *problem, size_t size)
{
    enum status status = STATUS_NO_MEMORY;
    struct xml *xml = calloc(1, sizeof *xml);
    snprintf(problem, size, "there is no memory for reading XML");
    if (xml == NULL)
        return status;
    xml->format = format;
    xml->problem = problem;
    xml->size = size;
    if (parser_make(xml)) {
        status = read_all(xml, fd);
        XML_ParserFree(xml->parser);
    }
    for (unsigned i = 0; i < XML_FIELDS_MOST; i++)
        free(xml->captured[i].bytes);
    free(xml);
    return status;
}
