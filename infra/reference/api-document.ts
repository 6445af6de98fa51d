import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { type OpenApiDocument, buildOpenApiDocument } from './openapi/build-document.ts';
import type { Parameter, Operation } from './openapi/path-item.ts';
import type { JsonSchema } from './openapi/schemas.ts';

/** The name that a `$ref` points at, if it is one. */
const referencedName = ({ $ref }: JsonSchema): string | undefined =>
  $ref?.replace('#/components/schemas/', '');

const anchor = (name: string) => `[${name}](#${name.toLowerCase()})`;

const asSchema = (schema: JsonSchema | boolean | undefined): JsonSchema =>
  typeof schema === 'object' ? schema : {};

const itemsOf = ({ items }: JsonSchema): JsonSchema =>
  asSchema(Array.isArray(items) ? undefined : items);

const joined = (schemas: readonly (JsonSchema | boolean)[]) =>
  [...new Set(schemas.map((schema) => typeText(asSchema(schema))))].join(' or ');

/** What a value is, in a few words of a table: `list of [Message](#message)`. */
function typeText(schema: JsonSchema): string {
  const name = referencedName(schema);
  if (name !== undefined) return anchor(name);
  const choices = schema.properties ? undefined : (schema.anyOf ?? schema.oneOf);
  if (choices) return joined(choices);
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.type === 'array') return `list of ${typeText(itemsOf(schema))}`;
  if (typeof schema.contentSchema === 'object')
    return `${String(schema.type)} of ${typeText(schema.contentSchema)}`;
  if (schema.format !== undefined) return `${String(schema.type)} (${schema.format})`;
  return typeof schema.type === 'string' ? schema.type : 'any';
}

/** The bounds of a value in words; '' where it has none. */
function boundsText(schema: JsonSchema): string {
  const said: [string, unknown][] = [
    ['at least', schema.minimum],
    ['above', schema.exclusiveMinimum],
    ['at most', schema.maximum],
    ['from', schema.minLength === undefined ? undefined : `${schema.minLength} characters`],
    ['up to', schema.maxLength === undefined ? undefined : `${schema.maxLength} characters`],
    ['from', schema.minItems === undefined ? undefined : `${schema.minItems} entries`],
    ['up to', schema.maxItems === undefined ? undefined : `${schema.maxItems} entries`],
    ['default', schema.default === undefined ? undefined : `\`${JSON.stringify(schema.default)}\``],
  ];
  return said
    .filter(([, value]) => value !== undefined)
    .map(([word, value]) => `${word} ${String(value)}`)
    .join(', ');
}

interface Field {
  /** `message.parts[].text`. */
  path: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** The branches of a union that are objects of this place. */
const branches = (schema: JsonSchema): JsonSchema[] =>
  (schema.anyOf ?? schema.oneOf ?? []).map(asSchema).filter(({ $ref }) => $ref === undefined);

/** Every field of a schema, those of objects inside included; what has a name of its own is not opened. */
function listFields(schema: JsonSchema, prefix = ''): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, each]): Field[] => {
    const property = asSchema(each);
    const path = `${prefix}${name}`;
    const isRequired = (schema.required ?? []).includes(name);
    return [{ path, schema: property, isRequired }, ...fieldsBelow(property, path)];
  });
  const ofBranches = branches(schema).flatMap((branch) => listFields(branch, prefix));
  const seen = new Set<string>();
  return [...own, ...ofBranches].filter(({ path, schema: { const: kind } }) => {
    const isNew = !seen.has(path) || kind !== undefined;
    seen.add(path);
    return isNew;
  });
}

function fieldsBelow(schema: JsonSchema, path: string): Field[] {
  if (schema.type === 'array') {
    const items = itemsOf(schema);
    return items.$ref === undefined ? listFields(items, `${path}[].`) : [];
  }
  return schema.$ref === undefined ? listFields(schema, `${path}.`) : [];
}

const chatRoutes = await loadRoutes();

/** The document that the service answers `GET /v1/openapi.json` with. */
export const servedDocument = () => buildOpenApiDocument(chatRoutes);

/** The text of `docs/reference/openapi.json`. */
export const openApiText = () => `${JSON.stringify(servedDocument(), null, 2)}\n`;

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const table = (header: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`);

const sentence = (schema: JsonSchema, description = schema.description) =>
  [description, boundsText(schema)].filter((text) => text !== undefined && text !== '').join(' ');

function parameterTable(parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  return [
    '**Parameters**',
    '',
    ...table(
      ['Name', 'In', 'Type', 'Meaning'],
      parameters.map(({ name, in: place, required, schema, description }) => [
        `\`${name}\``,
        place === 'query' && required ? 'query, required' : place,
        typeText(schema),
        sentence(schema, description),
      ]),
    ),
    '',
  ];
}

const fieldTable = (schema: JsonSchema): string[] => {
  const fields = listFields(schema);
  if (fields.length === 0) return [typeText(schema), ''];
  return [
    ...table(
      ['Field', 'Type', 'Meaning'],
      fields.map(({ path, schema: field, isRequired }) => [
        `\`${path}\`${isRequired ? '' : '?'}`,
        typeText(field),
        sentence(field),
      ]),
    ),
    '',
  ];
};

