import { beforeAll, describe, expect, test } from 'vitest';
import { LEFT_OUT } from '#shared/bounded-json.ts';
import {
  compactionJobPath,
  conversationPath,
  historyPath,
  turnPath,
  usagePath,
} from '#shared/conversation/documents/paths.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Value } from '#shared/ports/ports.ts';
import { toDay } from '#shared/quota/usage.ts';
import { buildOne, journeyOf, storeWith, type Built } from './corruptions.ts';
import { call, eraseAll, prove, said, send, type Journey } from './calls.ts';
import { SUMMARY } from './model-answers.ts';

let built: Built;
beforeAll(async () => {
  built = await buildOne();
});

/** The conversation with one field of one of its documents as it should not be. */
async function withField(pathOf: (id: string) => string, name: string, value: Value) {
  const path = pathOf(built.conversationId);
  const store = await storeWith(built, { path, name, value });
  const journey = journeyOf(store, built);
  return { store, journey, stored: async () => (await store.get([path]))[0]?.fields[name] };
}

async function expectInUse(journey: Journey): Promise<void> {
  await prove(journey, 'by a document');
  expect(journey.problems).toEqual([]);
}

const get = async (journey: Journey, place: string) => {
  const { status, text } = await call(journey, { path: `${journey.path}${place}` });
  return { status, text };
};

const nestedCall = `[{"role":"model","parts":[{"functionCall":{"name":"fetch","args":{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}}}]}]`;

describe('a turn', () => {
  const wrong: [string, string, Value][] = [
    ['whose answer is no JSON', 'answerJson', '[{'],
    ['whose answer is JSON of something else', 'answerJson', '{"a":1}'],
    ['whose message is a number', 'userJson', 5],
    ['of no state', 'state', 'lost'],
    ['with more pieces than a process could read', 'answerPieces', 1e15],
  ];
  test.each(wrong)('%s is shown as such, and the conversation goes on', async (_, name, value) => {
    const { journey, stored } = await withField((id) => turnPath(id, 4), name, value);

    const { status, text } = await get(journey, '/messages?pageSize=100');

    expect(status).toBe(200);
    expect(text).toMatch(new RegExp(`"unreadable":"${name} `));
    await expectInUse(journey);
    expect(await stored()).toBe(value);
  });

  test('that cannot be read is told in the log, and is in no context', async () => {
    const { store, journey } = await withField((id) => turnPath(id, 4), 'answerJson', '[{');

    const { text } = await get(journey, '/context');
    const exported = await get(journey, ':export?format=markdown');
    const [turn] = await readTurns(store, built.conversationId, [4]);

    expect(journey.logged).toContainEqual(expect.stringMatching(/turn_unreadable.*answerJson/));
    expect(text).not.toContain('Aurora 3');
    expect(exported.text).toContain('(cannot be read any more)');
    expect(turn?.value).toMatchObject({ inContext: false, contents: [] });
  });

  test('whose usage no number can hold loses its usage alone', async () => {
    const usage = { promptTokens: Infinity, cachedTokens: 0, outputTokens: 0, thoughtsTokens: 0 };
    const { journey } = await withField((id) => turnPath(id, 4), 'usage', usage);

    const { text } = await get(journey, '/context');

    expect(text).toContain('Aurora 3');
    await expectInUse(journey);
  });

  test('of an earlier version with 3,000 levels is read up to where it is too deep', async () => {
    const { store, journey } = await withField((id) => turnPath(id, 4), 'answerJson', nestedCall);

    const [turn] = await readTurns(store, built.conversationId, [4]);

    expect(JSON.stringify(turn?.value.contents)).toContain(LEFT_OUT);
    expect(turn?.value.unreadable).toBeUndefined();
    await expectInUse(journey);
    await eraseAll(journey);
    expect(journey.problems).toEqual([]);
  });

  test('that cannot be read is folded with the others', async () => {
    const { store, journey } = await withField((id) => turnPath(id, 4), 'userJson', '?');
    for (let turn = 0; turn < 4; turn++)
      await send(journey, said(`The mast is ${turn} m high. ${'It is blue. '.repeat(900)}`));
    journey.model.answerAside(() => SUMMARY);
    await call(journey, { method: 'POST', path: `${journey.path}:compact`, body: {} });

    const outcome = await journey.compact(built.conversationId);

    const conversation = await readConversation(store, built.conversationId);
    expect(outcome).toMatch(/^done COMPACTED/);
    expect(conversation?.value.coveredThrough.seq).toBeGreaterThan(4);
    await expectInUse(journey);
  });
});

