import type { LinkedValues, Route } from '../route.ts';
import type { Operation } from './path-item.ts';
import type { JsonSchema, Schemas } from './schemas.ts';

/** An operation of the document with its place. */
interface Placed {
  method: string;
  path: string;
  operation: Operation;
}

/** `X-Turn-Id`, `turnId` and `turn_id` are one name. */
const nameKey = (name: string) => name.replace(/^x-/i, '').replaceAll(/[-_]/g, '').toLowerCase();

const singular = (name: string) => name.replace(/ies$/, 'y').replace(/s$/, '');

/** `/v1/pins/{pinId}:rate` is about `/v1/pins`, and so is `/v1/pins`. */
const collectionPath = (path: string) => path.replace(/:\w+$/, '').replace(/\/\{\w+\}$/, '');

/** `conversation` for what stands at `/v1/conversations/{conversationId}:fork`. */
const resourceName = (path: string) => singular(collectionPath(path).split('/').at(-1) ?? '');

const asSchema = (schema: JsonSchema | boolean | undefined): JsonSchema =>
  typeof schema === 'object' ? schema : {};

const resolved = (schema: JsonSchema, schemas: Schemas): JsonSchema =>
  schema.$ref === undefined ? schema : (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});

const branches = ({ anyOf = [], oneOf = [] }: JsonSchema) => [...anyOf, ...oneOf].map(asSchema);

/** The properties of an object, those of all branches of a union included. */
function properties(schema: JsonSchema, schemas: Schemas): Record<string, JsonSchema> {
  const target = resolved(schema, schemas);
  const below = branches(target).map((branch) => properties(branch, schemas));
  return Object.assign({}, ...below, target.properties);
}

/** The fields that an object always has. */
const requiredFields = (schema: JsonSchema, schemas: Schemas): readonly string[] =>
  resolved(schema, schemas).required ?? [];

/** Where the fields of an entry stand: in the object itself, or in the first entry of a list. */
function entry({ type, items, ...schema }: JsonSchema): { at: string; schema: JsonSchema } {
  if (type === 'array' && !Array.isArray(items)) return { at: '/0', schema: asSchema(items) };
  return { at: '', schema };
}

/**
 * The values of a JSON document by the key of the name that they go by: `turn.id` is a `turnId`, `pins[0].id` a
 * `pinId`, and an `id` at the top is one of what the path is about.
 */
function bodyValues(
  schema: JsonSchema,
  { schemas, path }: { schemas: Schemas; path: string },
): Map<string, string> {
  const values = new Map<string, string>();
  const add = (name: string, pointer: string) => {
    if (!values.has(nameKey(name))) values.set(nameKey(name), pointer);
  };
  const fields = Object.entries(properties(schema, schemas));
  for (const [name] of fields) add(name === 'id' ? `${resourceName(path)}Id` : name, `/${name}`);
  const always = requiredFields(schema, schemas);
  for (const [name, field] of fields.filter(([each]) => always.includes(each))) {
    const { at, schema: inner } = entry(field);
    const owner = name === 'data' ? resourceName(path) : singular(name);
    for (const below of Object.keys(properties(inner, schemas)))
      add(below === 'id' ? `${owner}Id` : below, `/${name}${at}/${below}`);
  }
  return values;
}

/*
 * Links say how operations follow each other: what an answer tells is a parameter of the next request, or
 * stands in its body. Most of them follow from names; the rest are declared on routes (`follows`).
 */

/** A link, with `requestBody` still as values. */
interface BodyLink extends LinkedValues {
  operationId: string;
}

/** A link as it stands in the document. */
interface Link {
  operationId: string;
  parameters?: Readonly<Record<string, string>>;
  description?: string;
}

/** Values of a body by their pointers: `data.conversationId`. */
function bodyFields(body: Readonly<Record<string, unknown>>, prefix = ''): [string, string][] {
  return Object.entries(body).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string'
      ? [[`${prefix}${name}`, value]]
      : bodyFields(Object(value), `${prefix}${name}.`),
  );
}

/** Generators for Java refuse a document whose links have bodies that are no text, so these are described. */
function describedLink({ requestBody = {}, ...link }: BodyLink): Link {
  const fields = bodyFields(requestBody).map(([name, value]) => `\`${name}\` is \`${value}\``);
  if (fields.length === 0) return link;
  return { ...link, description: `In the body, ${fields.join(' and ')}.` };
}

/** Runtime expressions of OpenAPI by `nameKey`. */
type Expressions = ReadonlyMap<string, string>;

/** A success of an operation, and what a client knows after it. */
interface Success {
  source: Placed;
  /** From the path of the request. */
  known: Expressions;
  /** From the answer, and what the client made up for the request. */
  learned: Expressions;
}

interface Content {
  content?: Record<string, { schema: JsonSchema }>;
}

interface Reply extends Content {
  headers?: Record<string, object>;
}

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

const jsonSchema = ({ content }: Content = {}) => content?.['application/json']?.schema;

/** Whether the client makes up the last id of the path, as it does to create or replace something. */
const namesItself = ({ method, path }: Placed) => method === 'put' && path.endsWith('}');

