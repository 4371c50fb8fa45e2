#include "store/state.h"

#include "base/assert.h"

const char *store_state_text(enum store_state state)
{
    static const char *const texts[STORE_STATE_COUNT] = {
#define STATE(name, text) [STORE_##name] = (text),
        STORE_STATES(STATE)
#undef STATE
    };
    ASSERT(state < STORE_STATE_COUNT);
    return texts[state];
}
