import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { tombstoneWrite } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const app = createWireApp();
const { store } = app.dependencies;

const newName = () => `main ${randomUUID()}`;

const post = (uid: string, id: string, text = 'Hello') =>
  app.call({
    method: 'POST',
    path: '/v1/ai-sdk/chat',
    uid,
    body: JSON.stringify({
      id,
      messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] }],
    }),
  });

/** Sends in a chat; which conversation it was. */
async function say(uid: string, id: string, text?: string): Promise<string> {
  const { text: stream } = await post(uid, id, text);
  return /"conversationId":"([^"]+)"/.exec(stream)?.[1] ?? stream;
}

const saidIn = async (conversationId: string) =>
  (await readTurns(store, conversationId, [1, 2, 3])).flatMap((turn) =>
    turn ? turn.value.user.parts.map(({ text }) => text) : [],
  );

const resume = async (uid: string, id: string) =>
  (await app.call({ method: 'GET', path: `/v1/ai-sdk/chat/${encodeURIComponent(id)}/stream`, uid }))
    .status;

test('S1: a chat name stands for an id that nobody can compute', async () => {
  const name = newName();
  const id = await say('alice', name);

  expect(id).not.toBe(await say('bob', name));
  expect(await say('alice', name)).toBe(id);
  expect(await resume('alice', newName())).toBe(204);
});

test('a chat name is one conversation for simultaneous messages', async () => {
  const [uid, name] = [`user-${randomUUID()}`, newName()];

  await Promise.all(['a', 'b', 'c'].map((text) => post(uid, name, text)));

  const listed = await app.ok({ method: 'GET', path: '/v1/conversations', uid });
  expect(listed).toMatchObject({ conversations: [{ id: await say(uid, name) }] });
});

/** Ways for a conversation to be gone, from the bin to the tombstone. */
const deletions: [string, (id: string) => Promise<unknown>][] = [
  [
    'in the bin',
    (id) => app.ok({ method: 'DELETE', path: `/v1/conversations/${id}`, uid: 'alice' }),
  ],
  [
    'erased',
    async (id) => {
      await store.deleteBelow(conversationPath(id));
      const [conversation] = await store.get([conversationPath(id)]);
      const { updateTime = '' } = conversation ?? {};
      await store.commit([tombstoneWrite(id, { generation: 1, updateTime }, new Date())]);
    },
  ],
];

describe.each(deletions)('a chat that is %s', (_, remove) => {
  test('a chat begins anew under its name, and has nothing to resume before', async () => {
    const name = newName();
    const before = await say('alice', name, 'Gone');
    await remove(before);
    expect(await resume('alice', name)).toBe(204);

    const after = await say('alice', name, 'New');

    expect(after).not.toBe(before);
    expect(await say('alice', name, 'More')).toBe(after);
    expect(await saidIn(after)).toEqual(['New', 'More']);
  });
});
