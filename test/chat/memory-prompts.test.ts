import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { showContext } from '../../functions/src/chat/context/show-context.ts';
import { createConversation } from '../../functions/src/chat/conversation/create-conversation.ts';
import { forkConversation } from '../../functions/src/chat/conversation/fork-conversation.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { contentText, type Content } from '../../shared/conversation/content.ts';
import { wholeOutputs } from '../../shared/compaction/sent-outputs.ts';
import { contextTokens } from '../../shared/conversation/meter.ts';
import { readHead } from '../../shared/conversation/read-conversation.ts';
import { memoryTokens } from '../../shared/memory/render-memory.ts';
import type { Note } from '../../shared/memory/note.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { compactOnce, manualNeed, see } from '../support/compacted-conversation.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';
import { notesOf, storeNotes } from '../support/notes.ts';
import { shownContents } from '../support/shown-contents.ts';
import { appNoteOf, noteOf } from '../unit/memory/notes.ts';
import { headPath } from '../../shared/conversation/paths.ts';

const alice = { uid: 'alice', tier: 'signedIn' } as const;

function world(options: { app?: string; environment?: Record<string, string> } = {}) {
  const streamer = scriptedStreamer(textAnswer('Fine.'));
  const chat = chatDependencies({ model: streamer.model }, options.environment);
  const notes = options.app === undefined ? [] : [appNoteOf('a', { text: options.app })];
  const appMemory = { notes: () => notes, refresh: () => Promise.resolve() };
  const dependencies = { ...chat, config: { ...chat.config, appMemory } };
  const bench = compactionBench({ store: chat.store, cache: chat.cache });
  const worker = { ...bench, config: { ...bench.config, appMemory } };
  const { store } = chat;
  return {
    store,
    save: (saved: readonly Note[], uid = 'alice') => storeNotes(store, uid, saved),
    revision: async () => (await notesOf(store, 'alice')).revision,
    begin: async () =>
      (await createConversation(dependencies, { caller: alice, fields: {} })).conversationId,
    /** The prompt of one message. */
    send: async (conversationId: string, text: string, uid = 'alice') => {
      const message = { id: randomUUID(), parts: [{ text }] };
      const caller = { ...alice, uid };
      const handle = await sendMessage(dependencies, { caller, conversationId, message });
      await handle.result;
      return streamer.requests.at(-1)?.contents ?? [];
    },
    show: (conversationId: string) => showContext(dependencies, { caller: alice, conversationId }),
    compact: async (conversationId: string) => {
      const head = await readHead(store, conversationId);
      if (!head) throw new Error('there is no head');
      const compactionNeeded = manualNeed(randomUUID());
      await store.commit([
        {
          op: 'update',
          path: headPath(conversationId),
          fields: { compactionNeeded },
          guard: { updateTime: head.updateTime },
        },
      ]);
      return compactOnce(worker, conversationId);
    },
    head: async (conversationId: string) => {
      const head = await readHead(store, conversationId);
      if (!head) throw new Error('there is no head');
      return head.value;
    },
    history: async (conversationId: string) => (await see(store, conversationId)).history,
    fork: (conversationId: string) =>
      forkConversation(dependencies, { caller: alice, conversationId, messageId: 'm_1' }),
  };
}

const saidLast = (contents: readonly Content[]) => contents.at(-1)?.parts.map(({ text }) => text);
const everything = (contents: readonly Content[]) => contents.map(contentText).join('\n');

const NEVER = 'Never call me after nine in the evening.';

