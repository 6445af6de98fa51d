import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import {
  createConversation,
  updateConversation,
} from '#functions/chat/conversations/write-conversation.ts';
import { showUsage } from '#functions/chat/routes/usage.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { LogFields, ModelStreamer } from '#shared/ports/ports.ts';
import {
  scriptedStreamer,
  textAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { CANARY, owner } from '#test/support/chat/lifecycle.ts';
import { collect, request, sendAll } from '#test/support/chat/sending.ts';
import { recordCommits } from '#test/support/compaction/commit-rules.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const LONG = 'A long answer about boats. '.repeat(20);
const recorded = recordCommits();

/** Chat whose answers and titles come from two lists; the requests of titles are remembered. */
function titled(
  titles: readonly ScriptedAnswer[],
  { answers = [textAnswer('Fine.')], environment = {} }: TitledOptions = {},
) {
  const [title, chat] = [scriptedStreamer(...titles), scriptedStreamer(...answers)];
  const model: ModelStreamer = {
    stream: (asked, signal) =>
      (asked.role === 'utility_title' ? title : chat).model.stream(asked, signal),
  };
  const logs: { event: string; fields: LogFields }[] = [];
  const dependencies = chatDependencies(
    {
      model,
      store: createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation }),
      logger: { log: (_, event, fields) => void logs.push({ event, fields }) },
    },
    { TITLES: 'on', ...environment },
  );
  return { dependencies, requests: title.requests, logs };
}

interface TitledOptions {
  answers?: readonly ScriptedAnswer[];
  environment?: Record<string, string>;
}

type Titled = ReturnType<typeof titled>;

const afterwork = ({ dependencies }: Titled) => Promise.all(dependencies.afterwork);

const storedConversation = async ({ dependencies }: Titled, id: string) =>
  (await readConversation(dependencies.store, id))?.value;

/** Sends messages one after the other; the title of each is waited for. */
async function talk(world: Titled, id: string, ...texts: string[]) {
  for (const text of texts) {
    await sendAll(world.dependencies, id, [text]);
    await afterwork(world);
  }
}

const changeTitle = ({ dependencies }: Titled, conversationId: string) =>
  updateConversation(dependencies, { caller: owner, conversationId, patch: { title: 'Mine' } });

const gate = () => Promise.withResolvers<void>();

test('a title is made by the cheap model after the first and the fourth answer, marked as generated', async () => {
  const world = titled([textAnswer('"First."'), textAnswer('Second'), textAnswer('Third')]);
  const id = randomUUID();

  await talk(world, id, 'Tell me about boats.');
  const first = await storedConversation(world, id);
  await talk(world, id, '2', '3', '4', '5', '6');

  expect(first).toMatchObject({ title: 'First', autoTitle: { throughSeq: 1 } });
  expect(await storedConversation(world, id)).toMatchObject({
    title: 'Second',
    autoTitle: { throughSeq: 4 },
  });
  expect(world.requests.map(({ promptId }) => promptId)).toEqual(['t_1-title', 't_4-title']);
  expect(world.requests[0]?.model).toBe('gemini-3.1-flash-lite');
  expect(JSON.stringify(world.requests[0]?.contents)).toMatch(/Tell me about boats\..*Fine\./);
});

test('a title is never made over one that the user gave before or gives later', async () => {
  const world = titled([textAnswer('Made'), textAnswer('Again')]);
  const fields = { title: 'Mine' };
  const created = await createConversation(world.dependencies, { caller: owner, fields });
  await talk(world, created.conversationId, '1');
  expect(world.requests).toEqual([]);
  const id = randomUUID();
  await talk(world, id, '1');

  await changeTitle(world, id);
  await talk(world, id, '2', '3', '4');

  const conversation = await storedConversation(world, id);
  expect([conversation?.title, conversation?.autoTitle]).toEqual(['Mine', undefined]);
});

test('a title that the user gives while one is made is kept and no other shown', async () => {
  const held = gate();
  const world = titled([{ ...textAnswer('Made'), gate: held.promise }], {
    answers: [textAnswer(LONG)],
  });
  const id = randomUUID();
  const handle = await sendMessage(world.dependencies, request(id, '1'));
  const frames = collect(handle.frames());
  await handle.result;
  await changeTitle(world, id);

  held.resolve();
  await afterwork(world);

  expect((await storedConversation(world, id))?.title).toBe('Mine');
  expect((await frames).map(({ chunk }) => chunk.type)).not.toContain('data-title');
});

