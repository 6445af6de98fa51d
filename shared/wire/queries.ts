import { z } from 'zod';
import {
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PAGE_TOKEN_MAX_CHARACTERS,
  SEARCH_TEXT_MAX_CHARACTERS,
} from './limits.ts';
import { wellFormedText } from './fields.ts';

const wholeNumber = z
  .string()
  .regex(/^\d{1,10}$/, 'must be a whole number')
  .transform(Number);

export const noQuery = z.strictObject({});

/** Larger sizes are capped, 0 asks for the default (AIP-158). */
const pageSizeSchema = wholeNumber
  .transform((size) => (size === 0 ? PAGE_SIZE_DEFAULT : Math.min(size, PAGE_SIZE_MAX)))
  .default(PAGE_SIZE_DEFAULT)
  .describe(
    `Entries of a page; 0 or none: ${PAGE_SIZE_DEFAULT}, more than ${PAGE_SIZE_MAX} are ${PAGE_SIZE_MAX}.`,
  );

const pageQuery = {
  pageSize: pageSizeSchema,
  pageToken: z
    .string()
    .min(1)
    .max(PAGE_TOKEN_MAX_CHARACTERS)
    .optional()
    .describe('`nextPageToken` of the page before, with the same parameters; none begins.'),
};

export const listQuery = z.strictObject(pageQuery);
export const listConversationsQuery = z.strictObject({
  ...pageQuery,
  showDeleted: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('true: those in the bin too.'),
});
export const listMessagesQuery = z.strictObject({
  ...pageQuery,
  order: z.enum(['asc', 'desc']).default('asc').describe('asc: the oldest first.'),
  afterSeq: wholeNumber
    .default(0)
    .describe('Only what comes after this turn: what a second device has missed.'),
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
  generation: wholeNumber.optional().describe('An earlier one; none: the present.'),
});
