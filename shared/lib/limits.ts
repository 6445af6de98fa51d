/* Bounds of the wire; the byte limits of messages stand in functions/src/config/constants.ts. */

/** Entries of a page when the caller names no size, and the most that are given (AIP-158 caps, not refuses). */
export const PAGE_SIZE_DEFAULT = 30;
export const PAGE_SIZE_MAX = 100;

/** UTF-16 units of a page token; ours, signature and the longest key id included, have fewer than 600. */
export const PAGE_TOKEN_MAX_CHARACTERS = 1_024;

/** Levels of arrays and objects in a request body. The deepest valid request has five. */
export const JSON_DEPTH_MAX = 32;

/**
 * Values in a request body: texts, numbers, arrays, objects and so on. Each costs some hundred bytes of memory and some
 * microseconds while it is checked, however few bytes it has on the wire; a chat of 1,000 messages has 15,000.
 */
export const JSON_VALUES_MAX = 20_000;

/** Fields of one object in a request body: a name of its own costs several times as much as an entry of a list. */
export const JSON_FIELDS_MAX = 2_000;

/** JSON bytes of the schema of an answer: it is stored with the turn and sent with each of its calls. */
export const RESPONSE_SCHEMA_MAX_BYTES = 32 * 1024;

/** Parts of one message. A photo album fits; a million empty parts do not. */
export const PARTS_MAX = 100;

/** Messages, or items, of a dialogue that a client tells: two a turn, so far more than a model's window holds. */
export const DIALOGUE_MAX = 10_000;

/** UTF-16 units of a conversation's title: one line of a list. */
export const TITLE_MAX_CHARACTERS = 256;

/**
 * Entries of a conversation's metadata, UTF-16 units of a key and of a value; the conversation document must stay
 * small.
 */
export const METADATA_ENTRIES_MAX = 32;
export const METADATA_KEY_MAX_CHARACTERS = 64;
export const METADATA_VALUE_MAX_CHARACTERS = 1_024;

/** UTF-16 units of a system instruction; the same bound as SYSTEM_INSTRUCTION of the deployment. */
export const SYSTEM_INSTRUCTION_MAX_CHARACTERS = 200_000;

/** UTF-16 units of what a server says of one conversation: beside the longest system instruction it fits into the document. */
export const SERVER_INSTRUCTION_MAX_CHARACTERS = 16_000;

/**
 * Lowest threshold that a caller may set, in tokens: every compaction costs model calls, and one token
 * would buy a compaction with each message.
 */
export const THRESHOLD_MIN_TOKENS = 1_000;

/** Bounds of a context window that a caller may set, in tokens; ten times the largest there is. */
export const WINDOW_MIN_TOKENS = 1_000;
export const WINDOW_MAX_TOKENS = 20_000_000;

/** UTF-16 units of what a manual compaction shall pay attention to: it is part of every prompt of that run. */
export const FOCUS_MAX_CHARACTERS = 1_000;

/** UTF-16 units of a URL of a file part. */
export const FILE_URL_MAX_CHARACTERS = 2_048;

/** Milliseconds of silence after which a stream sends a comment: OkHttp gives up reading after 10 s. */
export const HEARTBEAT_INTERVAL_MS = 8_000;

/** UTF-16 units of what is searched for: a line, not a text. */
export const SEARCH_TEXT_MAX_CHARACTERS = 200;

/** UTF-16 units of the reason and of the comment of a person who rates something. */
export const REASON_MAX_CHARACTERS = 100;
export const COMMENT_MAX_CHARACTERS = 2_000;

/** UTF-16 units of a push token; those of FCM have fewer than 300. */
export const DEVICE_TOKEN_MAX_CHARACTERS = 4_096;

/** Tools of one conversation that the app runs. */
export const TOOLS_MAX = 32;

/** JSON of all of them together, bytes of UTF-8: they are sent with every call of the model. */
export const TOOLS_MAX_BYTES = 16 * 1024;

/** UTF-16 units of a tool's name: what models take. */
export const TOOL_NAME_MAX_CHARACTERS = 64;
