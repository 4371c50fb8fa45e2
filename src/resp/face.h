/* The RESP face, for every Redis client. The commands are those of op.def and session.def. */
#ifndef LAUD_RESP_FACE_H
#define LAUD_RESP_FACE_H

#include "net/face.h"

extern const struct face resp_face;

#endif
