/* The description of the HTTP face as an OpenAPI 3.1 document, made from the tables it works by. */
#ifndef LAUD_HTTP_OPENAPI_H
#define LAUD_HTTP_OPENAPI_H

#include <stdbool.h>

#include "base/buffer.h"

/* False: no memory. */
bool openapi_write(struct buffer *out);

#endif
