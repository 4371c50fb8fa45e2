/*
 * Reads XML with libexpat, piece by piece and in bounded memory, and captures the texts of the elements that a
 * table names. Prefixes of names are ignored: dsq:id is id. Nothing is ever loaded from elsewhere: a document type
 * declaration, with which entities could be defined, is refused, and so are deep nesting and long tags.
 *
 * One thread uses it.
 */
#ifndef LAUD_MOVE_XML_H
#define LAUD_MOVE_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

#define XML_DEPTH_MOST  64
#define XML_NAME_BYTES  32 /* of a name that is compared; longer ones are cut */
#define XML_FIELDS_MOST 16
#define XML_TOKEN_BYTES (1U << 20) /* of one tag, comment or processing instruction */

/* An element whose text is captured. */
struct xml_field {
    uint8_t depth;      /* of the element; the first one has depth 1 */
    const char *parent; /* the name of the element around it; NULL: any */
    const char *name;
    uint8_t field; /* under XML_FIELDS_MOST; several elements may have the same */
    size_t limit;  /* bytes that are kept */
};

struct xml;

struct xml_format {
    const struct xml_field *fields;
    size_t field_count;
    /* Called at the begin and end of each element up to this depth. OK, or a status that ends reading. */
    unsigned depth;
    enum status (*begin)(void *context, struct xml *xml, unsigned depth, const char *name);
    enum status (*end)(void *context, struct xml *xml, unsigned depth, const char *name);
    void (*progress)(void *context, uint64_t bytes); /* may be NULL */
    void *context;
};

/*
 * Reads to the end. OK; BAD_ARGUMENT: it is not XML or refused, and `problem` is a sentence; IO_FAILED with one;
 * NO_MEMORY with one; or what a function has returned.
 */
enum status xml_read(int fd, const struct xml_format *format, char *problem, size_t size);

/* For the functions: the captured text without spaces around it; `over`: it was cut; may be NULL. */
struct text xml_text(const struct xml *xml, unsigned field, bool *over);
void xml_forget(struct xml *xml, unsigned field);
/* Of the element that begins: the value of an attribute; empty: it has none. */
struct text xml_attribute(const struct xml *xml, const char *name);
/* The name of the element around the present one; "": there is none. */
const char *xml_parent(const struct xml *xml);
uint64_t xml_line(const struct xml *xml);
/* Ends reading with a sentence. Returns BAD_ARGUMENT. */
enum status xml_refuse(struct xml *xml, const char *sentence);

#endif