const namedSchema = ({ components }: OpenApiDocument, schema: JsonSchema): JsonSchema =>
  components.schemas[referencedName(schema) ?? ''] ?? schema;

function bodyPart(document: OpenApiDocument, { requestBody }: Operation): string[] {
  if (!requestBody) return [];
  const { schema } = requestBody.content['application/json'];
  return [
    `**Body**${requestBody.required ? '' : ' (may be left out)'}`,
    '',
    ...fieldTable(namedSchema(document, schema)),
  ];
}

interface Reply {
  content?: Record<string, { schema: JsonSchema }>;
  'x-reasons'?: string[];
}

const isError = (code: string) => Number(code) >= 400;

/** What the events of a stream are; of those without a name of their own, what their `data` says. */
function eventsText(event: JsonSchema): string {
  const { contentSchema } = asSchema(event.properties?.['data']);
  return typeof contentSchema === 'object'
    ? `events, the \`data\` of each a ${typeText(contentSchema)}`
    : `events, each a ${typeText(event)}`;
}

function replyRows(operation: Operation): string[][] {
  return Object.entries<Reply>(operation.responses)
    .filter(([code]) => !isError(code))
    .flatMap(([code, { content = {} }]) => {
      const media = Object.entries(content);
      if (media.length === 0) return [[code, '–', '–']];
      return media.map(([type, { schema }]) => [
        code,
        `\`${type}\``,
        type === 'text/event-stream' ? eventsText(schema) : typeText(schema),
      ]);
    });
}

const errorRows = (operation: Operation): string[][] =>
  Object.entries<Reply>(operation.responses)
    .filter(([code]) => isError(code))
    .map(([code, { 'x-reasons': reasons = [] }]) => [
      code,
      reasons.map((reason) => `\`${reason}\``).join(', '),
    ]);

const exampleIds: Readonly<Record<string, string>> = {
  conversationId: '0190a5d4-6b0d-7c52-8f4e-1a2b3c4d5e6f',
  turnId: 't_17',
  messageId: 'm_17',
  generation: '3',
  pinId: 'harbour',
  reason: 'USER_RPM',
  jobId: '0190a5d4-9c33-7d21-b6a7-6f7e8d9c0b1a',
};

/** A call of the operation that a shell runs as it stands, with `BASE` and `TOKEN` set. */
function curl(target: { method: string; path: string; operation: Operation }): string[] {
  const { method, path, operation } = target;
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => exampleIds[name] ?? 'example');
  const required = operation.parameters
    .filter(({ in: place, required: isRequired }) => place === 'query' && isRequired)
    .map(({ name }) => `${name}=example`);
  const query = required.length === 0 ? '' : `?${required.join('&')}`;
  const example = operation.requestBody?.content['application/json'].example;
  const isOpen = operation.security.length === 0;
  const words = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$BASE${address}${query}"`,
    ...(isOpen ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(example === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(example)}'`]),
  ];
  return ['```sh', words.join(' \\\n  '), '```', ''];
}

function operationPart(
  document: OpenApiDocument,
  target: { method: string; path: string; operation: Operation },
): string[] {
  const { method, path, operation } = target;
  return [
    `### ${method} ${path}`,
    '',
    operation.description,
    '',
    ...parameterTable(operation.parameters),
    ...bodyPart(document, operation),
    '**Replies**',
    '',
    ...table(['Code', 'Form', 'What'], replyRows(operation)),
    '',
    '**Errors**',
    '',
    ...table(['Code', 'Reasons'], errorRows(operation)),
    '',
    ...curl(target),
  ];
}

const operationsOf = (document: OpenApiDocument) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );

function chapter(document: OpenApiDocument, { name, description }: OpenApiDocument['tags'][0]) {
  const operations = operationsOf(document).filter(({ operation }) =>
    operation.tags.includes(name),
  );
  const parts = operations.flatMap((target) => operationPart(document, target));
  return [`## ${name}`, '', description, '', ...parts];
}

/** The text of `docs/reference/api.md`: every route with what it takes and answers, from the document. */
export function apiDocument(document: OpenApiDocument): string {
  const objects = Object.entries(document.components.schemas)
    .filter(([name]) => !name.endsWith('Request'))
    .flatMap(([name, schema]) => [
      `### ${name}`,
      '',
      ...(schema.description === undefined ? [] : [schema.description, '']),
      ...fieldTable(schema),
    ]);
  const lines = [
    '# The API, route by route',
    '',
    'Written by `npm run generate` from the route declarations; the same as [openapi.json](openapi.json), which the service answers `GET /v1/openapi.json` with. A `?` behind a field says that it may be missing. In the examples `BASE` is the address of the function and `TOKEN` an ID token of Firebase Auth.',
    '',
    String(document.info['description']),
    '',
    ...document.tags.flatMap((tag) => chapter(document, tag)),
    '## Objects',
    '',
    ...objects,
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}
