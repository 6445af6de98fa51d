import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import { updateConversation } from '#functions/chat/conversations/update-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { showUsage } from '#functions/chat/routes/usage.ts';
import type { LogFields, ModelRequest, ModelStreamer } from '#shared/ports/ports.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { scriptedStreamer, textAnswer, type ScriptedAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { startChatServer, type ChatServer } from '../support/chat/chat-server.ts';
import { recordCommits } from '../support/compaction/commit-rules.ts';
import { erase, remainsOf } from '../support/compaction/erasing.ts';
import { eventually } from '../support/eventually.ts';
import { CANARY, lifecycle, owner } from '../support/chat/lifecycle.ts';
import { readAs } from '../support/chat/http-answers.ts';
import { conversationWithContextResponse } from '#shared/wire/resources/conversations.ts';
import { collect, request, sendAll } from '../support/chat/sending.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';

const LONG = 'A long answer about boats. '.repeat(20);

/** Chat answers and titles from two lists; the titles' requests are remembered. */
function models(titles: readonly ScriptedAnswer[], answers: readonly ScriptedAnswer[]) {
  const title = scriptedStreamer(...titles);
  const chat = scriptedStreamer(...answers);
  const model: ModelStreamer = {
    stream: (asked: ModelRequest, signal) =>
      (asked.role === 'utility_title' ? title : chat).model.stream(asked, signal),
  };
  return { model, titles: title.requests };
}

const recorded = recordCommits();
const titled = (
  titles: readonly ScriptedAnswer[],
  more: { answers?: readonly ScriptedAnswer[]; environment?: Record<string, string> } = {},
) => {
  const used = models(titles, more.answers ?? [textAnswer('Fine.')]);
  const logs: { event: string; fields: LogFields }[] = [];
  const dependencies = chatDependencies(
    {
      model: used.model,
      store: createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation }),
      logger: { log: (_, event, fields) => void logs.push({ event, fields }) },
    },
    { TITLES: 'on', ...more.environment },
  );
  return { dependencies, requests: used.titles, logs };
};

type Titled = ReturnType<typeof titled>;

const afterwork = ({ dependencies }: Pick<Titled, 'dependencies'>) =>
  Promise.all(dependencies.afterwork);

const storedConversation = async ({ dependencies }: Titled, id: string) =>
  (await readConversation(dependencies.store, id))?.value;

/** Sends messages one after the other; the title of each is waited for. */
async function talk(world: Titled, id: string, ...texts: string[]) {
  for (const text of texts) {
    await sendAll(world.dependencies, id, [text]);
    await afterwork(world);
  }
}

const gate = () => Promise.withResolvers<void>();

