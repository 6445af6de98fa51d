import { fieldAt, readPages } from '#shared/store/many-documents.ts';
import { inParallel } from '#shared/lib/in-parallel.ts';
import { ArgumentError } from '#infra/command-line.ts';
import type { DocumentTree } from '#infra/ops/document-tree.ts';
import type { DocumentFields, StoredDocument, Value, DocumentStore } from '#shared/ports/ports.ts';

/** Names of the documents that a path has passed, by parameter. */
type Parameters = Readonly<Record<string, string>>;

/** A collection path as the extension is given it: every second segment may be a `{parameter}`. */
interface CollectionPattern {
  text: string;
  segments: readonly string[];
  parameters: readonly string[];
}

const FORM = /^[^/\s]+(?:\/[^/\s]+\/[^/\s]+)*$/u;
/** What Firestore keeps for itself. */
const RESERVED = /^__.*__$/u;
/** Ids of users of Firebase Authentication. */
const UID = /^[^\s/{}]{1,128}$/u;

/** The parameter that a segment is, or undefined for a name. */
const parameterIn = (segment: string): string | undefined => /^\{([^{}/]+)\}$/u.exec(segment)?.[1];

/** Throws ArgumentError for what is no path of a collection, and for a collection whose name is not known. */
export function parseCollectionPattern(text: string): CollectionPattern {
  const segments = text.split('/');
  const isForm = FORM.test(text);
  const hasFreeCollection = segments.some((one, i) => i % 2 === 0 && /[{}]/u.test(one));
  const isReserved = segments.some((one) => RESERVED.test(one));
  if (!isForm || hasFreeCollection || isReserved)
    throw new ArgumentError(
      `--from takes the path of a collection, such as users/{uid}/discussions/{discussionId}/messages, not ${JSON.stringify(text)}; only documents may be parameters`,
    );
  const parameters = segments.flatMap((segment) => parameterIn(segment) ?? []);
  if (new Set(parameters).size < parameters.length)
    throw new ArgumentError(`--from names a parameter twice: ${text}`);
  return { text, segments, parameters };
}

/**
 * Whose the discussions are: one user, or the document that a parameter names. Throws ArgumentError for a parameter
 * that the pattern has not.
 */
export function parseOwner(
  text: string,
  { parameters, text: pattern }: CollectionPattern,
): (found: Parameters) => string {
  const name = parameterIn(text);
  if (name === undefined) {
    if (UID.test(text)) return () => text;
    throw new ArgumentError(
      `--owner takes a uid or a {parameter} of --from, not ${JSON.stringify(text)}`,
    );
  }
  if (!parameters.includes(name))
    throw new ArgumentError(
      `whose are the conversations? ${pattern} has no {${name}}: give --owner UID, or --owner '{parameter}' with one of its parameters`,
    );
  return (found) => found[name] ?? '';
}

/** What the extension calls its fields, dotted where they stand in maps. */
export interface SourceFields {
  prompt: string;
  response: string;
  order: string;
}

/** Why a document of the extension becomes no turn. */
export const skippedReasons = {
  'no-prompt': 'has no prompt, or one that is no text',
  'no-order': 'has no value in the order field, so the extension left it out of the history',
  'not-answered': 'was not answered yet',
} as const;
export type SkippedReason = keyof typeof skippedReasons;

/** A place in the order of the extension. */
type Order = Date | number | string;

/** A document that becomes a turn. */
export interface SourceMessage {
  path: string;
  order: Order;
  prompt: string;
  answer: { text: string } | { failure: string };
  createTime: Date | undefined;
  finishTime: Date | undefined;
}

/** Numbers from here on are taken for milliseconds since 1970 (2001 and later). */
const LEAST_MS = 1e12;
/** The last moment that Firestore and Recap can hold. */
const MOST_MS = Date.parse('9999-12-31T23:59:59.999Z');

function toTime(value: Value | undefined): Date | undefined {
  if (value instanceof Date) return value;
  const isTime = typeof value === 'number' && value >= LEAST_MS && value <= MOST_MS;
  return isTime ? new Date(value) : undefined;
}

const isOrder = (value: Value | undefined): value is Order =>
  value instanceof Date ||
  (typeof value === 'number' && !Number.isNaN(value)) ||
  typeof value === 'string';