function knownAfter(source: Placed, response: Reply, schemas: Schemas) {
  const { operation, path } = source;
  const inPath = pathParameters(path).map((name): [string, string] => [
    nameKey(name),
    `$request.path.${name}`,
  ]);
  const known = new Map(namesItself(source) ? inPath.slice(0, -1) : inPath);
  const values = (schema: JsonSchema | undefined) =>
    schema ? [...bodyValues(schema, { schemas, path })] : [];
  const learned = new Map([
    ...inPath.slice(known.size),
    ...values(jsonSchema(operation.requestBody))
      .filter(([, pointer]) => pointer === '/id')
      .map(([key, pointer]): [string, string] => [key, `$request.body#${pointer}`]),
    ...Object.entries(response.headers ?? {})
      // Shared ones such as X-Request-Id name nothing that can be asked for.
      .filter(([, header]) => !('$ref' in header))
      .map(([name]): [string, string] => [nameKey(name), `$response.header.${name}`]),
    ...values(jsonSchema(response)).map(([key, pointer]): [string, string] => [
      key,
      `$response.body#${pointer}`,
    ]),
  ]);
  for (const key of known.keys()) learned.delete(key);
  return { source, known, learned };
}

/** What `name` of `target` is after a success; the answer may call it `pin` or `pinId`. */
function expression({ source, known, learned }: Success, target: Placed, name: string) {
  const key = nameKey(name);
  const isSibling =
    target.path.includes(`{${name}}`) &&
    collectionPath(source.path) === collectionPath(target.path);
  // A number such as a generation says only among its own kind what it counts.
  const keys = key.endsWith('id') ? [key] : [`${key}id`, ...(isSibling ? [key] : [])];
  const [found] = keys.filter((each) => learned.has(each) || known.has(each));
  const text = found === undefined ? undefined : (learned.get(found) ?? known.get(found));
  return { name, text, isLearned: found !== undefined && learned.has(found) };
}

const entries = (values: readonly { name: string; text: string | undefined }[]) =>
  Object.fromEntries(
    values.flatMap(({ name, text }) => (text === undefined ? [] : [[name, text]])),
  );

interface Document {
  placed: readonly Placed[];
  routes: readonly Route[];
  schemas: Schemas;
}

/** Fields that a body must have and that name something with a path of its own, such as the message of a fork. */
function bodyReferences({ operation }: Placed, { placed, schemas }: Document) {
  const body = jsonSchema(operation.requestBody);
  const fields = body ? requiredFields(body, schemas) : [];
  return fields.filter((name) => placed.some(({ path }) => path.includes(`{${name}}`)));
}

/** The link to `target`, where the answer tells something that it needs, and nothing else is missing. */
function linkByNames(success: Success, target: Placed, document: Document): BodyLink | undefined {
  const { source } = success;
  const inPath = pathParameters(target.path).map((name) => expression(success, target, name));
  const inBody = bodyReferences(target, document).map((name) => expression(success, target, name));
  const needed = [...(namesItself(target) ? inPath.slice(0, -1) : inPath), ...inBody];
  if (needed.some(({ text }) => text === undefined)) return undefined;
  const isList = source.method === 'get' && source.path === collectionPath(target.path);
  const tells = [...inPath, ...inBody].some(({ isLearned }) => isLearned);
  if (!tells && !(isList && namesItself(target))) return undefined;
  return {
    operationId: target.operation.operationId,
    ...(inPath.length > 0 && { parameters: entries(inPath) }),
    ...(inBody.length > 0 && { requestBody: entries(inBody) }),
  };
}

const isSuccess = (status: string) => status.startsWith('2');

/** The links of an operation that a route declares to follow it. */
const declaredLinks = (routes: readonly Route[], { operation }: Placed): BodyLink[] =>
  routes.flatMap(({ operation: operationId, follows = {} }) => {
    const values = follows[operation.operationId];
    return values ? [{ operationId, ...values }] : [];
  });

/** An operation whose successes have links to those that they make possible. */
function withLinks(source: Placed, document: Document): Operation {
  const declared = declaredLinks(document.routes, source);
  const responses = Object.entries<Reply>(source.operation.responses).map(([status, response]) => {
    if (!isSuccess(status) || !response.content) return [status, response];
    const success = knownAfter(source, response, document.schemas);
    const byNames = document.placed
      .filter((target) => target !== source)
      .flatMap((target) => linkByNames(success, target, document) ?? []);
    const links = [...byNames, ...declared].map((link) => [link.operationId, describedLink(link)]);
    return [status, { ...response, ...(links.length > 0 && { links: Object.fromEntries(links) }) }];
  });
  return { ...source.operation, responses: Object.fromEntries(responses) };
}

type Paths = Record<string, Record<string, Operation>>;

/** The paths of the document with links between their operations. */
export function linkOperations(
  paths: Paths,
  { routes, schemas }: Pick<Document, 'routes' | 'schemas'>,
): Paths {
  const placed = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const linked: Paths = {};
  for (const source of placed)
    linked[source.path] = {
      ...linked[source.path],
      [source.method]: withLinks(source, { placed, routes, schemas }),
    };
  return linked;
}
