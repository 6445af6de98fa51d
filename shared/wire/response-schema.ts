import { jsonFault } from '#shared/lib/json-text.ts';
import { safeParse } from '#shared/lib/safe-parse.ts';
import { findBrokenRef, schemaForm } from '#shared/lib/json-schema.ts';
import { z } from 'zod';
import { RESPONSE_SCHEMA_MAX_BYTES } from '#shared/lib/limits.ts';

/**
 * JSON Schema (2020-12) of an answer, one that answers can be held against. Its size and depth are told before what is
 * in it is looked at.
 */
export const responseSchemaSchema = z
  .record(z.string(), z.unknown())
  .superRefine((schema, checked) => {
    const message = jsonFault(schema);
    if (message !== undefined) checked.addIssue({ code: 'custom', message, continue: false });
  })
  .refine((schema) => Buffer.byteLength(JSON.stringify(schema)) <= RESPONSE_SCHEMA_MAX_BYTES, {
    error: `may have ${RESPONSE_SCHEMA_MAX_BYTES} bytes as JSON; leave out descriptions or split the question`,
    abort: true,
  })
  .superRefine((schema, checked) => {
    // Of thousands of problems the first is enough.
    const { error } = safeParse(schemaForm, schema, { reportInput: true, abortEarly: true });
    for (const issue of error?.issues.slice(0, 1) ?? []) checked.addIssue({ ...issue });
    const broken = error ? undefined : findBrokenRef(schema);
    if (broken !== undefined)
      checked.addIssue(
        `refers to "${broken.slice(0, 256).toWellFormed()}", which it does not define`,
      );
  })
  .describe('JSON Schema (2020-12) that the answer has to fit.');
