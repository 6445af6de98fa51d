import { noBody, type Route } from '#functions/chat/route.ts';
import {
  compactionDetailResponse,
  compactionRecordResponse,
} from '#shared/wire/resources/compaction.ts';
import { contextObjectResponse } from '#shared/wire/resources/context-object.ts';
import {
  contextItemResponse,
  policyResponse,
  shrinkageResponse,
} from '#shared/wire/resources/context.ts';
import {
  conversationResponse,
  conversationWithContextResponse,
  erasingResponse,
} from '#shared/wire/resources/conversations.ts';
import { deviceResponse } from '#shared/wire/resources/devices.ts';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { memoryNoteResponse } from '#shared/wire/resources/memories.ts';
import { messageResponse } from '#shared/wire/resources/messages.ts';
import { pinResponse } from '#shared/wire/resources/pins.ts';
import { streamChunkResponse, streamResponse } from '#shared/wire/resources/streams.ts';
import { turnResponse, turnUsageResponse } from '#shared/wire/resources/turns.ts';
import { uploadResponse } from '#shared/wire/resources/uploads.ts';
import { z } from 'zod';

/** The forms of a union by the values of the field that tells them apart. */
function forms(schema: z.ZodType): [value: string, form: z.ZodType][] {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return [];
  const { discriminator } = schema.def;
  return schema.options.flatMap((form): [string, z.ZodType][] => {
    const field = form instanceof z.ZodObject ? form.shape[discriminator] : undefined;
    return field instanceof z.ZodLiteral && form instanceof z.ZodType
      ? [[String(field.value), form]]
      : [];
  });
}

/** `StreamChunkTextDelta` for the form `text-delta` of StreamChunk. */
const formName = (union: string, value: string) =>
  `${union}${value.split('-').map(pascal).join('')}`;

/** A named union with its forms, each under a name of its own: generators call them by it. */
const withForms = ([name, schema]: readonly [string, z.ZodType]): [string, z.ZodType][] => [
  [name, schema],
  ...forms(schema).map(([value, form]): [string, z.ZodType] => [formName(name, value), form]),
];

/** Says which field tells the forms of a named union apart; `prefix` stands before names in references. */
function describeForms(
  [name, schema]: readonly [string, z.ZodType],
  prefix: string,
): z.core.JSONSchema.BaseSchema {
  const values = forms(schema).map(([value]) => [value, `${prefix}${formName(name, value)}`]);
  if (!(schema instanceof z.ZodDiscriminatedUnion) || values.length === 0) return {};
  const { discriminator: propertyName } = schema.def;
  return { discriminator: { propertyName, mapping: Object.fromEntries(values) } };
}

const pascal = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** A JSON Schema of the document: draft 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Names of what several routes answer with; a route's own reply is named after its operation. */
const sharedResponses: Readonly<Record<string, z.ZodType>> = {
  Conversation: conversationResponse,
  ConversationWithContext: conversationWithContextResponse,
  ContextObject: contextObjectResponse,
  ContextItem: contextItemResponse,
  Compaction: compactionRecordResponse,
  CompactionDetail: compactionDetailResponse,
  Device: deviceResponse,
  Erasing: erasingResponse,
  ExportLine: exportLineResponse,
  Memory: memoryNoteResponse,
  Message: messageResponse,
  Pin: pinResponse,
  Policy: policyResponse,
  Shrinkage: shrinkageResponse,
  StreamChunk: streamChunkResponse,
  Turn: turnResponse,
  Upload: uploadResponse,
  Usage: turnUsageResponse,
};

const REFERENCE = '#/components/schemas/';

/** A schema that stands under `components` by its name. */
export const reference = (name: string): JsonSchema => ({ $ref: `${REFERENCE}${name}` });

/** Whether `body` takes `{}` and nothing more, or nothing at all. */
export const takesNoBody = ({ method, body }: Pick<Route, 'method' | 'body'>): boolean =>
  method === 'GET' || body === noBody || (isObject(body) && Object.keys(body.shape).length === 0);

const isObject = (schema: z.ZodType): schema is z.ZodObject => schema instanceof z.ZodObject;

