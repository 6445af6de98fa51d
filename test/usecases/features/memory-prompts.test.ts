import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { contentText, type Content } from '#shared/conversation/documents/content.ts';
import type { Note } from '#shared/memory/note.ts';
import { shownContents } from '#test/support/chat/shown-contents.ts';
import { noteOf } from '#test/unit/memory/notes.ts';
import { rememberingChat } from '#test/support/chat/remembering-chat.ts';

const saidLast = (contents: readonly Content[]) => contents.at(-1)?.parts.map(({ text }) => text);
const everything = (contents: readonly Content[]) => contents.map(contentText).join('\n');

const NEVER = 'Never call me after nine in the evening.';

describe('the prefix of a prompt', () => {
  test('a prompt begins with the app’s and the user’s memory in one user content', async () => {
    const { save, begin, send } = rememberingChat({ app: 'The shop closes at 18:00.' });
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

  test('a prompt of a conversation’s first message begins with the memory', async () => {
    const { save, send } = rememberingChat();
    await save([noteOf(1, { text: NEVER })]);

    const prompt = await send(randomUUID(), 'Hello');

    expect(contentText(prompt[0] ?? { role: 'user', parts: [] })).toContain(NEVER);
  });

  test('a prompt keeps its prefix bytes while newer notes precede the message, unstored', async () => {
    const { save, begin, send } = rememberingChat();
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

  test('a prompt’s prefix includes newer notes after a swap', async () => {
    const { save, begin, send, compact, conversation, revision } = rememberingChat();
    const id = await begin();
    for (let i = 0; i < 8; i++) await send(id, `Question ${i} ${'about bees '.repeat(400)}`);
    await save([noteOf(1, { text: NEVER })]);

    const outcome = await compact(id);
    const prompt = await send(id, 'Hello');

    expect(outcome).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect((await conversation(id)).memoryRevision).toBe(await revision());
    expect(prompt[0]?.parts[0]?.text).toContain(NEVER);
    expect(prompt[0]?.parts).toHaveLength(2);
    expect(saidLast(prompt)).toEqual(['Hello']);
  });

  test('a prompt’s memory counts before and after a compaction', async () => {
    const [plain, remembering] = [rememberingChat(), rememberingChat()];
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
  ])('a prompt loses a note that was %s with the next message', async (_, left) => {
    const { save, begin, send, show } = rememberingChat();
    await save([noteOf(1, { text: NEVER })]);
    const id = await begin();
    await send(id, 'One');

    await save(left);
    const prompt = await send(id, 'Two');

    expect(everything(prompt)).not.toContain(NEVER);
    expect(JSON.stringify((await show(id)).items)).not.toContain(NEVER);
    for (const { text } of left) expect(saidLast(prompt)?.[0]).toContain(text);
  });

  test('a prompt has its owner’s memory alone', async () => {
    const { save, send } = rememberingChat();
    await save([noteOf(1, { text: NEVER })], 'mallory');
    await save([noteOf(1, { text: 'I am Bob.' })], 'bob');

    const prompt = await send(randomUUID(), 'Hello', 'bob');

    expect(everything(prompt)).toContain('I am Bob.');
    expect(everything(prompt)).not.toContain(NEVER);
  });

  test('a prompt of a fork has its source’s notes', async () => {
    const { save, begin, send, fork } = rememberingChat();
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

  test('a prompt has no memory where the deployment disables it', async () => {
    const { save, begin, send } = rememberingChat({ environment: { MEMORY_BUDGET_TOKENS: '0' } });
    await save([noteOf(1, { text: NEVER })]);

    const prompt = await send(await begin(), 'Hello');

    expect(prompt).toEqual([{ role: 'user', parts: [{ text: 'Hello' }] }]);
  });
});

test('a note with topics is sent exactly with messages that touch one', async () => {
  const { save, begin, send } = rememberingChat();
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

describe('/context', () => {
  test('/context is the next prompt but its last user content, whatever waits', async () => {
    const { save, begin, send, show } = rememberingChat({ app: 'The shop closes at 18:00.' });
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

  test('/context counts the notes that are shown, wait, or have no room', async () => {
    const { save, begin, show } = rememberingChat();
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

test('the meter does not count one message’s notes for the next', async () => {
  const { save, begin, send, conversation } = rememberingChat();
  const id = await begin();
  await save([noteOf(1, { text: 'bee '.repeat(100) })]);

  await send(id, 'Hello');

  const { tokens } = (await conversation(id)).context;
  expect(tokens).toBeLessThan(50);
});
