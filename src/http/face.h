/* The HTTP face: HTTP/1.1 with JSON. */
#ifndef LAUD_HTTP_FACE_H
#define LAUD_HTTP_FACE_H

#include "net/face.h"

extern const struct face http_face;

#endif
