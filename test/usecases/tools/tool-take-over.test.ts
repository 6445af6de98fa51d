import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import type { ChatCrashPoint } from '#functions/lib/crash-points.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { sendableTurn } from '#shared/conversation/repair/sendable.ts';
import { eventually } from '#test/support/eventually.ts';
import { collect, request, textOf } from '#test/support/chat/sending.ts';
import { settle, shownText, storedTurn } from '#test/support/chat/streaming.ts';
import {
  countingTools,
  responsesIn,
  say,
  useToolModel,
  tool,
  toolChat,
} from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const refusals = () => fakeGemini.journal().flatMap(({ refusal }) => refusal ?? []);
const SHORT_LEASE = { TURN_LEASE_MS: '200' };
const TWO_ROUNDS =
  'call weather {"city":"A"}\nthen\ncall weather {"city":"B"}\ncall weather {"city":"C"}';

/** Instances over one store; what their tools did is counted together. */
function instances() {
  const store = createMemoryDocumentStore();
  const { effects, tools } = countingTools();
  const chat = (overrides: Parameters<typeof toolChat>[1] = {}) =>
    toolChat(model, {
      environment: SHORT_LEASE,
      tools,
      ...overrides,
      overrides: { store, ...overrides.overrides },
    }).chat;
  /** Dies when it passes `point` for the `nth` time: nothing that it begins afterwards ends. */
  const dyingAt = (point: ChatCrashPoint, nth: number) => {
    let passed = 0;
    let isDead = false;
    const never = new Promise<never>(() => undefined);
    return chat({
      overrides: {
        store: { ...store, commit: (writes) => (isDead ? never : store.commit(writes)) },
        atCrashPoint: (reached) => {
          if (reached === point && ++passed === nth) isDead = true;
          return isDead ? never : Promise.resolve();
        },
      },
    });
  };
  return { store, effects, chat, dyingAt };
}

const deaths = (['calls-stored', 'tools-ran', 'responses-stored'] as const).flatMap((point) =>
  [1, 2].map((nth) => ({ point, nth })),
);

describe('an instance that dies between the batches of a round', () => {
  test.each(deaths)(
    'an instance that dies between round batches is followed by another: $point, $nth',
    async ({ point, nth }) => {
      const world = instances();
      const conversationId = randomUUID();
      const sent = request(conversationId, TWO_ROUNDS);
      await sendMessage(world.dyingAt(point, nth), sent);
      const chat = world.chat();

      const handle = await sendMessage(chat, sent);
      const frames = await collect(handle.frames());
      const { turn } = await handle.result;

      expect(turn).toMatchObject({ state: 'done', attempt: 2 });
      expect(turn.contents.map(({ role }) => role)).toEqual([
        'model',
        'user',
        'model',
        'user',
        'model',
      ]);
      // What ran and was not stored runs again, under the same key; what was stored does not.
      const isLost = point === 'tools-ran';
      const again = isLost ? (nth === 1 ? ['t_1:0'] : ['t_1:1', 't_1:2']) : [];
      expect(Object.fromEntries(world.effects)).toEqual(
        Object.fromEntries(
          ['t_1:0', 't_1:1', 't_1:2'].map((key) => [key, again.includes(key) ? 2 : 1]),
        ),
      );
      expect(shownText(frames)).toContain('The tools gave');
      expect(refusals()).toEqual([]);
    },
  );

  test('a take-over between rounds calls the model once for each stored round', async () => {
    const world = instances();
    const sent = request(randomUUID(), TWO_ROUNDS);
    await sendMessage(world.dyingAt('responses-stored', 1), sent);

    const handle = await sendMessage(world.chat(), sent);
    const { turn } = await handle.result;

    expect(fakeGemini.journal()).toHaveLength(3);
    const billed = fakeGemini.journal().reduce((sum, { promptTokens }) => sum + promptTokens, 0);
    expect(turn.usage?.promptTokens).toBe(billed);
  });

  test('a take-over between rounds leaves a stream with the whole answer', async () => {
    const world = instances();
    const sent = request(randomUUID(), TWO_ROUNDS);
    await sendMessage(world.dyingAt('calls-stored', 2), sent);

    const frames = await collect((await sendMessage(world.chat(), sent)).frames());

    const second = frames.slice(frames.findIndex(({ id }) => id >= 1_000_000));
    expect(second.map(({ chunk }) => chunk.type)).toEqual(
      expect.arrayContaining(['data-notice', 'tool-input-available', 'tool-output-available']),
    );
    expect(
      second.flatMap(({ chunk }) =>
        chunk.type === 'tool-output-available' ? [chunk.toolCallId] : [],
      ),
    ).toEqual(['t_1_c0', 't_1_c1', 't_1_c2']);
    expect(textOf(second)).toContain('The tools gave');
  });
});

