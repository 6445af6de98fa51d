import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { messageListResponse, sendMessageResponse } from '#shared/wire/resources/messages.ts';
import { type Refusal, choosyModel, refusedWith } from '#test/fakes/scripted-streamer.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';
import { neverAborted, compactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const WORD = 'Xyzzy';
const FORBIDDEN = `The password is ${WORD}.`;

/** A chat whose model blocks every prompt with one of `state.words`, once `block` was called; and its worker. */
function world() {
  const choosy = choosyModel();
  const app = createWireApp({ model: choosy.model }, { CLIENT_WRITABLE: 'systemInstruction' });
  choosy.state.say = [{ text: 'There is a lot to tell about dogs and their names. '.repeat(20) }];
  const { store, clock } = app.dependencies;
  const bench = { ...compactionBench({ store, model: choosy.model }), clock };
  const conversationId = randomUUID();
  const path = `/v1/conversations/${conversationId}`;
  const call = (method: string, to: string, body?: object) =>
    app.ok({ method, path: `${path}${to}`, uid: 'u1', body });
  return {
    ...choosy,
    call,
    block: (...words: string[]) => {
      choosy.state.refuse = ({ systemInstruction = '' }, text) =>
        words.some((word) => `${systemInstruction}${text}`.includes(word))
          ? { parts: [], blockReason: 'PROHIBITED_CONTENT' }
          : undefined;
    },
    send: async (text: string) => {
      const message = { id: randomUUID(), parts: [{ type: 'text', text }] };
      return sendMessageResponse.parse(await call('POST', '/messages', { message }));
    },
    work: () => runCompaction(bench, { conversationId, signal: neverAborted() }),
    context: async () => contextResponse.parse(await call('GET', '/context')),
    messages: async () => messageListResponse.parse(await call('GET', '/messages')).messages,
  };
}

type World = ReturnType<typeof world>;

/** Turns of which those at `at` hold the word. */
async function talk({ send }: World, { turns, at }: { turns: number; at: readonly number[] }) {
  for (let seq = 1; seq <= turns; seq++)
    await send(at.includes(seq) ? FORBIDDEN : `My dog ${seq} is called Pixel ${seq}.`);
}

describe('a turn that a filter blocks from now on', () => {
  test('the worker finds the turn and takes it out of the context, and the next message is answered', async () => {
    const chat = world();
    await talk(chat, { turns: 12, at: [5] });
    chat.block(WORD);
    const { turn, context } = await chat.send('Hello');
    const calls = chat.requests.length;

    const result = await chat.work();
    const searchCalls = chat.requests.length - calls;
    const after = await chat.send('And now?');

    expect(turn).toMatchObject({ finishReason: 'content-filter', inContext: false });
    expect(context.compaction).toMatchObject({ state: 'QUEUED', trigger: 'blocked' });
    expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED', reason: 'TURNS_BLOCKED' });
    expect(searchCalls).toBeLessThanOrEqual(8);
    const answerTokens = chat.requests.slice(calls, -1).map((request) => request.maxOutputTokens);
    expect(new Set(answerTokens)).toEqual(new Set([1]));
    expect(after.turn).toMatchObject({ state: 'done', finishReason: 'stop' });
    expect(after.context.compaction?.message).toMatch(/^A filter of the model blocks messages/);
    const kept = JSON.stringify(chat.requests.at(-1)?.contents);
    expect(kept).not.toContain(WORD);
    expect(kept).toContain('Pixel 12');
  });

  test('the transcript keeps a blocked turn, with the reason, and the context is what is sent', async () => {
    const chat = world();
    await talk(chat, { turns: 4, at: [2] });
    chat.block(WORD);
    await chat.send('Hello');
    await chat.work();

    const messages = await chat.messages();
    const { items } = await chat.context();
    await chat.send('And now?');

    const blocked = messages.filter((message) => message.blocked !== undefined);
    expect(new Set(blocked.map(({ seq, role }) => `${seq} ${role}`))).toEqual(
      new Set(['2 user', '2 model']),
    );
    expect(blocked.find(({ role }) => role === 'user')).toMatchObject({
      parts: [{ type: 'text', text: FORBIDDEN }],
      inContext: false,
      blocked: 'PROHIBITED_CONTENT',
      outOfContext: { reason: 'blocked' },
    });
    const contents = chat.requests.at(-1)?.contents.slice(0, -1);
    expect(items.filter(({ kind }) => kind === 'turn').map(({ content }) => content)).toEqual(
      contents,
    );
  });

  test.each([
    { what: 'before it looks for files', isFilterFirst: true },
    { what: 'once it could read all files', isFilterFirst: false },
  ])('a model that filters $what is searched beside a dead file', async ({ isFilterFirst }) => {
    const chat = world();
    await talk(chat, { turns: 4, at: [3] });
    const file = { type: 'file', mediaType: 'image/png', url: 'https://dead.example/a.png' };
    const parts = [{ type: 'text', text: 'Look' }, file];
    await chat.call('POST', '/messages', { message: { id: randomUUID(), parts } });
    await chat.send('A nice picture.');
    chat.block(WORD);
    const { refuse } = chat.state;
    const dead: Refusal = (_, text) =>
      text.includes('dead.example') ? refusedWith(400) : undefined;
    const [first, second] = isFilterFirst ? [refuse, dead] : [dead, refuse];
    chat.state.refuse = (request, text) => first(request, text) ?? second(request, text);
    await chat.send('Hello');

    const result = await chat.work();

    expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED', reason: 'TURNS_BLOCKED' });
    expect((await chat.send('And now?')).turn.finishReason).toBe('stop');
  });

  test.each([
    [
      'statement',
      { operations: [{ op: 'add', section: 'key_knowledge', text: FORBIDDEN, sources: [3] }] },
    ],
    ['topic', { operations: [], topics: [{ title: FORBIDDEN, from: 3, through: 4 }] }],
  ])(
    'a blocked %s of a summary leaves it together with the turns that it comes from',
    async (...[, added]) => {
      const dogs = { op: 'add', section: 'user_profile', text: 'Has dogs.', sources: [1] };
      const summary = JSON.stringify({ ...added, operations: [dogs, ...added.operations] });
      const chat = world();
      await talk(chat, { turns: 10, at: [3] });
      chat.state.summary = summary;
      await chat.call('POST', ':compact', {});
      expect(await chat.work()).toMatchObject({ state: 'COMPACTED' });
      chat.block(WORD);
      const { turn } = await chat.send('Hello');
      expect(turn.finishReason).toBe('content-filter');

      const result = await chat.work();
      const after = await chat.send('And now?');

      expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED', reason: 'TURNS_BLOCKED' });
      expect(after.turn.finishReason).toBe('stop');
      const { items } = await chat.context();
      expect(JSON.stringify(items)).not.toContain(WORD);
      expect((await chat.messages()).find(({ seq }) => seq === 3)?.blocked).toBeDefined();
    },
  );
});

describe('a block that no turn is to blame for', () => {
  test('a message that is blocked itself costs one call, and those behind it none', async () => {
    const chat = world();
    await talk(chat, { turns: 3, at: [] });
    chat.block(WORD);
    const { context } = await chat.send(FORBIDDEN);
    const calls = chat.requests.length;
    const first = await chat.work();
    const firstCalls = chat.requests.length - calls;

    await chat.send(FORBIDDEN);
    const again = await chat.work();

    expect(context.compaction?.state).toBe('QUEUED');
    expect(first).toMatchObject({ state: 'NOOP', reason: 'MESSAGE_BLOCKED' });
    expect(firstCalls).toBe(1);
    expect(again).toMatchObject({ state: 'NOOP', reason: 'MESSAGE_BLOCKED' });
    expect(chat.requests).toHaveLength(calls + 2);
    expect((await chat.send('Hello')).turn.finishReason).toBe('stop');
  });

  test('a model that blocks everything is searched once, and the owner is told what to do', async () => {
    const chat = world();
    await talk(chat, { turns: 6, at: [] });
    chat.state.refuse = () => ({ parts: [], blockReason: 'OTHER' });
    await chat.send('Hello');
    const calls = chat.requests.length;

    const first = await chat.work();
    const { context } = await chat.send('And now?');
    await chat.work();

    expect(first).toMatchObject({ state: 'NOOP', reason: 'INSTRUCTION_BLOCKED' });
    expect(chat.requests).toHaveLength(calls + 2 + 1);
    expect(context.compaction).toBeDefined();
  });

  test.each([
    {
      what: 'the instruction is blocked as well',
      spoil: ({ call }: World) => call('PATCH', '', { systemInstruction: FORBIDDEN }),
      mend: ({ call }: World) => call('PATCH', '', { systemInstruction: 'Be kind.' }),
    },
    {
      what: 'a pin is blocked as well',
      spoil: ({ call }: World) => call('PUT', '/pins/p1', { text: FORBIDDEN }),
      mend: ({ call }: World) => call('DELETE', '/pins/p1'),
    },
  ])('where $what, the turn is found once that is changed', async ({ spoil, mend }) => {
    const chat = world();
    await talk(chat, { turns: 6, at: [3] });
    await spoil(chat);
    chat.block(WORD);
    await chat.send('Hello');
    expect(await chat.work()).toMatchObject({ reason: 'INSTRUCTION_BLOCKED' });
    await mend(chat);
    await chat.send('And now?');

    const result = await chat.work();

    expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED', reason: 'TURNS_BLOCKED' });
    expect((await chat.send('Thanks')).turn.finishReason).toBe('stop');
  });

  test('what is blocked only together is not taken apart', async () => {
    const chat = world();
    await talk(chat, { turns: 6, at: [] });
    chat.state.refuse = (_, text) =>
      text.includes('Pixel 1.') && text.includes('Pixel 6.')
        ? { parts: [], blockReason: 'OTHER' }
        : undefined;
    await chat.send('Hello');
    const calls = chat.requests.length;

    const result = await chat.work();

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BLOCK_NOT_FOUND' });
    expect(chat.requests.length - calls).toBeLessThanOrEqual(6);
    expect((await chat.messages()).every(({ blocked }) => blocked === undefined)).toBe(true);
  });
});
