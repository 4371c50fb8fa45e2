#include "project/state.h"

#include "base/assert.h"

const char *projector_state_text(enum projector_state state)
{
    static const char *const texts[PROJECTOR_STATE_COUNT] = {
#define STATE(name, text) [PROJECTOR_##name] = (text),
        PROJECTOR_STATES(STATE)
#undef STATE
    };
    ASSERT(state < PROJECTOR_STATE_COUNT);
    return texts[state];
}
