import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentFields, DocumentStore, StoredDocument, Value } from '#shared/ports/ports.ts';
import { describeValue, hostileJson, jsonText } from './hostile-json.ts';
import {
  call,
  changeMessages,
  eraseAll,
  look,
  prove,
  said,
  send,
  supplyOf,
  type Journey,
} from './calls.ts';
import { answer, callsOf, SUMMARY } from './model-answers.ts';
import { hostileWorld } from './world.ts';

/** A field of a stored document, and what stands there now. */
interface Corruption {
  /** Which of the documents, and which of its fields: taken modulo how many there are. */
  document: number;
  field: number;
  value: Value;
}

/** As much of a value as a document can hold. */
function storable(value: unknown, levels = 15): Value {
  if (typeof value === 'string') return value.toWellFormed().slice(0, 100_000);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' || typeof value === 'boolean' ? value : null;
  if (levels === 0) return 'deeper';
  if (Array.isArray(value))
    return value
      .slice(0, 1_000)
      .map((item: unknown) => (Array.isArray(item) ? 'a list' : storable(item, levels - 1)));
  const entries = Object.entries(value)
    .slice(0, 1_000)
    .map(([key, item], i) => [
      /^__.*__$|^$/su.test(key) ? `k${i}` : key.toWellFormed().slice(0, 400),
      item,
    ]);
  return Object.fromEntries(entries.map(([key, item]) => [key, storable(item, levels - 1)]));
}

const wrongValue = fc.oneof(
  hostileJson.map((value) => storable(value)),
  // What stands in a field as JSON text.
  hostileJson.map((value) => jsonText(value).toWellFormed().slice(0, 400_000)),
  hostileJson.map((value) =>
    jsonText([{ role: 'model', parts: [{ functionCall: { name: 'a', args: { a: value } } }] }])
      .toWellFormed()
      .slice(0, 400_000),
  ),
  fc.constantFrom<Value>(NaN, Infinity, -1, 1e308, 0.5, new Date(0), new Date(253402300799999)),
  fc.constantFrom<Value>('', 'live', 'running', 'queued', '[]', '{}', 'null', [], {}, null, true),
);

export const corruptionArbitrary: fc.Arbitrary<Corruption> = fc.record({
  document: fc.nat({ max: 1_000_000 }),
  field: fc.nat({ max: 1_000_000 }),
  value: wrongValue,
});

/** A conversation with all that one may have, as its documents stand. */
export interface Built {
  uid: string;
  conversationId: string;
  documents: readonly StoredDocument[];
}

export function journeyOf(
  store: DocumentStore,
  { uid, conversationId }: Pick<Built, 'uid' | 'conversationId'>,
): Journey {
  const path = `/v1/conversations/${conversationId}`;
  const supply = supplyOf([{ city: 'Oslo' }]);
  return { ...hostileWorld(store), uid, conversationId, path, supply, problems: [], outcomes: [] };
}

/** Builds it by the service itself: turns, one that waits for the app, a history, and what the user has. */
export async function buildOne(): Promise<Built> {
  const paths = new Set<string>();
  const store = createMemoryDocumentStore({
    afterCommit: (writes) => {
      for (const { path } of writes) paths.add(path);
      return Promise.resolve();
    },
  });
  const target = { uid: randomUUID(), conversationId: randomUUID() };
  const journey = journeyOf(store, target);
  const { path, model, supply } = journey;
  const me = '/v1/users/me';
  const file = { mimeType: 'text/plain', sizeBytes: 5 };
  const tools = [{ name: 'locate', parameters: { type: 'object' } }];
  const id = target.conversationId;
  await call(journey, { method: 'POST', path: '/v1/conversations', body: { id, tools } });
  for (let turn = 0; turn < 4; turn++) {
    model.queue.push([answer(callsOf(['fetch'], supply, 1))], [answer([])]);
    await send(journey, said(`The boat is called Aurora ${turn}. ${'It is blue. '.repeat(900)}`));
  }
  await call(journey, { method: 'PUT', path: `${path}/pins/a`, body: { text: 'Aurora' } });
  await call(journey, { method: 'POST', path: `${me}/memories`, body: { text: 'Has a boat.' } });
  const device = { token: 'token', platform: 'ios' };
  await call(journey, { method: 'PUT', path: `${me}/devices/a`, body: device });
  await call(journey, { method: 'POST', path: '/v1/uploads', body: file });
  await call(journey, { method: 'POST', path: `${path}:compact`, body: {} });
  model.answerAside(() => SUMMARY);
  await journey.compact(target.conversationId);
  await call(journey, { method: 'POST', path: `${path}/compactions/1:rate`, body: { score: 5 } });
  model.queue.push([answer(callsOf(['locate'], supply, 1))]);
  await send(journey, said('Where am I?'));
  if (journey.problems.length > 0) throw new Error(journey.problems.join('\n'));
  const found = await store.get([...paths]);
  const documents = found.filter((document) => document !== undefined);
  if (!documents.some(({ path: each }) => each.includes('/histories/')))
    throw new Error('nothing was folded');
  return { ...target, documents };
}

