/* The JSON schemas of answers, for openapi.c only, and the schemas that words and answers have in common. */
#ifndef LAUD_HTTP_OPENAPI_SCHEMAS_H
#define LAUD_HTTP_OPENAPI_SCHEMAS_H

#define NAME_SCHEMA "{\"type\":\"string\",\"pattern\":\"^[a-z][a-z0-9_-]{0,31}$\"}"

#define ID_SCHEMA      "{\"$ref\":\"#/components/schemas/Id\"}"
#define ITEM_SCHEMA    "{\"$ref\":\"#/components/schemas/Item\"}"
#define COMMENT_SCHEMA "{\"$ref\":\"#/components/schemas/CommentItem\"}"

#define CARD_SCHEMA   "{\"$ref\":\"#/components/schemas/Card\"}"
#define CURSOR_SCHEMA "{\"type\":[\"string\",\"null\"]}"
#define STATE_SCHEMA  "{\"enum\":[\"visible\",\"pending\",\"hidden\",\"shadow\",\"deleted\"]}"

/* The end of the document: how tokens are shown, and all schemas that the rest refers to. */
extern const char openapi_components[];

#endif
