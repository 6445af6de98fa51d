import { withoutHidden } from '../text/plain-text.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';
import {
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PAGE_TOKEN_MAX_CHARACTERS,
  SEARCH_TEXT_MAX_CHARACTERS,
} from '#shared/lib/limits.ts';
import { z } from 'zod';

/* What callers get. The tests hold every answer to them. */

export const time = z.iso.datetime().describe('RFC 3339, UTC.');
export const tokens = z.number().nonnegative();
export const wholePromptTokens = tokens.describe(
  'Of the whole prompt, system instruction and tools included; before and after by the same counter. After a summary that was not swapped in, what the context would have become.',
);

/*
 * What callers send. Strict: an unknown field is refused by its path, because a misspelt one that is
 * ignored costs its author an afternoon, and one that is stored is a hole.
 */

// Without flags: JSON Schema, which the OpenAPI document is written in, has none.
const UUID =
  /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$/;
const UUID_4_OR_7 =
  /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[47][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$/;

/** Half of a surrogate pair is no text: the database and the model would refuse it for ever. NUL is text. */
export const wellFormedText = z
  .string()
  .refine((text) => text.isWellFormed(), 'holds half of a surrogate pair; send valid Unicode');

/** No control characters and no breaks of lines; without surrogates and flags, so that every reader of JSON Schema takes it. */
// eslint-disable-next-line no-control-regex -- they are what is refused
const ONE_LINE = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$/;

/** A line that lists show: what nobody sees of it, and what turns its direction, is taken out. */
export const shownLine = (characters: number) =>
  wellFormedText
    .overwrite(withoutHidden)
    .min(1)
    .max(characters)
    .regex(ONE_LINE, 'must be one line of text');

/** An object of at most `max` entries; they are counted before any of them is looked at, as those of a list are. */
export const boundedRecord = <Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  key: Key,
  value: Value,
  max: number,
) =>
  z.preprocess(
    (given, checked) => {
      if (typeof given === 'object' && given !== null && Object.keys(given).length > max)
        checked.addIssue(`may have at most ${max} entries`);
      return given;
    },
    z.record(key, value),
  );

/** iOS writes UUIDs in capitals; stored they are in lower case. */
export const conversationIdSchema = z
  .string()
  .regex(UUID_4_OR_7, 'must be a UUID, version 4 or 7, such as `crypto.randomUUID()` draws')
  .describe('Id of a conversation: a UUID, version 4 or 7.');

export const messageIdSchema = z
  .string()
  .regex(UUID, 'must be a UUID, such as `crypto.randomUUID()` draws')
  .describe('The client’s id of a message, a UUID. The same id again is the same message.');

export const requestIdSchema = z.string().regex(UUID, 'must be a UUID').toLowerCase();

/* What an address can only write as text; to readers of the OpenAPI document it is a number, or true or false. */

/** A whole number of at most so many digits. */
export const wholeNumber = (digits: number, error = 'must be a whole number') =>
  z
    .string()
    .regex(new RegExp(String.raw`^\d{1,${digits}}$`), error)
    .transform(Number)
    .meta({ type: 'integer', minimum: 0, maximum: 10 ** digits - 1 });

export const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', enum: undefined });

export const conversationParams = z.strictObject({ conversationId: conversationIdSchema });

export const turnParams = z.strictObject({
  conversationId: conversationIdSchema,
  turnId: z.string().regex(/^t_[1-9]\d{0,9}$/, 'must be a turn id such as t_17'),
});

/** A message by the client’s id, or an answer by its own. */
export const messageOrAnswerId = z.union([messageIdSchema, z.string().regex(/^m_[1-9]\d{0,9}$/)], {
  error: 'must be a message id (UUID) or an answer id such as m_17',
});

export const messageParams = z.strictObject({
  conversationId: conversationIdSchema,
  messageId: messageOrAnswerId,
});

export const compactionParams = z.strictObject({
  conversationId: conversationIdSchema,
  jobId: z
    .string()
    .regex(/^[\w-]{1,128}$/, 'must be a job id of the context object or of the list of compactions')
    .transform(toLowerUuid),
});

export const generationParams = z.strictObject({
  conversationId: conversationIdSchema,
  generation: z
    .string()
    .regex(/^[1-9]\d{0,7}$/, 'must be a whole number from 1')
    .transform(Number)
    .meta({ type: 'integer', minimum: 1, maximum: 99_999_999 }),
});

/** What a person speaks. */
export const languageTag = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'must be a language tag such as ko-KR');

/** Larger sizes are capped, 0 asks for the default (AIP-158). */
const pageSizeSchema = wholeNumber(10)
  .transform((size) => (size === 0 ? PAGE_SIZE_DEFAULT : Math.min(size, PAGE_SIZE_MAX)))
  .default(PAGE_SIZE_DEFAULT)
  .describe(
    `Entries of a page; 0 or none: ${PAGE_SIZE_DEFAULT}, more than ${PAGE_SIZE_MAX} are ${PAGE_SIZE_MAX}.`,
  );

export const pageQuery = {
  pageSize: pageSizeSchema,
  pageToken: z
    .string()
    .min(1)
    .max(PAGE_TOKEN_MAX_CHARACTERS)
    .optional()
    .describe('`nextPageToken` of the page before, with the same parameters; none begins.'),
};

export const listQuery = z.strictObject(pageQuery);
export const listMessagesQuery = z.strictObject({
  ...pageQuery,
  order: z.enum(['asc', 'desc']).default('asc').describe('asc: the oldest first.'),
  afterSeq: wholeNumber(10)
    .default(0)
    .describe('Only what comes after this turn: what a second device has missed.'),
  around: wholeNumber(10)
    .optional()
    .describe(
      'The page around this turn, as for a jump from a search hit: `nextPageToken` goes on from it, `previousPageToken` the other way.',
    ),
});

export const searchQuery = z.strictObject({
  ...pageQuery,
  q: wellFormedText
    .max(SEARCH_TEXT_MAX_CHARACTERS)
    .regex(/[\p{L}\p{N}]/u, 'must have a letter or a digit')
    .describe('Words to look for, in any order.'),
});

export const exportQuery = z.strictObject({
  format: z.enum(['jsonl', 'markdown']).default('jsonl'),
});

export const contextQuery = z.strictObject({
  generation: wholeNumber(10).optional().describe('An earlier one; none: the present.'),
});
