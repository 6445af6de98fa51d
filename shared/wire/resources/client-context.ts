import { isTimeZone } from '#shared/conversation/documents/client-context.ts';
import {
  CONTEXT_VALUE_MAX_CHARACTERS,
  contextBytes,
} from '#shared/conversation/describe-client.ts';
import { boundedRecord, wellFormedText } from '../fields.ts';
import { z } from 'zod';

/** Values of one context, and UTF-16 units of their names. */
const CONTEXT_VALUES_MAX = 32;
const CONTEXT_NAME_MAX_CHARACTERS = 64;

/** UTF-16 units of the locale, the version and the screen, which are words. */
const CONTEXT_WORD_MAX_CHARACTERS = 256;

/** UTF-8 bytes of a context as a prompt says it: it is stored in the turn's document, beside question and answer. */
const CONTEXT_MAX_BYTES = 64 * 1024;

/** Files of one context: what editors keep open, and a bound; UTF-16 units of a path. */
const OPEN_FILES_MAX = 100;
const OPEN_FILE_PATH_MAX_CHARACTERS = 1_024;

const word = wellFormedText.min(1).max(CONTEXT_WORD_MAX_CHARACTERS);

const valueName = z
  .string()
  .max(CONTEXT_NAME_MAX_CHARACTERS)
  .regex(
    /^(?:[A-Za-z0-9.-][\w.-]*|_(?:[A-Za-z0-9.-][\w.-]*)?)$/,
    'names are letters, digits, _, . and -, and do not begin with __',
  );

const valuesSchema = boundedRecord(
  valueName,
  z.union([wellFormedText, z.array(wellFormedText)], {
    error: 'must be a text or a list of texts',
  }),
  CONTEXT_VALUES_MAX,
).describe(
  `Whatever else helps; at most ${CONTEXT_VALUES_MAX} entries. Of a text more than ${CONTEXT_VALUE_MAX_CHARACTERS} characters are cut, of a list the newest entries, which stand last, are kept.`,
);

const position = z.number().int().min(1).max(10_000_000);

const openFileSchema = z.strictObject({
  path: wellFormedText.min(1).max(OPEN_FILE_PATH_MAX_CHARACTERS),
  focusTime: z.iso
    .datetime({ offset: true })
    .describe('When it had the focus last; the newest is told first.'),
  isActive: z
    .boolean()
    .optional()
    .describe('The user is in it. Counts only where no other file had the focus later.'),
  cursor: z.strictObject({ line: position, character: position }).optional(),
  selectedText: wellFormedText
    .optional()
    .describe(`More than ${CONTEXT_VALUE_MAX_CHARACTERS} characters are cut.`),
});

export const clientContextSchema = z
  .strictObject({
    timeZone: z
      .string()
      .max(CONTEXT_NAME_MAX_CHARACTERS)
      .refine(isTimeZone, 'must be an IANA time zone such as Asia/Seoul')
      // For who reads the OpenAPI document.
      .meta({ format: 'time-zone' })
      .optional()
      .describe(
        'IANA name of the user’s time zone, or an offset such as +09:00. Without one the time is told in the zone that the conversation’s messages named last, else in UTC.',
      ),
    locale: word.optional().describe('Language and region of the user, such as ko-KR.'),
    appVersion: word.optional(),
    screen: word.optional().describe('Where in the app the user is.'),
    openFiles: z
      .array(openFileSchema)
      .max(OPEN_FILES_MAX)
      .optional()
      .describe('Files that are open in an editor; the ten that had the focus last are told.'),
    values: valuesSchema.optional(),
  })
  .superRefine((context, checked) => {
    const bytes = contextBytes(context);
    if (bytes > CONTEXT_MAX_BYTES)
      checked.addIssue(
        `has ${bytes} bytes as it is told; at most ${CONTEXT_MAX_BYTES}. Send fewer or shorter values`,
      );
  })
  .describe(
    'What the model shall know of the moment in which the message is sent. It is told the date and time, and what has changed; no transcript shows it. Sent anew with every message.',
  );