/** What was answered; undefined while that is not known. */
function answerIn(
  fields: DocumentFields,
  names: SourceFields,
): SourceMessage['answer'] | undefined {
  const response = fieldAt(fields, names.response);
  const state = fieldAt(fields, 'status.state');
  const error = fieldAt(fields, 'status.error');
  if (typeof response === 'string' && response !== '' && state !== 'ERROR')
    return { text: response };
  if (state === 'ERROR') return { failure: typeof error === 'string' ? error : '' };
  return state === 'COMPLETED' ? { failure: '' } : undefined;
}

/** Reads a document of the extension, or says why it becomes no turn. Pure. */
function readSourceMessage(
  { path, fields }: StoredDocument,
  names: SourceFields,
): SourceMessage | { skipped: SkippedReason } {
  const prompt = fieldAt(fields, names.prompt);
  if (typeof prompt !== 'string' || prompt === '') return { skipped: 'no-prompt' };
  const order = fieldAt(fields, names.order);
  if (!isOrder(order)) return { skipped: 'no-order' };
  const answer = answerIn(fields, names);
  if (!answer) return { skipped: 'not-answered' };
  // The extension writes `createTime` whatever the order field is.
  const createTime =
    toTime(fieldAt(fields, 'createTime')) ??
    toTime(order) ??
    toTime(fieldAt(fields, 'status.startTime'));
  const finishTime =
    toTime(fieldAt(fields, 'status.completeTime')) ?? toTime(fieldAt(fields, 'status.updateTime'));
  return { path, order, prompt, answer, createTime, finishTime };
}

const rank = (order: Order) => (typeof order === 'number' ? 0 : order instanceof Date ? 1 : 2);
const compare = <T extends number | string>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

function compareOrders(a: Order, b: Order): number {
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compare(a, b);
  return rank(a) - rank(b);
}

/** The order in which the extension tells them to its model: by the order field, then by name. */
const compareMessages = (a: SourceMessage, b: SourceMessage): number =>
  compareOrders(a.order, b.order) || compare(a.path, b.path);

/** Documents that are looked below side by side, and discussions that are imported so. */
const AT_ONCE = 4;
/** Documents of one read; each may have a MiB. */
const DOCUMENTS_PER_PAGE = 50;

/** Where the extension has written. */
export interface SourceDatabase {
  store: Pick<DocumentStore, 'get' | 'query'>;
  tree: DocumentTree;
}

/** A collection of the extension: one conversation. */
interface Discussion {
  collection: string;
  parameters: Parameters;
}

/** Visits every collection of the pattern, several at once, and never knows more than a page of names of each level. */
export async function forEachDiscussion(
  { tree }: SourceDatabase,
  pattern: CollectionPattern,
  visit: (discussion: Discussion) => Promise<void>,
): Promise<void> {
  const descend = async (
    path: string,
    segments: readonly string[],
    parameters: Parameters,
  ): Promise<void> => {
    const [segment, ...rest] = segments;
    if (segment === undefined) return visit({ collection: path, parameters });
    const name = parameterIn(segment);
    const below = path === '' ? segment : `${path}/${segment}`;
    if (name === undefined) return descend(below, rest, parameters);
    for await (const ids of tree.documentsIn(path))
      await inParallel(ids, AT_ONCE, (id) =>
        descend(`${path}/${id}`, rest, { ...parameters, [name]: id }),
      );
  };
  await descend('', pattern.segments, {});
}

/** What a discussion holds, in the order of the extension. */
interface ReadDiscussion {
  messages: readonly SourceMessage[];
  /** Documents that become no turn, by path. */
  skipped: ReadonlyMap<string, SkippedReason>;
}

/** Reads a collection of the extension; of one with more than `mostMessages` not all. */
export async function readDiscussion(
  { store }: SourceDatabase,
  collection: string,
  { names, mostMessages }: { names: SourceFields; mostMessages: number },
): Promise<ReadDiscussion> {
  const messages: SourceMessage[] = [];
  const skipped = new Map<string, SkippedReason>();
  for await (const page of readPages(store, { collection, limit: DOCUMENTS_PER_PAGE })) {
    for (const document of page) {
      const read = readSourceMessage(document, names);
      if ('skipped' in read) skipped.set(document.path, read.skipped);
      else messages.push(read);
    }
    if (messages.length > mostMessages) break;
  }
  return { messages: messages.toSorted(compareMessages), skipped };
}
