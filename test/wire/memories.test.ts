import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { memoryListResponse, memoryNoteResponse } from '#shared/wire/resources/memories.ts';
import { errorOf, startChatServer, readAs } from '#test/support/chat/chat-server.ts';
import { noteOf } from '#test/support/notes.ts';
import { storeNotes } from '../support/notes.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';

const chat = await startChatServer();
afterAll(() => chat.stop());

const newUser = () => `user-${randomUUID()}`;
const LIST = '/v1/users/me/memories';
const save = (uid: string, body: unknown) => chat.call(LIST, { uid, body });
const patch = (uid: string, id: string, body: unknown) =>
  chat.call(`${LIST}/${id}`, { method: 'PATCH', uid, body });
const read = (uid: string, id: string) => chat.call(`${LIST}/${id}`, { uid });
const remove = (uid: string, id: string) => chat.call(`${LIST}/${id}`, { method: 'DELETE', uid });
const list = async (uid: string) => readAs(memoryListResponse, await chat.call(LIST, { uid }));
const noteIn = (response: Response) => readAs(memoryNoteResponse, response);

test('a memory is saved, read, edited and forgotten by its id', async () => {
  const uid = newUser();

  const made = await save(uid, { id: 'nuts', text: 'No hazelnuts.', topics: ['food'] });
  const edited = await patch(uid, 'nuts', { text: 'No nuts at all.', topics: [] });

  expect(made.headers.get('location')).toBe(`${LIST}/nuts`);
  expect([made.status, edited.status]).toEqual([201, 200]);
  expect(await noteIn(made)).toMatchObject({ topics: ['food'], source: 'user' });
  const note = await noteIn(edited);
  expect(note).toMatchObject({ id: 'nuts', text: 'No nuts at all.' });
  expect(note.topics).toBeUndefined();
  expect(await noteIn(await patch(uid, 'nuts', {}))).toEqual(note);
  expect(await noteIn(await read(uid, 'nuts'))).toEqual(note);
  expect([(await remove(uid, 'nuts')).status, (await remove(uid, 'nuts')).status]).toEqual([
    204, 204,
  ]);
  const gone = await errorOf(await read(uid, 'nuts'));
  expect(gone).toMatchObject({ http: 404, reason: 'MEMORY_NOT_FOUND' });
  expect((await patch(uid, 'nuts', { text: 'x' })).status).toBe(404);
});

test('a memory is saved once however often it is sent, and never replaces another one', async () => {
  const uid = newUser();
  const texts = ['No “nuts”.', 'no  "NUTS".', 'Ｎo "nuts". ', 'All nuts.'];

  const answers = [
    await save(uid, { id: 'seat', text: 'Aisle seat.' }),
    await save(uid, { id: 'seat', text: 'Aisle seat.' }),
  ];
  for (const text of texts) answers.push(await save(uid, { text }));
  const other = await errorOf(await save(uid, { id: 'seat', text: 'Window seat.' }));

  expect(answers.map(({ status }) => status)).toEqual([201, 200, 201, 200, 200, 201]);
  expect(other).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
  const stored = (await list(uid)).memories.map(({ text }) => text);
  expect(stored).toEqual(['All nuts.', 'No “nuts”.', 'Aisle seat.']);
});

test('a deleted memory does not come back with a late copy of its request', async () => {
  const uid = newUser();
  const id = randomUUID();
  const first = { id, text: 'I live in Lyon.' };
  await save(uid, first);
  await remove(uid, id);

  const late = await errorOf(await save(uid, first));
  const again = await save(uid, { text: 'I live in Lyon.' });

  expect(late).toMatchObject({ http: 409, reason: 'IDEMPOTENCY_KEY_REUSED' });
  expect(late.message).toContain('Choose a new one');
  expect(again.status).toBe(201);
  const [stored] = await chat.dependencies.store.get([`users/${uid}/memory/notes`]);
  expect(JSON.stringify(stored?.fields['deleted'])).not.toContain('Lyon');
});

test.each([
  ['a blank text', { text: ' ' }, 'text'],
  ['a text of 1,001 characters', { text: 'x'.repeat(1_001) }, 'text'],
  ['eleven topics', { text: 'x', topics: Array.from({ length: 11 }, (_, i) => `t${i}`) }, 'topics'],
  ['a topic without a letter', { text: 'x', topics: ['!'] }, 'topics[0]'],
  ['an import that is no id', { text: 'x', imports: ['a/b'] }, 'imports[0]'],
  ['where it came from', { text: 'x', from: { conversationId: 'c' } }, 'from'],
])('a memory with %s is refused by the name of the field', async (_, body, field) => {
  const error = await errorOf(await save(newUser(), body));

  expect(error.http).toBe(400);
  expect(error.text).toContain(field);
});

test('the memory list shows newest first, the total size and each note’s source, which an edit makes the user’s', async () => {
  const uid = newUser();
  const conversationId = randomUUID();
  const saidAt = new Date('2026-03-02T10:00:00.000Z');
  const from = { conversationId, seq: 7, saidIn: 5, saidAt };
  await storeNotes(chat.dependencies.store, uid, [
    noteOf(1, { source: 'tool', from }),
    noteOf(2, { imports: ['gone'] }),
  ]);

  const listed = await list(uid);
  const edited = await noteIn(await patch(uid, 'n1', { text: 'In my own words.' }));

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
  expect([edited.source, edited.from]).toEqual(['user', undefined]);
});

test('the memory list holds a hundred; one more is refused with bound and remedy', async () => {
  const uid = newUser();
  const text = '견'.repeat(1_000);
  const notes = Array.from({ length: 100 }, (_, i) => noteOf(i + 1, { text }));
  await storeNotes(chat.dependencies.store, uid, notes);

  const error = await errorOf(await save(uid, { text: 'One more.' }));
  await remove(uid, 'n1');
  const again = await save(uid, { text: 'One more.' });

  expect(error).toMatchObject({ http: 400, reason: 'MEMORY_FULL' });
  expect(error.text).toMatch(/100 notes.*Delete one/);
  expect(again.status).toBe(201);
  expect((await list(uid)).leftOut.length).toBeGreaterThan(90);
});

test('a user’s export holds the notes, and erasing the user’s data removes them', async () => {
  const uid = newUser();
  await save(uid, { id: 'nuts', text: 'No hazelnuts.' });

  const exported = await chat.call('/v1/users/me:export', { uid, method: 'POST' });
  const lines = (await exported.text()).trim().split('\n');
  await chat.call('/v1/users/me:erase', { uid, method: 'POST' });

  expect(lines.map((line) => exportLineResponse.parse(JSON.parse(line)))).toMatchObject([
    { type: 'memory', id: 'nuts', text: 'No hazelnuts.' },
  ]);
  expect((await list(uid)).memories).toEqual([]);
});
