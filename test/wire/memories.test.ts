import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { memoryListResponse, memoryNoteResponse } from '#shared/wire/resources/memories.ts';
import { errorOf, startChatServer } from '../support/chat/chat-server.ts';
import { readAs } from '../support/chat/http-answers.ts';
import { storeNotes } from '../support/notes.ts';
import { noteOf } from '../unit/memory/notes.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

const newUser = () => `user-${randomUUID()}`;
const path = (id?: string) => `/v1/users/me/memories${id === undefined ? '' : `/${id}`}`;
const save = (uid: string, body: unknown) => chat.call(path(), { uid, body });
const patch = (uid: string, id: string, body: unknown) =>
  chat.call(path(id), { method: 'PATCH', uid, body });
const read = async (uid: string, id: string) => chat.call(path(id), { uid });
const list = async (uid: string) => readAs(memoryListResponse, await chat.call(path(), { uid }));
const noteIn = (response: Response) => readAs(memoryNoteResponse, response);

describe('a memory', () => {
  test('a memory is saved, read, edited and forgotten by its id', async () => {
    const uid = newUser();

    const made = await save(uid, { id: 'nuts', text: 'No hazelnuts.', topics: ['food'] });
    const edited = await patch(uid, 'nuts', { text: 'No nuts at all.' });

    expect(made.headers.get('location')).toBe(path('nuts'));
    expect([made.status, edited.status]).toEqual([201, 200]);
    const note = await noteIn(edited);
    expect(note).toMatchObject({
      id: 'nuts',
      text: 'No nuts at all.',
      topics: ['food'],
      source: 'user',
    });
    expect(await noteIn(await read(uid, 'nuts'))).toEqual(note);
    const deleted = () => chat.call(path('nuts'), { method: 'DELETE', uid });
    expect([(await deleted()).status, (await deleted()).status]).toEqual([204, 204]);
    const gone = await errorOf(await read(uid, 'nuts'));
    expect(gone).toMatchObject({ http: 404, reason: 'MEMORY_NOT_FOUND' });
    expect((await list(uid)).memories).toEqual([]);
  });

  test('a memory is saved once however often it is sent, with an id or without', async () => {
    const uid = newUser();
    const named = { id: 'nuts', text: 'No hazelnuts.' };

    const answers = [
      await save(uid, named),
      await save(uid, named),
      await save(uid, { text: 'Aisle seat.' }),
      await save(uid, { text: 'Aisle seat.' }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([201, 200, 201, 200]);
    expect((await list(uid)).memories).toHaveLength(2);
  });

  test('a deleted memory does not come back with a late copy of its request', async () => {
    const uid = newUser();
    const id = randomUUID();
    const first = { id, text: 'I live in Lyon.' };
    await save(uid, first);
    await chat.call(path(id.toUpperCase()), { method: 'DELETE', uid });

    const late = await errorOf(await save(uid, { ...first, id: id.toUpperCase() }));
    const again = await save(uid, { text: 'I live in Lyon.' });

    expect(late).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
    expect(late.message).toContain('Choose a new one');
    expect(again.status).toBe(201);
    const [stored] = await chat.dependencies.store.get([`users/${uid}/memory/notes`]);
    expect(JSON.stringify(stored?.fields['deleted'])).not.toContain('Lyon');
  });

  test('a memory in another case or with a blank more is the same one, the contrary another', async () => {
    const uid = newUser();
    const texts = ['No “nuts”.', 'no  "NUTS".', 'Ｎo "nuts". ', 'All nuts.'];

    const answers = [];
    for (const text of texts) answers.push(await save(uid, { text }));

    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 201]);
    const stored = (await list(uid)).memories.map(({ text }) => text);
    expect(stored).toEqual(['All nuts.', 'No “nuts”.']);
  });

  test('a memory does not replace another under the same id', async () => {
    const uid = newUser();
    await save(uid, { id: 'nuts', text: 'No hazelnuts.' });

    const error = await errorOf(await save(uid, { id: 'nuts', text: 'All nuts.' }));

    expect(error).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('twenty memories saved at once are all stored', async () => {
    const uid = newUser();
    const texts = Array.from({ length: 20 }, (_, i) => `Note ${i}.`);

    const answers = await Promise.all(texts.map((text) => save(uid, { text })));

    expect(answers.map(({ status }) => status)).toEqual(texts.map(() => 201));
    const stored = (await list(uid)).memories.map(({ text }) => text);
    expect(stored.toSorted()).toEqual(texts.toSorted());
  });

  test.each([
    ['no text', {}, 'text'],
    ['a blank text', { text: ' ' }, 'text'],
    ['a text of 1,001 characters', { text: 'x'.repeat(1_001) }, 'text'],
    ['half a character', { text: '\ud800' }, 'text'],
    [
      'eleven topics',
      { text: 'x', topics: Array.from({ length: 11 }, (_, i) => `t${i}`) },
      'topics',
    ],
    ['a topic without a letter', { text: 'x', topics: ['!'] }, 'topics[0]'],
    ['an import that is no id', { text: 'x', imports: ['a/b'] }, 'imports[0]'],
    ['a field that nobody knows', { text: 'x', scope: 'app' }, 'scope'],
    ['where it came from', { text: 'x', from: { conversationId: 'c' } }, 'from'],
  ])('a memory with %s is refused by the name of the field', async (_, body, field) => {
    const error = await errorOf(await save(newUser(), body));

    expect(error.http).toBe(400);
    expect(error.text).toContain(field);
  });

  test('a memory without changes stays unchanged', async () => {
    const uid = newUser();
    const made = await noteIn(await save(uid, { id: 'nuts', text: 'No hazelnuts.' }));

    expect(await noteIn(await patch(uid, 'nuts', {}))).toEqual(made);
    expect((await patch(uid, 'gone', { text: 'x' })).status).toBe(404);
  });

  test('a memory loses its topics when given none', async () => {
    const uid = newUser();
    await save(uid, { id: 'nuts', text: 'No hazelnuts.', topics: ['food'] });

    const note = await noteIn(await patch(uid, 'nuts', { topics: [] }));

    expect(note.topics).toBeUndefined();
  });
});

describe('the list', () => {
  test('the memory list shows newest first, the total size and each note’s source', async () => {
    const uid = newUser();
    const conversationId = randomUUID();
    const from = {
      conversationId,
      seq: 7,
      saidIn: 5,
      saidAt: new Date('2026-03-02T10:00:00.000Z'),
    };
    await storeNotes(chat.dependencies.store, uid, [
      noteOf(1, { source: 'tool', from }),
      noteOf(2, { imports: ['gone'] }),
    ]);

    const listed = await list(uid);

    expect(listed.memories.map(({ id }) => id)).toEqual(['n2', 'n1']);
    expect(listed.memories[1]).toMatchObject({
      source: 'tool',
      from: { conversationId, turnId: 't_7', saidIn: 't_5', saidAt: '2026-03-02T10:00:00.000Z' },
    });
    expect(listed).toMatchObject({
      memoriesMax: 100,
      budgetTokens: 1_000,
      leftOut: [],
      imports: [{ id: 'gone', by: 'n2', reason: 'unknown' }],
    });
    expect(listed.tokens).toBeGreaterThan(10);
  });

  test('the memory list holds a hundred; one more is refused with bound and remedy', async () => {
    const uid = newUser();
    const notes = Array.from({ length: 100 }, (_, i) =>
      noteOf(i + 1, { text: '견'.repeat(1_000) }),
    );
    await storeNotes(chat.dependencies.store, uid, notes);

    const error = await errorOf(await save(uid, { text: 'One more.' }));
    await chat.call(path('n1'), { method: 'DELETE', uid });
    const again = await save(uid, { text: 'One more.' });

    expect(error).toMatchObject({ http: 400, reason: 'MEMORY_FULL' });
    expect(error.text).toContain('100 notes');
    expect(error.text).toContain('Delete one');
    expect(again.status).toBe(201);
    const { memories, leftOut } = await list(uid);
    expect(memories).toHaveLength(100);
    expect(leftOut.length).toBeGreaterThan(90);
  });

  test('the memory list has the caller’s own notes', async () => {
    const [alice, mallory] = [newUser(), newUser()];
    await save(alice, { id: 'nuts', text: 'No hazelnuts.' });

    const answers = [
      await read(mallory, 'nuts'),
      await patch(mallory, 'nuts', { text: 'Mine now.' }),
      await chat.call(path('nuts'), { method: 'DELETE', uid: mallory }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 204]);
    expect((await list(mallory)).memories).toEqual([]);
    expect(await noteIn(await read(alice, 'nuts'))).toMatchObject({ text: 'No hazelnuts.' });
  });
});

test('a tool’s note becomes the user’s own once edited', async () => {
  const uid = newUser();
  const from = { conversationId: randomUUID(), seq: 1, saidIn: 1, saidAt: new Date() };
  await storeNotes(chat.dependencies.store, uid, [noteOf(1, { source: 'tool', from })]);

  const note = await noteIn(await patch(uid, 'n1', { text: 'In my own words.' }));

  expect([note.source, note.from]).toEqual(['user', undefined]);
});

describe('everything of a user', () => {
  test('a user’s export holds the notes', async () => {
    const uid = newUser();
    await save(uid, { id: 'nuts', text: 'No hazelnuts.' });

    const response = await chat.call('/v1/users/me:export', { uid, method: 'POST' });

    const lines = (await response.text()).trim().split('\n');
    const line = exportLineResponse.parse(JSON.parse(lines[0] ?? ''));
    expect(line).toMatchObject({ type: 'memory', id: 'nuts', text: 'No hazelnuts.' });
    expect(lines).toHaveLength(1);
  });

  test('erasing a user’s data removes the notes', async () => {
    const uid = newUser();
    await save(uid, { id: 'nuts', text: 'No hazelnuts.' });

    await chat.call('/v1/users/me:erase', { uid, method: 'POST' });

    expect((await list(uid)).memories).toEqual([]);
  });
});