describe('the title of a conversation', () => {
  test('a title is made after the first answer by the cheap model, marked as generated', async () => {
    const world = titled([textAnswer('"Boats for beginners."')]);
    const id = randomUUID();

    await talk(world, id, 'Tell me about boats.', 'And ships?');

    expect(await storedConversation(world, id)).toMatchObject({
      title: 'Boats for beginners',
      autoTitle: { throughSeq: 1 },
    });
    expect(world.requests).toHaveLength(1);
    expect(world.requests[0]).toMatchObject({
      model: 'gemini-3.1-flash-lite',
      promptId: 't_1-title',
    });
    const asked = JSON.stringify(world.requests[0]?.contents);
    expect(asked).toContain('Tell me about boats.');
    expect(asked).toContain('Fine.');
  });

  test('a title is made once more after the fourth turn, and never again', async () => {
    const world = titled([textAnswer('First'), textAnswer('Second'), textAnswer('Third')]);
    const id = randomUUID();

    await talk(world, id, '1', '2', '3', '4', '5', '6');

    expect(await storedConversation(world, id)).toMatchObject({
      title: 'Second',
      autoTitle: { throughSeq: 4 },
    });
    expect(world.requests.map(({ promptId }) => promptId)).toEqual(['t_1-title', 't_4-title']);
  });

  test('a title is never made over the user’s earlier own', async () => {
    const world = titled([textAnswer('Made')]);
    const created = await createConversation(world.dependencies, {
      caller: owner,
      fields: { title: 'Mine' },
    });

    await talk(world, created.conversationId, '1', '2', '3', '4');

    expect(await storedConversation(world, created.conversationId)).toMatchObject({
      title: 'Mine',
    });
    expect(world.requests).toEqual([]);
  });

  test('a title is never stored over one the user set meanwhile', async () => {
    const held = gate();
    const world = titled([{ ...textAnswer('Made'), gate: held.promise }, textAnswer('Again')]);
    const id = randomUUID();
    await sendAll(world.dependencies, id, ['1']);
    const target = { caller: owner, conversationId: id };
    await updateConversation(world.dependencies, { ...target, patch: { title: 'Mine' } });

    held.resolve();
    await afterwork(world);
    await talk(world, id, '2', '3', '4');

    const conversation = await storedConversation(world, id);
    expect([conversation?.title, conversation?.autoTitle]).toEqual(['Mine', undefined]);
    expect(world.requests).toHaveLength(1);
  });

  test('a changed title is the user’s own for ever', async () => {
    const world = titled([textAnswer('Made'), textAnswer('Again')]);
    const id = randomUUID();
    await talk(world, id, '1');

    const target = { caller: owner, conversationId: id };
    await updateConversation(world.dependencies, { ...target, patch: { title: 'Mine' } });
    await talk(world, id, '2', '3', '4');

    const conversation = await storedConversation(world, id);
    expect([conversation?.title, conversation?.autoTitle]).toEqual(['Mine', undefined]);
  });

  test('a generated title stays generated when something else is changed', async () => {
    const world = titled([textAnswer('Made'), textAnswer('Again')]);
    const id = randomUUID();
    await talk(world, id, '1');

    const target = { caller: owner, conversationId: id };
    await updateConversation(world.dependencies, { ...target, patch: { metadata: { a: '1' } } });
    await talk(world, id, '2', '3', '4');

    expect((await storedConversation(world, id))?.title).toBe('Again');
  });

  test('a title with markup is not stored, and the next turn tries again', async () => {
    const world = titled([textAnswer('<script>x</script>'), textAnswer('Good')]);
    const id = randomUUID();

    await talk(world, id, '1');
    expect((await storedConversation(world, id))?.title).toBeUndefined();
    await talk(world, id, '2');

    expect(await storedConversation(world, id)).toMatchObject({
      title: 'Good',
      autoTitle: { throughSeq: 2 },
    });
  });

  test('a title cut off by its token limit is not stored', async () => {
    const world = titled([{ chunks: [{ parts: [{ text: 'Half' }], finishReason: 'MAX_TOKENS' }] }]);
    const id = randomUUID();

    await talk(world, id, '1');

    expect((await storedConversation(world, id))?.title).toBeUndefined();
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

    expect(await storedConversation(world, id)).toMatchObject({
      title: 'Made',
      autoTitle: { throughSeq: 3 },
    });
  });

  test('a title is not made where titles are off', async () => {
    const world = titled([textAnswer('Made')], { environment: { TITLES: 'off' } });

    await talk(world, randomUUID(), '1');

    expect(world.requests).toEqual([]);
  });

  test('titles are off by default in a demo- project and on elsewhere', () => {
    const other = { GOOGLE_CLOUD_PROJECT: 'other' };

    expect(chatDependencies().config.TITLES).toBe('off');
    expect(chatDependencies({}, other).config.TITLES).toBe('on');
  });

  test('a title is logged with its cost and without its text', async () => {
    const world = titled([textAnswer(CANARY)]);

    await talk(world, randomUUID(), CANARY);

    const line = world.logs.find(({ event }) => event === 'title_made');
    expect(line?.fields).toMatchObject({ promptTokens: 100, outputTokens: 10, costMicros: 40 });
    expect(JSON.stringify(world.logs)).not.toContain(CANARY);
  });

  test('a title is billed to its user as a title', async () => {
    const world = titled([textAnswer('Made')], { environment: { USER_DAILY_USD: '5' } });

    await talk(world, randomUUID(), '1');

    const usage = await showUsage(world.dependencies, { uid: 'u1', tier: 'signedIn' });
    expect(usage.titles).toEqual({ runs: 1, tokens: 110, costMicros: 40 });
    expect(usage.compactions.runs).toBe(0);
    expect(usage.limits.costMicrosPerDay.used).toBeGreaterThanOrEqual(40);
  });

  test('a title breaks no rule of commits', () => {
    expect(recorded.commits.length).toBeGreaterThan(0);
    expect(recorded.brokenRules()).toEqual([]);
  });
});

