import { z } from 'zod';

/* What callers get. The tests hold every answer to them. */

export const time = z.iso.datetime().describe('RFC 3339, UTC.');
export const tokens = z.number().nonnegative();