/** A tool that runs until the test ends it, and what is known of it. */
function slowTool() {
  const begun = Promise.withResolvers<void>();
  let isStopped = false;
  const slow = tool('slow', {}, (_, { signal }) => {
    begun.resolve();
    signal.addEventListener('abort', () => (isStopped = true));
    return new Promise(() => undefined);
  });
  return { slow, begun: begun.promise, isStopped: () => isStopped };
}

describe('a turn that is stopped while its tools run', () => {
  test('a turn stopped while its tools run ends with whole pairs and aborts its tool', async () => {
    const { slow, begun, isStopped } = slowTool();
    const { tools } = countingTools();
    const { chat } = toolChat(model, { tools: [...tools, slow] });
    const conversationId = randomUUID();
    const handle = await sendMessage(
      chat,
      request(conversationId, 'call weather {"city":"Oslo"}\ncall slow'),
    );
    await begun;
    await settle();
    await requestCancel(chat, { conversationId, seq: 1 });

    const { turn } = await handle.result;

    expect(turn).toMatchObject({ state: 'cancelled', inContext: true });
    expect(responsesIn(turn.contents)).toEqual([
      { name: 'weather', response: { city: 'Oslo', degrees: 21 } },
      { name: 'slow', response: { error: 'cancelled_by_user' } },
    ]);
    expect(isStopped()).toBe(true);
    const next = await say(chat, conversationId, 'Go on.');
    expect(next.turn.state).toBe('done');
    expect(refusals()).toEqual([]);
  });

  test('a turn stopped while its tools run is stopped by a dead instance’s successor', async () => {
    const world = instances();
    const conversationId = randomUUID();
    const sent = request(conversationId, TWO_ROUNDS);
    await sendMessage(world.dyingAt('calls-stored', 2), sent);
    const chat = world.chat();
    await eventually('the lease runs out', async () => {
      const { leaseUntil, rounds } = await storedTurn(chat, conversationId).catch(() => ({
        leaseUntil: new Date(8.64e15),
        rounds: undefined,
      }));
      return rounds?.count === 2 && leaseUntil < new Date() ? true : undefined;
    });

    await requestCancel(chat, { conversationId, seq: 1 });

    const turn = await storedTurn(chat, conversationId);
    expect(turn).toMatchObject({ state: 'cancelled', inContext: true });
    expect(responsesIn(turn.contents)).toMatchObject([
      { response: { degrees: 21 } },
      { response: { error: 'cancelled_by_user' } },
      { response: { error: 'cancelled_by_user' } },
    ]);
    expect(sendableTurn(turn.contents).contents).toEqual(turn.contents);
  });

  test('the next message closes a dead tool turn, and the model sees its results', async () => {
    const world = instances();
    const conversationId = randomUUID();
    await sendMessage(world.dyingAt('responses-stored', 1), request(conversationId, TWO_ROUNDS));
    const chat = world.chat();
    await eventually('the lease runs out', async () => {
      const turn = await storedTurn(chat, conversationId).catch(() => undefined);
      return turn?.rounds?.step === 2 && turn.leaseUntil < new Date() ? true : undefined;
    });

    const { turn } = await say(chat, conversationId, 'Something else.');

    expect(turn.state).toBe('done');
    expect(await storedTurn(chat, conversationId)).toMatchObject({
      state: 'failed',
      inContext: true,
      error: { reason: 'TURN_ABANDONED' },
    });
    const asked = JSON.stringify(fakeGemini.requestBody(fakeGemini.journal().at(-1)?.n ?? 0));
    expect(asked).toContain('"degrees":21');
    expect(refusals()).toEqual([]);
  });
});

describe('a toolbox', () => {
  test('a toolbox refuses two tools of one name', () => {
    const { tools } = countingTools();

    expect(() => createToolbox([...tools, ...tools])).toThrow('two server tools named "weather"');
  });

  test('a toolbox refuses a name that no model could call', () => {
    const odd = tool('odd-name', {}, () => Promise.resolve({}));

    expect(() => createToolbox([odd])).toThrow('odd-name');
  });
});