/** Bounds that every whole number has say nothing. */
function withoutSafeBounds(schema: JsonSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/**
 * Generators for Java make code that does not compile of `type: boolean` with a `const`, and of a field whose
 * type is `null`.
 */
function withoutConstantTypes(schema: JsonSchema): void {
  if (typeof schema.const === 'boolean') delete schema.type;
  for (const property of Object.values(schema.properties ?? {}))
    if (typeof property === 'object' && property.type === 'null') {
      delete property.type;
      property.const = null;
    }
}

/**
 * What zod writes, made readable: no bounds of safe integers, no patterns that only repeat a format, and
 * replies that may gain fields.
 */
const readable =
  (io: 'input' | 'output') =>
  ({
    zodSchema,
    jsonSchema: schema,
  }: {
    zodSchema: z.core.$ZodType;
    jsonSchema: JsonSchema;
  }): void => {
    // A field that must not be there.
    if (zodSchema instanceof z.ZodUndefined) schema.not = {};
    withoutSafeBounds(schema);
    withoutConstantTypes(schema);
    if (schema.type === 'boolean' && schema.default === 'false') schema.default = false;
    if (schema.format === 'date-time' || schema.type === 'integer') delete schema.pattern;
    // Its keyword in draft 2020-12 is contentEncoding; `format` knows no base64.
    if (schema.format === 'base64') delete schema.format;
    if (io === 'output' && schema.additionalProperties === false)
      delete schema.additionalProperties;
  };

const without = (schema: JsonSchema): JsonSchema => {
  const { $schema: _, $id: __, ...rest } = schema;
  return rest;
};

/** The JSON Schema of what a client sends in one place: path, query. Nothing in it is shared. */
export const inputSchema = (schema: z.ZodType): JsonSchema =>
  without(
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: readable('input') }),
  );

/** Named schemas of one direction, and which name a zod schema goes by. */
interface Named {
  schemas: Record<string, JsonSchema>;
  nameOf: (schema: z.ZodType) => string | undefined;
}

function named(given: readonly (readonly [string, z.ZodType])[], io: 'input' | 'output'): Named {
  const registry = z.registry<{ id: string }>();
  const entries = given.flatMap(withForms);
  for (const [id, schema] of entries) if (!registry.has(schema)) registry.add(schema, { id });
  const unions = new Map(given.map((entry) => [entry[0], describeForms(entry, REFERENCE)]));
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: (id) => `${REFERENCE}${id}`,
    override: readable(io),
  });
  return {
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [
        name,
        { ...without(schema), ...unions.get(name) },
      ]),
    ),
    nameOf: (schema) => registry.get(schema)?.id,
  };
}

export interface Components {
  schemas: Record<string, JsonSchema>;
  /** Of the body that a route takes; undefined where it takes none. */
  bodyOf: (route: Route) => JsonSchema | undefined;
  /** Of the JSON, or the line of JSON, that a route answers with; undefined where it has none. */
  replyOf: (route: Route) => JsonSchema | undefined;
}

const hasReply = ({ response }: Route) => response !== noBody && response !== streamResponse;

/** Every schema of the routes under a name: equal ones once, the shared ones by reference. */
export function toComponents(routes: readonly Route[]): Components {
  const requests = named(
    routes
      .filter((route) => !takesNoBody(route))
      .map(({ operation, body }) => [`${pascal(operation)}Request`, body]),
    'input',
  );
  const replies = named(
    [
      ...Object.entries(sharedResponses),
      ...routes
        .filter(hasReply)
        .map(({ operation, response }): [string, z.ZodType] => [
          `${pascal(operation)}Response`,
          response,
        ]),
    ],
    'output',
  );
  const referenceTo = (name: string | undefined) =>
    name === undefined ? undefined : reference(name);
  return {
    schemas: { ...requests.schemas, ...replies.schemas },
    bodyOf: (route) => (takesNoBody(route) ? undefined : referenceTo(requests.nameOf(route.body))),
    replyOf: (route) => (hasReply(route) ? referenceTo(replies.nameOf(route.response)) : undefined),
  };
}
