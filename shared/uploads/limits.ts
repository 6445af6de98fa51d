/**
 * Bytes of one upload, of the uploads of one message, and of the uploads that one request to a model carries
 * inline. One number: whatever was taken can be sent. As base64 it is 28 MB; Gemini takes 100 MB, PDFs of 50.
 */
export const FILES_MAX_BYTES = 20 * 1_024 * 1_024;

/** How long an upload address can be used: a slow phone, and no longer. */
export const UPLOAD_ADDRESS_SECONDS = 15 * 60;

/** How long a file that nobody has sent is kept, in milliseconds. */
export const UNSENT_KEPT_MS = 24 * 60 * 60_000;

/** UTF-16 units of a file's name. */
export const FILE_NAME_MAX_CHARACTERS = 255;

/** Lines of a text file, and UTF-16 units of one of its lines, that are said to the model: Gemini CLI's. */
export const TEXT_FILE_LINES = 2_000;
export const TEXT_FILE_LINE_CHARACTERS = 2_000;

/**
 * UTF-16 units of a text file that are said in all, as many as 2,000 lines of code have. Short lines come to
 * less; without it a file of long lines would be four million, more than a turn and most windows hold.
 */
export const TEXT_FILE_CHARACTERS = 200_000;
