import { languageTag, wellFormedText } from '../fields.ts';
import { z } from 'zod';

/** Results of one request. */
const RESULTS_MAX = 64;

/** UTF-16 units of an app's error. */
const ERROR_MAX_CHARACTERS = 1_000;

const resultSchema = z
  .strictObject({
    callId: z
      .string()
      .regex(/^t_[1-9]\d{0,9}_c\d{1,5}$/, 'must be the toolCallId of the stream, such as t_17_c0'),
    output: z.unknown().optional().describe('What the function gave: any JSON.'),
    error: wellFormedText
      .min(1)
      .max(ERROR_MAX_CHARACTERS)
      .optional()
      .describe('What went wrong, for the model.'),
    approved: z
      .boolean()
      .optional()
      .describe('Of a tool of the server that waits for the user: whether it may run.'),
  })
  .refine(
    ({ output, error, approved }) =>
      [output, error, approved].filter((value) => value !== undefined).length === 1,
    'needs exactly one of output, error and approved',
  )
  // The same for who reads the OpenAPI document.
  .meta({
    oneOf: [{ required: ['output'] }, { required: ['error'] }, { required: ['approved'] }],
  });

/** What the app says to calls of the model, each once. */
export const toolResultsSchema = z
  .array(resultSchema)
  .min(1)
  .max(RESULTS_MAX)
  .refine(
    (results) => new Set(results.map(({ callId }) => callId)).size === results.length,
    'must name each call once',
  );

export const toolResultsBody = z.strictObject({
  results: toolResultsSchema,
  locale: languageTag.optional(),
});
