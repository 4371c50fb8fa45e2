/* Constants of the format of the windowed boards' file, which trends_file.c describes. */
#ifndef LAUD_TREND_TRENDS_FORMAT_H
#define LAUD_TREND_TRENDS_FORMAT_H

#include "base/file_header.h"
#include "base/limits.h"

#define HEADER_BYTES 64
#define HEADER_CHECK (HEADER_BYTES - 8)
#define BOARD_BYTES  16
#define SLICE_BYTES  32
#define ROW_BYTES    24
#define CHECK_BYTES  8
#define BUFFER_BYTES KIB(64)

static const struct file_format trends_format = {"laud-trd", 1};

enum { KIND_BOARD, KIND_NO_BOARD, KIND_NO_TYPE };

#endif