test.each<[what: string, answer: ScriptedAnswer]>([
  ['with markup', textAnswer('<script>x</script>')],
  ['that was cut off', { chunks: [{ parts: [{ text: 'Half' }], finishReason: 'MAX_TOKENS' }] }],
  ['that failed', { error: new Error('no such model') }],
])('a title %s is not stored, and the next turn tries again', async (_, answer) => {
  const world = titled([answer, textAnswer('Good')]);
  const id = randomUUID();

  await talk(world, id, '1');
  expect((await storedConversation(world, id))?.title).toBeUndefined();
  await talk(world, id, '2');

  expect(await storedConversation(world, id)).toMatchObject({
    title: 'Good',
    autoTitle: { throughSeq: 2 },
  });
});

test('a title is not made of a failed or filtered turn', async () => {
  const answers = [
    { chunks: [{ parts: [], finishReason: 'SAFETY' }] },
    { error: new Error('down') },
    textAnswer('Fine.'),
  ];
  const world = titled([textAnswer('Made')], { answers });
  const id = randomUUID();

  await talk(world, id, '1');
  await expect(talk(world, id, '2')).rejects.toThrow('turn 2');
  expect(world.requests).toEqual([]);
  await talk(world, id, '3');

  expect((await storedConversation(world, id))?.autoTitle).toEqual({ throughSeq: 3 });
});

test('a title is billed to its user, and logged without its text', async () => {
  const world = titled([textAnswer(CANARY)], { environment: { USER_DAILY_USD: '5' } });

  await talk(world, randomUUID(), CANARY);

  const usage = await showUsage(world.dependencies, { uid: 'u1', tier: 'signedIn' });
  expect(usage.titles).toEqual({ runs: 1, tokens: 110, costMicros: 40 });
  expect(usage.limits.costMicrosPerDay.used).toBeGreaterThanOrEqual(40);
  const line = world.logs.find(({ event }) => event === 'title_made');
  expect(line?.fields).toMatchObject({ promptTokens: 100, outputTokens: 10, costMicros: 40 });
  expect(JSON.stringify(world.logs)).not.toContain(CANARY);
});

test('an answer’s stream ends without waiting for a slow title', async () => {
  const world = titled([{ ...textAnswer('Late'), gate: gate().promise }], {
    answers: [textAnswer(LONG)],
  });

  const handle = await sendMessage(world.dependencies, request(randomUUID(), 'boats'));
  const types = (await collect(handle.frames())).map(({ chunk }) => chunk.type);
  await handle.result;

  expect(types).not.toContain('data-title');
  expect(types.at(-1)).toBe('finish');
  expect(world.dependencies.afterwork.size).toBe(1);
});

test('a slow title is given up after five seconds', async () => {
  const world = titled([{ ...textAnswer('Late'), gate: gate().promise }]);
  const { clock } = world.dependencies;
  const waits: number[] = [];
  const wait = (ms: number, signal?: AbortSignal) => {
    if (ms !== 5_000) return clock.wait(ms, signal);
    waits.push(ms);
    return clock.wait(5, signal);
  };
  const id = randomUUID();

  await sendAll({ ...world.dependencies, clock: { ...clock, wait } }, id, ['boats']);
  await afterwork(world);

  expect(waits).toEqual([5_000]);
  const line = world.logs.find(({ event }) => event === 'title_failed');
  expect(line?.fields).toMatchObject({ reason: 'TIMEOUT' });
  expect((await storedConversation(world, id))?.title).toBeUndefined();
});

describe('erasing what a title was made of', () => {
  const made = { title: `About ${CANARY}`, autoTitle: { throughSeq: 2 } };

  test.each([
    ['takes a title along that was made of the message', 'm_1', made, undefined],
    ['leaves one that was made of earlier messages', 'm_3', made, made.title],
    ['leaves the user’s own', 'm_1', { title: 'Mine' }, 'Mine'],
  ])('erasing the source of a title %s', async (...[, messageId, conversation, left]) => {
    const world = titled([], { environment: { TITLES: 'off' } });
    const id = randomUUID();
    await talk(world, id, '1', '2', '3');
    const { store } = world.dependencies;
    const path = `conversations/${id}`;
    await store.commit([{ op: 'update', path, fields: conversation, guard: { exists: true } }]);

    await deleteMessage(world.dependencies, { caller: owner, conversationId: id, messageId });

    expect((await storedConversation(world, id))?.title).toBe(left);
  });

  test('an erasure prevents storing a title that was on its way', async () => {
    const held = gate();
    const world = titled([{ ...textAnswer('Made'), gate: held.promise }]);
    const id = randomUUID();
    await sendAll(world.dependencies, id, ['boats']);
    const target = { caller: owner, conversationId: id, messageId: 'm_1' };
    await deleteMessage(world.dependencies, target);

    held.resolve();
    await afterwork(world);

    expect((await storedConversation(world, id))?.title).toBeUndefined();
  });
});
