import { z } from 'zod';
import { jsonFault } from '#shared/bounded-json.ts';
import { utf8Length } from '#shared/store/names.ts';
import { RESPONSE_SCHEMA_MAX_BYTES } from './limits.ts';

const TYPE_NAMES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
const typeName = z.enum(TYPE_NAMES);

/** A schema below another one; the keywords that decide a value's form are checked, others may stand beside them. */
const subschema: z.ZodType = z.lazy(() => z.union([z.boolean(), z.looseObject(keywords)]));

const keywords = {
  type: z
    .union([typeName, z.array(typeName).min(1)], {
      error: `must be one of: ${TYPE_NAMES.join(', ')}, or a list of these`,
    })
    .optional(),
  properties: z.record(z.string(), subschema).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: subschema.optional(),
  items: subschema.optional(),
  prefixItems: z.array(subschema).optional(),
  anyOf: z.array(subschema).optional(),
  oneOf: z.array(subschema).optional(),
  allOf: z.array(subschema).optional(),
  enum: z.array(z.unknown()).optional(),
  $defs: z.record(z.string(), subschema).optional(),
  $ref: z.string().startsWith('#', 'must begin with #: no other document is read').optional(),
};

/**
 * JSON Schema (2020-12) of an answer. Shallow enough to be stored and sent: what nests too deep is told before what is
 * in it is looked at.
 */
export const responseSchemaSchema = z
  .record(z.string(), z.unknown())
  .superRefine((schema, checked) => {
    const fault = jsonFault(schema);
    if (fault !== undefined) checked.addIssue({ code: 'custom', message: fault, fatal: true });
  })
  .pipe(z.looseObject(keywords))
  .refine(
    (schema) => utf8Length(JSON.stringify(schema)) <= RESPONSE_SCHEMA_MAX_BYTES,
    `may have ${RESPONSE_SCHEMA_MAX_BYTES} bytes as JSON; leave out descriptions or split the question`,
  )
  .describe('JSON Schema (2020-12) that the answer has to fit.');