describe('the prefix of a prompt', () => {
  test('begins with the app’s memory and the user’s, as parts of one user content', async () => {
    const { save, begin, send } = world({ app: 'The shop closes at 18:00.' });
    await save([noteOf(1, { text: NEVER })]);

    const prompt = await send(await begin(), 'Hello');

    const texts = prompt[0]?.parts.map(({ text }) => text);
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'model', 'user']);
    expect(texts).toEqual([
      expect.stringContaining('The shop closes at 18:00.'),
      expect.stringContaining(NEVER),
    ]);
    expect(saidLast(prompt)).toEqual(['Hello']);
  });

  test('is the memory of a conversation that a first message begins, too', async () => {
    const { save, send } = world();
    await save([noteOf(1, { text: NEVER })]);

    const prompt = await send(randomUUID(), 'Hello');

    expect(contentText(prompt[0] ?? { role: 'user', parts: [] })).toContain(NEVER);
  });

  test('keeps its bytes while notes are added; these stand before the message, and are not stored', async () => {
    const { save, begin, send } = world();
    await save([noteOf(1)]);
    const id = await begin();
    const first = await send(id, 'One');
    await save([noteOf(1), noteOf(2, { text: NEVER })]);

    const second = await send(id, 'Two');
    const third = await send(id, 'Three');

    expect(second.slice(0, 2)).toEqual(first.slice(0, 2));
    expect(saidLast(second)).toEqual([expect.stringContaining(NEVER), 'Two']);
    expect(third.slice(0, first.length)).toEqual(first);
    expect(everything(third.slice(0, -1))).not.toContain(NEVER);
    expect(saidLast(third)).toEqual([expect.stringContaining(NEVER), 'Three']);
  });

  test('takes newer notes up at a swap', async () => {
    const { save, begin, send, compact, head, revision } = world();
    const id = await begin();
    for (let i = 0; i < 8; i++) await send(id, `Question ${i} ${'about bees '.repeat(400)}`);
    await save([noteOf(1, { text: NEVER })]);

    const outcome = await compact(id);
    const prompt = await send(id, 'Hello');

    expect(outcome).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect((await head(id)).memoryRevision).toBe(await revision());
    expect(prompt[0]?.parts[0]?.text).toContain(NEVER);
    expect(prompt[0]?.parts).toHaveLength(2);
    expect(saidLast(prompt)).toEqual(['Hello']);
  });

  test('is counted before and after a compaction', async () => {
    const [plain, remembering] = [world(), world()];
    const text = 'bee '.repeat(240);
    const sizes = async ({ begin, send, compact, history }: typeof plain) => {
      const id = await begin();
      for (let i = 0; i < 8; i++) await send(id, `Question ${i} ${'about bees '.repeat(400)}`);
      await compact(id);
      return history(id);
    };
    await remembering.save([noteOf(1, { text })]);

    const [without, noting] = [await sizes(plain), await sizes(remembering)];

    expect((noting?.beforeTokens ?? 0) - (without?.beforeTokens ?? 0)).toBeGreaterThan(200);
    expect((noting?.afterTokens ?? 0) - (without?.afterTokens ?? 0)).toBeGreaterThan(200);
    // The same snapshot but for its random boundary: notes are no part of what it weighs.
    expect(Math.abs((noting?.snapshotTokens ?? 0) - (without?.snapshotTokens ?? 0))).toBeLessThan(
      60,
    );
  });

  test.each([
    ['deleted', [] as Note[]],
    ['edited', [noteOf(3, { id: 'n1', text: 'Call me any time.' })]],
  ])('loses a note that was %s with the next message', async (_, left) => {
    const { save, begin, send, show } = world();
    await save([noteOf(1, { text: NEVER })]);
    const id = await begin();
    await send(id, 'One');

    await save(left);
    const prompt = await send(id, 'Two');

    expect(everything(prompt)).not.toContain(NEVER);
    expect(JSON.stringify((await show(id)).items)).not.toContain(NEVER);
    for (const { text } of left) expect(saidLast(prompt)?.[0]).toContain(text);
  });

  test('is that of the owner alone', async () => {
    const { save, send } = world();
    await save([noteOf(1, { text: NEVER })], 'mallory');
    await save([noteOf(1, { text: 'I am Bob.' })], 'bob');

    const prompt = await send(randomUUID(), 'Hello', 'bob');

    expect(everything(prompt)).toContain('I am Bob.');
    expect(everything(prompt)).not.toContain(NEVER);
  });

  test('of a fork has the notes that its source had', async () => {
    const { save, begin, send, fork } = world();
    await save([noteOf(1, { text: NEVER })]);
    const id = await begin();
    await send(id, 'One');
    await save([noteOf(1, { text: NEVER }), noteOf(2, { text: 'New.' })]);

    const { conversationId } = await fork(id);
    const prompt = await send(conversationId, 'Two');

    expect(prompt[0]?.parts[0]?.text).toContain(NEVER);
    expect(prompt[0]?.parts[0]?.text).not.toContain('New.');
    expect(saidLast(prompt)?.[0]).toContain('New.');
  });

  test('has no memory where the deployment wants none', async () => {
    const { save, begin, send } = world({ environment: { MEMORY_BUDGET_TOKENS: '0' } });
    await save([noteOf(1, { text: NEVER })]);

    const prompt = await send(await begin(), 'Hello');

    expect(prompt).toEqual([{ role: 'user', parts: [{ text: 'Hello' }] }]);
  });
});

