/** Tools of one round that run at the same time. */
export const CALLS_AT_ONCE = 5;

/** Calls of one round that are run, by server and app together; what a model asks for beyond them gets an error response. */
export const CALLS_PER_ROUND = 32;

/** JSON of one output, bytes of UTF-8. */
export const OUTPUT_MAX_BYTES = 1024 * 1024;

/**
 * JSON of all rounds of one turn, bytes of UTF-8: they are stored in one commit (3.5 MiB), at the end together
 * with an answer and frames. What does not fit becomes an error response.
 */
export const ROUNDS_MAX_BYTES = 1536 * 1024;

/** UTF-16 units of the message in an error response. */
export const ERROR_MAX_CHARACTERS = 1_000;

/**
 * JSON of what one frame shows of arguments or of an output, bytes of UTF-8: a chunk of a stream holds 256 KiB.
 * The transcript has all of it.
 */
export const SHOWN_MAX_BYTES = 64 * 1024;

/** UTF-16 units that are shown of what is longer. */
export const SHOWN_BEGINNING_CHARACTERS = 4_000;
