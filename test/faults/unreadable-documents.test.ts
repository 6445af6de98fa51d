import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { createQuota } from '#functions/quota/create-quota.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import {
  conversationPath,
  historyPath,
  messageGuardPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import type { DocumentStore, StoredDocument, Value } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { createResources, createWireApp } from '../support/chat/wire-app.ts';
import {
  compactOnce,
  neverAborted,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { createRecordedStore } from '../support/stores/recorded-store.ts';
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';

const uid = 'alice';
/** A turn that the snapshot does not cover. */
const SEQ = 20;
const settings = { USER_DAILY_MESSAGES: '1000' };

/** Chat over HTTP and the worker, over one store. */
function openWorld(store: DocumentStore) {
  const logged: string[] = [];
  const logger = {
    log: (severity: string, event: string, fields: object) => {
      if (severity === 'ERROR') logged.push(`${event} ${JSON.stringify(fields)}`);
    },
  };
  const quota = createQuota(chatDependencies({ store }, settings));
  const app = createWireApp({ store, logger, quota }, settings);
  const bench = compactionBench({ store, logger, clock: createManualClock(new Date()) });
  return { store, app, bench, logged };
}

type World = ReturnType<typeof openWorld>;

let conversationId = '';
let path = '';
let documents: readonly StoredDocument[] = [];
beforeAll(async () => {
  const recorded = createRecordedStore();
  const { app } = openWorld(recorded.store);
  const resources = await createResources(app, { uid, canary: 'Aurora' });
  conversationId = resources['conversationId'] ?? '';
  path = `/v1/conversations/${conversationId}`;
  documents = await recorded.documents();
});

/** All that the user has, as it was stored. */
const intactWorld = (): Promise<World> => worldWith('', '', null);

/** All that the user has, with one field of one document as it should not be. */
async function worldWith(wrongPath: string, name: string, value: Value): Promise<World> {
  const store = createMemoryDocumentStore();
  await store.commit(
    documents.map((each) => ({
      op: 'create',
      path: each.path,
      fields: each.path === wrongPath ? { ...each.fields, [name]: value } : each.fields,
    })),
  );
  return openWorld(store);
}

const call = ({ app }: World, method: string, place: string, body?: object) =>
  app.call({ method, path: place, uid, body: body && JSON.stringify(body) });

const send = (world: World, text = 'And now?', id: string = randomUUID()) =>
  call(world, 'POST', `${path}/messages`, { message: { id, parts: [{ type: 'text', text }] } });

const storedAt = async ({ store }: World, wrongPath: string, name: string) =>
  (await store.get([wrongPath]))[0]?.fields[name];

async function expectInUse(world: World): Promise<void> {
  const sent = await send(world);
  const shown = await call(world, 'GET', `${path}/context`);
  expect([sent.status, shown.status]).toEqual([200, 200]);
  expect(sent.text).toContain('"state":"done"');
}

async function compact(world: World) {
  await call(world, 'POST', `${path}:compact`, {});
  return compactOnce(world.bench, conversationId);
}

async function expectErased(world: World): Promise<void> {
  const asked = await call(world, 'DELETE', `${path}?permanent=true`);
  const erased = await eraseConversation(world.bench, conversationId, neverAborted());
  expect([asked.status, erased]).toEqual([202, 'erased']);
  expect(await world.store.get([turnPath(conversationId, 1)])).toEqual([undefined]);
}

test.each<[string, string, Value]>([
  ['whose answer is no JSON', 'answerJson', '[{'],
  ['whose message is a number', 'userJson', 5],
  ['with more pieces than a process could read', 'answerPieces', 1e15],
])('a turn %s is shown as such, and the conversation goes on', async (_, name, value) => {
  const world = await worldWith(turnPath(conversationId, SEQ), name, value);

  const { status, text } = await call(world, 'GET', `${path}/messages?pageSize=100`);
  const context = await call(world, 'GET', `${path}/context`);

  expect(status).toBe(200);
  expect(text).toContain(`"unreadable":"${name} `);
  expect(context.text).not.toContain(`"seq":${SEQ},`);
  expect(world.logged).toContainEqual(expect.stringMatching(`turn_unreadable.*${name}`));
  await expectInUse(world);
  expect(await storedAt(world, turnPath(conversationId, SEQ), name)).toBe(value);
});

test('a turn that cannot be read is folded with the others', async () => {
  const world = await worldWith(turnPath(conversationId, SEQ), 'userJson', '?');
  for (let turn = 0; turn < 4; turn++) await send(world, 'The mast is blue. '.repeat(700));

  const outcome = await compact(world);

  const conversation = await readConversation(world.store, conversationId);
  expect(outcome).toMatchObject({ state: 'COMPACTED' });
  expect(conversation?.value.coveredThrough.seq).toBeGreaterThan(SEQ);
  await expectInUse(world);
});

test('an id whose guard cannot be read is told as taken, once and for all', async () => {
  const id = randomUUID();
  const guardPath = messageGuardPath(conversationId, id);
  const world = await intactWorld();
  await world.store.commit([{ op: 'create', path: guardPath, fields: { seq: 'many' } }]);

  const refused = await send(world, 'And now?', id);

  expect(refused.status).toBe(409);
  expect(refused.text).toContain('IDEMPOTENCY_KEY_REUSED');
  await expectInUse(world);
});

test('a conversation document that nobody can go on with is told to its owner alone, and can be deleted', async () => {
  const world = await worldWith(conversationPath(conversationId), 'lastSeq', 'many');

  const own = await call(world, 'GET', path);
  const sent = await send(world);
  const foreign = await world.app.call({ method: 'GET', path, uid: 'mallory' });
  const listed = await call(world, 'GET', '/v1/conversations');

  expect([own.status, sent.status, foreign.status, listed.status]).toEqual([400, 400, 404, 200]);
  expect(own.text).toContain('CONVERSATION_UNREADABLE');
  // Its entry is there still: who cannot open it can see it, and delete it.
  expect(listed.text).toContain(conversationId);
  await expectErased(world);
});

test.each<[string, Value]>([
  ['coveredThrough', 'all'],
  ['snapshotJson', 5],
])('a history whose %s cannot be read gives way to the turns themselves', async (name, value) => {
  const world = await worldWith(historyPath(conversationId, 1), name, value);

  await expectInUse(world);

  expect(await compact(world)).toMatchObject({ state: 'COMPACTED' });
  expect(await storedAt(world, historyPath(conversationId, 1), name)).toEqual(value);
});

/** Without these a conversation document is of nobody, or says nothing that one could go on with. */
const ESSENTIAL: ReadonlySet<string> = new Set([
  'epoch',
  'state',
  'ownerUid',
  'model',
  'generation',
  'coveredThrough',
  'lastSeq',
  'changedIn',
  'schemaVersion',
]);

/** Of another kind than almost any field; each field is given one of them. */
const WRONG: readonly Value[] = ['wrong', NaN, { a: ['b'] }, -1.5, null, []];

/** What was answered with an error of the server while the user goes on, changes messages and erases all of it. */
async function serverErrors(world: World): Promise<string[]> {
  const places = [
    '',
    '/context',
    '/messages',
    '/compactions',
    '/pins',
    ':export',
    ':search?q=trip',
  ];
  const answers = [
    await send(world),
    ...(await Promise.all(places.map((place) => call(world, 'GET', `${path}${place}`)))),
    await call(world, 'POST', `${path}/messages/m_20:regenerate`, {}),
    await call(world, 'DELETE', `${path}/messages/message-19`),
    await call(world, 'DELETE', path),
    await call(world, 'POST', `${path}:undelete`, {}),
    await call(world, 'DELETE', `${path}?permanent=true`),
  ];
  return answers.flatMap(({ status, text }) => (status >= 500 ? [`${status} ${text}`] : []));
}

test('a field of any stored document with a value of another kind bricks no conversation', async () => {
  const collections = (each: StoredDocument) =>
    each.path
      .split('/')
      .filter((_, index) => index % 2 === 0)
      .join('/');
  const kinds = new Map(documents.map((each) => [collections(each), each]));
  const fields = [...kinds.values()].flatMap((document) =>
    Object.keys(document.fields).map((name) => ({ path: document.path, name })),
  );
  const problems: string[] = [];

  for (const [index, { path: wrongPath, name }] of fields.entries()) {
    const value = WRONG[index % WRONG.length] ?? null;
    const world = await worldWith(wrongPath, name, value);
    const isEssential = wrongPath === conversationPath(conversationId) && ESSENTIAL.has(name);
    const told = (what: string) =>
      problems.push(`${wrongPath} ${name} ${JSON.stringify(value)}: ${what}`);
    const sent = isEssential ? undefined : await send(world);
    if (sent && sent.status !== 200) told(`a message is answered ${sent.status} ${sent.text}`);
    await compact(world).catch((error: unknown) => isEssential || told(String(error)));
    for (const error of await serverErrors(world)) told(error);
  }

  expect(fields.length).toBeGreaterThan(50);
  expect(problems).toEqual([]);
}, 240_000);