describe('the stream of an answer whose title is made', () => {
  test('an answer’s stream has a title that arrives meanwhile, under the next id', async () => {
    const held = gate();
    const world = titled([textAnswer('Boats')]);
    const { model } = world.dependencies;
    const dependencies = {
      ...world.dependencies,
      model: {
        async *stream(asked: ModelRequest, signal: AbortSignal) {
          if (asked.role === 'utility_title') return yield* model.stream(asked, signal);
          yield { parts: [{ text: LONG }] };
          await held.promise;
          yield { parts: [{ text: 'End.' }], finishReason: 'STOP' };
        },
      },
    };
    const id = randomUUID();
    const handle = await sendMessage(dependencies, request(id, 'boats'));
    const frames = collect(handle.frames());
    await eventually('a title', async () => (await storedConversation(world, id))?.title);
    await afterwork(world);
    held.resolve();

    const all = await frames;

    expect(all.map((frame) => frame.id)).toEqual(all.map((_, i) => i));
    const types = all.map(({ chunk }) => chunk.type);
    const at = types.indexOf('data-title');
    expect(all[at]?.chunk).toEqual({
      type: 'data-title',
      id: 'title',
      transient: true,
      data: { title: 'Boats' },
    });
    expect(at).toBeLessThan(types.indexOf('text-end'));
    expect(types.at(-1)).toBe('finish');
    const again = await sendMessage(dependencies, {
      ...request(id, 'boats', (await handle.result).turn.messageId),
      cursor: (all[at]?.id ?? 0) - 1,
    });
    expect(await collect(again.frames())).toEqual(all.slice(at));
  });

  test('an answer’s stream ends without waiting for a slow title', async () => {
    const world = titled([{ ...textAnswer('Late'), gate: gate().promise }], {
      answers: [textAnswer(LONG)],
    });
    const id = randomUUID();

    const handle = await sendMessage(world.dependencies, request(id, 'boats'));
    const types = (await collect(handle.frames())).map(({ chunk }) => chunk.type);
    await handle.result;

    expect(types).not.toContain('data-title');
    expect(types.at(-1)).toBe('finish');
    expect(world.dependencies.afterwork.size).toBe(1);
  });

  test('an answer’s stream shows no title that the user’s own kept from being stored', async () => {
    const world = titled([textAnswer('Made')], { answers: [textAnswer(LONG)] });
    const store = world.dependencies.store;
    const id = randomUUID();
    const target = { caller: owner, conversationId: id };
    const patched = {
      ...world.dependencies,
      model: {
        async *stream(asked: ModelRequest, signal: AbortSignal) {
          if (asked.role === 'utility_title')
            await updateConversation(
              { ...world.dependencies, store },
              {
                ...target,
                patch: { title: 'Mine' },
              },
            );
          yield* world.dependencies.model.stream(asked, signal);
        },
      },
    };

    const handle = await sendMessage(patched, request(id, 'boats'));
    const types = (await collect(handle.frames())).map(({ chunk }) => chunk.type);
    await afterwork(world);

    expect(types).not.toContain('data-title');
    expect((await storedConversation(world, id))?.title).toBe('Mine');
  });
});

