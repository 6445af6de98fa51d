import { z } from 'zod';

/* What callers get. The tests hold every answer to them. */

export const time = z.iso.datetime().describe('RFC 3339, UTC.');
export const tokens = z.number().nonnegative();
export const wholePromptTokens = tokens.describe(
  'Of the whole prompt, system instruction and tools included; before and after by the same counter. After a summary that was not swapped in, what the context would have become.',
);
