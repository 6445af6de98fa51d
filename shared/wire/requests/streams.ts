import { z } from 'zod';

/** Id of the last event that a reader has; `-1` and fractions are no ids. */
export const cursorSchema = z
  .string()
  .regex(
    /^\d{1,15}$/,
    'must be the id of an event, a whole number; leave it out to begin at the first',
  )
  .transform(Number);
export const streamQuery = z.strictObject({
  startingAfter: cursorSchema
    .optional()
    .describe('Continues a stream after this event; goes before the header Last-Event-ID.'),
});
