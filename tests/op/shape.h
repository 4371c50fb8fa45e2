/* The operation of an action: tests of replies make requests that nobody decoded. */
#ifndef LAUD_OP_SHAPE_H
#define LAUD_OP_SHAPE_H

#include "op/op.h"

/* The same request, as if it had been decoded from an operation with its action. */
static inline struct hot_request with_op(struct hot_request request)
{
    for (request.op = 0; op_get(request.op)->action != request.action; request.op++)
        ;
    return request;
}

#endif
