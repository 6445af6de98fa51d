import { jsonFault } from '#shared/lib/json-text.ts';
import { wellFormedText } from '../fields.ts';
import { TOOL_NAME_MAX_CHARACTERS, TOOLS_MAX, TOOLS_MAX_BYTES } from '#shared/lib/limits.ts';
import { z } from 'zod';

/** What a model calls a function. */
const toolNameSchema = z
  .string()
  .max(TOOL_NAME_MAX_CHARACTERS)
  .regex(/^[A-Za-z]\w*$/, 'must be a letter, then letters, digits and _');

const parametersSchema = z
  .looseObject({ type: z.literal('object', 'must be "object"') })
  // Sent to the model with every call: what it cannot take would be refused for ever.
  .superRefine((parameters, checked) => {
    const fault = jsonFault(parameters);
    if (fault !== undefined) checked.addIssue(fault);
  })
  .describe('JSON Schema of the arguments, of the type object.');

const toolSchema = z.strictObject({
  name: toolNameSchema,
  description: wellFormedText.optional().describe('What it does and when to use it.'),
  parameters: parametersSchema,
  needsApproval: z
    .boolean()
    .optional()
    .describe('For the app: it asks its user first. The server does nothing with it.'),
  polled: z
    .boolean()
    .optional()
    .describe(
      'It is asked again and again until something has happened: equal calls of it are no loop.',
    ),
});

/** The functions that the app runs for the model. */
export const toolsSchema = z
  .array(toolSchema)
  .max(TOOLS_MAX)
  .refine(
    (tools) => new Set(tools.map(({ name }) => name)).size === tools.length,
    'must have names that differ',
  )
  .refine(
    (tools) => Buffer.byteLength(JSON.stringify(tools)) <= TOOLS_MAX_BYTES,
    `may have ${TOOLS_MAX_BYTES} bytes as JSON; shorten descriptions and schemas`,
  );
