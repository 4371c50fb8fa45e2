/* The OpenAPI 3.1 document of the HTTP face. It is generated from the tables that the face itself uses. */
#ifndef LAUD_HTTP_OPENAPI_H
#define LAUD_HTTP_OPENAPI_H

#include <stdbool.h>

#include "base/buffer.h"

/* Appends the document. False: there is no memory. */
bool openapi_write(struct buffer *out);

#endif
