/*
 * A store visits names in no particular order. They are restored in the order in which they were
 * created.
 */
#include "cli/store_names.h"

#include <stdlib.h>

struct name_list {
    size_t count;
    struct store_name names[LIMIT_TYPES + LIMIT_NAMES];
};

static enum status collect_name(void *context, const struct store_name *name)
{
    struct name_list *list = context;
    if (list->count == sizeof list->names / sizeof list->names[0])
        return STATUS_DAMAGED;
    list->names[list->count++] = *name;
    return STATUS_OK;
}

static int compare_names(const void *a, const void *b)
{
    return (int)((const struct store_name *)a)->index - (int)((const struct store_name *)b)->index;
}

enum status store_names_restore(struct store_admin *admin, struct names *names)
{
    struct name_list *list = calloc(1, sizeof *list);
    if (list == NULL)
        return STATUS_NO_MEMORY;
    struct store_visitor visitor = {.name = collect_name, .context = list};
    enum status status = store_visit(admin, &visitor);
    qsort(list->names, list->count, sizeof list->names[0], compare_names);
    for (size_t i = 0; i < list->count && status == STATUS_OK; i++) {
        const struct store_name *name = &list->names[i];
        status = names_restore(names, name->role, name->index, name->text, name->length);
    }
    free(list);
    return status;
}