describe('a head', () => {
  test.each([1e308, Infinity, NaN, -1])('whose meter says %d is measured anew', async (tokens) => {
    const { context } =
      (
        await readConversation(
          await storeWith(built, { path: '', name: '', value: null }),
          built.conversationId,
        )
      )?.value ?? {};
    const { store, journey } = await withField(conversationPath, 'context', { ...context, tokens });

    await expectInUse(journey);

    const conversation = await readConversation(store, built.conversationId);
    expect(conversation?.problems).toBeUndefined();
    expect(conversation?.value.context.tokens).toBeLessThan(1_000_000);
  });

  test('that nobody can go on with is told to its owner alone, and can be deleted', async () => {
    const { store, journey } = await withField(conversationPath, 'lastSeq', 'many');
    const { app, path, conversationId } = journey;

    const own = await get(journey, '');
    const sent = await send(journey, said('And now?'));
    const foreign = await app.call({ method: 'GET', path, uid: 'mallory' });
    const listed = await call(journey, { path: '/v1/conversations' });
    const deleted = await call(journey, { method: 'DELETE', path });
    await eraseAll(journey);

    expect(own.status).toBe(400);
    expect(own.text).toContain('CONVERSATION_UNREADABLE');
    expect(sent.status).toBe(400);
    expect(foreign.status).toBe(404);
    expect([listed.status, listed.text]).toEqual([200, '{"conversations":[]}']);
    expect(deleted.status).toBe(200);
    expect(journey.problems).toEqual([]);
    const [left] = await store.get([conversationPath(conversationId)]);
    expect(left?.fields['state']).toBe('erased');
    expect(await store.get([turnPath(conversationId, 1)])).toEqual([undefined]);
  });
});

describe('a history', () => {
  test.each<[string, Value]>([
    ['coveredThrough', 'all'],
    ['masksJson', '[{'],
    ['snapshotJson', 5],
  ])('whose %s cannot be read gives way to the turns themselves', async (name, value) => {
    const { journey, stored } = await withField((id) => historyPath(id, 1), name, value);

    await expectInUse(journey);
    journey.model.answerAside(() => SUMMARY);
    await call(journey, { method: 'POST', path: `${journey.path}:compact`, body: {} });
    const outcome = await journey.compact(built.conversationId);

    expect(outcome).toMatch(/^done COMPACTED/);
    expect(await stored()).toEqual(value);
    const { text } = await get(journey, '/context');
    expect(text).toContain('The boat is called Aurora.');
  });

  test('with a bill that no number can hold goes on', async () => {
    const { journey } = await withField((id) => historyPath(id, 1), 'costMicros', Infinity);

    const { text } = await get(journey, '/context');

    expect(text).toContain('The boat is called Aurora.');
    expect(journey.logged).toContainEqual(expect.stringMatching(/history_unreadable.*costMicros/));
    await expectInUse(journey);
  });
});

test.each<[string, { pathOf: (id: string) => string; name: string; value: Value }]>([
  ['a job', { pathOf: compactionJobPath, name: 'records', value: 'none' }],
  ['a job without a lease', { pathOf: compactionJobPath, name: 'leaseUntil', value: 'soon' }],
  [
    'a day’s figures',
    { pathOf: () => usagePath(built.uid, toDay(new Date())), name: 'tokens', value: Infinity },
  ],
])('%s that cannot be read keeps nobody from going on', async (_, { pathOf, name, value }) => {
  const { journey } = await withField(pathOf, name, value);

  await expectInUse(journey);
  expect(await journey.compact(built.conversationId)).toMatch(/^done/);
});