describe('a title that does not come', () => {
  test('a slow title is given up after five seconds', async () => {
    const world = titled([{ ...textAnswer('Late'), gate: gate().promise }]);
    const waits: number[] = [];
    const { clock } = world.dependencies;
    const fast = {
      ...clock,
      wait: (ms: number, signal?: AbortSignal) => {
        if (ms !== 5_000) return clock.wait(ms, signal);
        waits.push(ms);
        return clock.wait(5, signal);
      },
    };
    const dependencies = { ...world.dependencies, clock: fast };
    const id = randomUUID();

    await sendAll(dependencies, id, ['boats']);
    await afterwork(world);

    expect(waits).toEqual([5_000]);
    const line = world.logs.find(({ event }) => event === 'title_failed');
    expect(line?.fields).toMatchObject({ reason: 'TIMEOUT' });
    expect((await storedConversation(world, id))?.title).toBeUndefined();
  });

  test('a slow title is given up when the process is told to end', async () => {
    const shutdown = new AbortController();
    const world = titled([{ ...textAnswer('Late'), gate: gate().promise }]);
    const dependencies = { ...world.dependencies, shutdown: shutdown.signal };
    await sendAll(dependencies, randomUUID(), ['boats']);

    shutdown.abort();

    await afterwork(world);
    expect(world.dependencies.afterwork.size).toBe(0);
  });

  test('a failing title model does not change the answer', async () => {
    const world = titled([{ error: new Error('no such model') }]);
    const id = randomUUID();

    await talk(world, id, 'boats');

    expect((await storedConversation(world, id))?.lastSeq).toBe(1);
    expect(world.logs.map(({ event }) => event)).toContain('title_failed');
  });
});

describe('erasing what a title was made of', () => {
  const canaryTitle = { title: `About ${CANARY}`, autoTitle: { throughSeq: 2 } };

  test.each([
    ['takes a title along that was made of the message', 'm_1', canaryTitle, undefined],
    ['leaves one that was made of earlier messages', 'm_3', canaryTitle, canaryTitle.title],
    ['leaves the user’s own', 'm_1', { title: 'Mine' }, 'Mine'],
  ])('erasing the source of a title: %s', async (...[, messageId, conversation, left]) => {
    const world = titled([textAnswer('x')], { environment: { TITLES: 'off' } });
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
    const target = { caller: owner, conversationId: id };
    await deleteMessage(world.dependencies, { ...target, messageId: 'm_1' });

    held.resolve();
    await afterwork(world);

    expect((await storedConversation(world, id))?.title).toBeUndefined();
  });

  test('erasing a user leaves nothing of a title', async () => {
    const world = lifecycle();
    const { conversationId } = await createConversation(world.chat, { caller: owner, fields: {} });
    const path = `conversations/${conversationId}`;
    const guard = { exists: true } as const;
    await world.store.commit([{ op: 'update', path, fields: canaryTitle, guard }]);

    await erase(world);

    expect(await remainsOf(world)).toEqual([]);
    expect((await readConversation(world.store, conversationId))?.value).not.toHaveProperty(
      'autoTitle',
    );
  });

  test('an erasure in a fork removes the copied title', async () => {
    const world = titled([textAnswer('Made')]);
    const id = randomUUID();
    await talk(world, id, 'boats');
    const target = { caller: owner, conversationId: id };
    const fork = await forkConversation(world.dependencies, { ...target, messageId: 'm_1' });

    expect(fork.conversation).toMatchObject({ title: 'Made', autoTitle: { throughSeq: 1 } });
    const inFork = { ...target, conversationId: fork.conversationId, messageId: 'm_1' };
    await deleteMessage(world.dependencies, inFork);

    expect((await storedConversation(world, fork.conversationId))?.title).toBeUndefined();
  });
});

describe('a title over HTTP', () => {
  let chat: ChatServer | undefined;
  afterEach(() => chat?.stop());

  test('a title is shown with the conversation over HTTP once stored', async () => {
    const { model } = models([textAnswer('Boats')], [textAnswer('Fine.')]);
    chat = await startChatServer({ overrides: { model }, environment: { TITLES: 'on' } });
    const id = randomUUID();
    const server = chat;

    await server.call(`/v1/conversations/${id}/messages`, {
      body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'boats' }] } },
    });

    const shown = await eventually('a title', async () => {
      const response = await server.call(`/v1/conversations/${id}`);
      const conversation = await readAs(conversationWithContextResponse, response);
      return conversation.title === undefined ? undefined : conversation;
    });
    expect(shown.title).toBe('Boats');
  });
});