/** A database with the documents of a conversation, one field of one of them as it should not be. */
export async function storeWith(
  { documents }: Pick<Built, 'documents'>,
  wrong: { path: string; name: string; value: Value },
): Promise<DocumentStore> {
  const store = createMemoryDocumentStore();
  const fieldsOf = ({ path, fields }: StoredDocument): DocumentFields =>
    path === wrong.path ? { ...fields, [wrong.name]: wrong.value } : fields;
  await store.commit(
    documents.map((each) => ({ op: 'create', path: each.path, fields: fieldsOf(each) })),
  );
  return store;
}

/** The field that a corruption is of. */
function fieldOf({ documents }: Built, { document, field }: Corruption) {
  // Most documents are frames of old answers.
  const victims = documents.filter((each) => !/streams\/t_[1-4]\//u.test(each.path));
  const victim = victims[document % victims.length];
  const fields: DocumentFields = victim?.fields ?? {};
  const path = victim?.path ?? '';
  const names = Object.keys(fields);
  const name = names[field % names.length] ?? '';
  return { path, name, before: fields[name] ?? null };
}

/** Without these a conversation document is of nobody, or says nothing that one could go on with. */
const TELLING = ['epoch', 'state', 'ownerUid', 'model', 'generation', 'coveredThrough'];
const ALSO_TELLING = ['lastSeq', 'changedIn', 'schemaVersion'];

/** A figure that a later version, or another history of the conversation, would have: nothing is wrong with its form. */
const isForm = (value: Value) => typeof value === 'number' && Number.isInteger(value) && value >= 0;

/** Goes on with a conversation of which one field is wrong; returns what cannot be done any more. */
export async function liveWith(built: Built, corruption: Corruption): Promise<string[]> {
  const { path: wrongPath, name, before } = fieldOf(built, corruption);
  const { value } = corruption;
  if (isForm(before) && isForm(value) && Number(value) < 1e10) return [];
  if (name === 'schemaVersion' && isForm(value)) return [];
  const isConversation = wrongPath === conversationPath(built.conversationId);
  const store = await storeWith(built, { path: wrongPath, name, value });
  const journey = journeyOf(store, built);
  const { problems, path } = journey;
  await look(journey);
  await send(journey, said('And now?'));
  const isTelling = isConversation && [...TELLING, ...ALSO_TELLING].includes(name);
  if (!isTelling) await prove(journey, 'by a document');
  await call(journey, { method: 'POST', path: `${path}:compact`, body: {} });
  try {
    await journey.compact(built.conversationId);
  } catch (error) {
    // The need stays for whoever mends the conversation document.
    if (!isTelling)
      problems.push(`the compaction threw ${error instanceof Error ? error.stack : ''}`);
  }
  await changeMessages(journey, 'm_1');
  await call(journey, { method: 'DELETE', path });
  await call(journey, { method: 'POST', path: `${path}:undelete`, body: {} });
  const isTheirs = !(isConversation && (name === 'ownerUid' || name === 'schemaVersion'));
  const isThere = !(isConversation && name === 'state');
  if (isTheirs && isThere) await eraseAll(journey);
  const [left] = await store.get([conversationPath(built.conversationId)]);
  if (isTheirs && isThere && left?.fields['state'] !== 'erased')
    problems.push('its head is not erased');
  return problems.map((problem) => `${wrongPath} ${name} = ${describeValue(value)}\n  ${problem}`);
}
