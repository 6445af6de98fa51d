import { jsonFault } from '../json-text.ts';
import { findSchemaFault } from '../json-schema.ts';
import { z } from 'zod';
import { utf8Length } from '../store/names.ts';
import { RESPONSE_SCHEMA_MAX_BYTES } from './limits.ts';

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
  .refine((schema) => utf8Length(JSON.stringify(schema)) <= RESPONSE_SCHEMA_MAX_BYTES, {
    error: `may have ${RESPONSE_SCHEMA_MAX_BYTES} bytes as JSON; leave out descriptions or split the question`,
    abort: true,
  })
  .superRefine((schema, checked) => {
    const fault = findSchemaFault(schema);
    if (fault) checked.addIssue({ code: 'custom', ...fault });
  })
  .describe('JSON Schema (2020-12) that the answer has to fit.');
