import { z } from 'zod';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, PAGE_TOKEN_MAX_CHARACTERS } from '../limits.ts';

export const wholeNumber = z
  .string()
  .regex(/^\d{1,10}$/, 'must be a whole number')
  .transform(Number);

export const noQuery = z.strictObject({});

/** Larger sizes are capped, 0 asks for the default (AIP-158). */
const pageSizeSchema = wholeNumber
  .transform((size) => (size === 0 ? PAGE_SIZE_DEFAULT : Math.min(size, PAGE_SIZE_MAX)))
  .default(PAGE_SIZE_DEFAULT);

const pageQuery = {
  pageSize: pageSizeSchema,
  pageToken: z.string().min(1).max(PAGE_TOKEN_MAX_CHARACTERS).optional(),
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
  order: z.enum(['asc', 'desc']).default('asc'),
  afterSeq: wholeNumber.default(0),
});

export const exportQuery = z.strictObject({
  format: z.enum(['jsonl', 'markdown']).default('jsonl'),
});

export const contextQuery = z.strictObject({ generation: wholeNumber.optional() });