describe('a note with topics', () => {
  test('is said with the messages that touch one, and with no other', async () => {
    const { save, begin, send } = world();
    await save([noteOf(1, { text: 'Aisle seat.', topics: ['flights', '비행기'] })]);
    const id = await begin();

    const prompts = [
      await send(id, 'Book a flight to Rome.'),
      await send(id, 'And a hotel.'),
      await send(id, '비행기표를 예매해줘'),
    ];

    expect(prompts.map((prompt) => saidLast(prompt)?.[0]?.includes('Aisle seat.'))).toEqual([
      true,
      false,
      true,
    ]);
    expect(everything(prompts[1] ?? [])).not.toContain('Aisle seat.');
  });
});

describe('/context', () => {
  test('is the next prompt but its last user content, whatever waits', async () => {
    const { save, begin, send, show } = world({ app: 'The shop closes at 18:00.' });
    await save([noteOf(1)]);
    const id = await begin();
    await send(id, 'One');
    await save([noteOf(1), noteOf(2), noteOf(3, { topics: ['bees'] })]);

    const { items } = await show(id);
    const prompt = await send(id, 'Tell me of bees.');

    expect(shownContents(items)).toEqual(prompt.slice(0, -1));
    expect(items.slice(0, 3).map(({ kind }) => kind)).toEqual(['memory', 'memory', 'ack']);
    expect(items[0]?.tokens).toBeGreaterThan(10);
  });

  test('counts the notes that are shown, wait, or have no room', async () => {
    const { save, begin, show } = world();
    const long = (revision: number) => noteOf(revision, { text: 'bee '.repeat(240) });
    await save([1, 2, 3, 4, 5, 6, 7, 8].map(long));
    const id = await begin();
    await save([...[1, 2, 3, 4, 5, 6, 7, 8].map(long), noteOf(9, { imports: ['gone'] })]);

    const { memory } = await show(id);

    expect(memory).toMatchObject({
      budgetTokens: 1_000,
      waiting: 1,
      imports: [{ id: 'gone', by: 'n9', reason: 'unknown' }],
    });
    expect(memory?.leftOut).toBeGreaterThan(0);
    expect((memory?.shown ?? 0) + (memory?.leftOut ?? 0)).toBe(8);
    expect(memory?.tokens).toBeLessThan(1_150);
  });
});

describe('the meter', () => {
  const memory = { app: '', user: 'bee '.repeat(100) };
  const context = {
    tokens: 1_000,
    overheadTokens: 0,
    calibration: 1,
    source: 'reported' as const,
    generation: 0,
    seq: 1,
  };
  const forms = wholeOutputs({ counting: { rule: 'character-class' } });
  const source = { head: { context, generation: 0, pins: [] }, history: undefined, turns: [] };

  test('weighs notes that came since the report, and no longer those that went', () => {
    const own = memoryTokens(memory);
    const sent = { ...context, pinTokens: own + 20, memoryTokens: own };
    const head = { ...source.head, context: sent };

    const came = contextTokens({ ...source, memory }, forms).tokens;
    const went = contextTokens({ ...source, head, memory: { app: '', user: '' } }, forms).tokens;
    const unknown = contextTokens({ ...source, head }, forms).tokens;

    expect(came).toBeGreaterThan(1_000 + own);
    expect(went).toBe(1_000 - own - 20);
    expect(unknown).toBeGreaterThan(1_000 - 20);
  });

  test('does not count what was said beside one message for the next', async () => {
    const { save, begin, send, head } = world();
    const id = await begin();
    await save([noteOf(1, { text: 'bee '.repeat(100) })]);

    await send(id, 'Hello');

    const { tokens } = (await head(id)).context;
    expect(tokens).toBeLessThan(50);
  });
});
