import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { exportConversation } from '#functions/chat/conversations/export-conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { exportLineResponse, type ExportLine } from '#shared/wire/resources/export.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';
import {
  buildConversation,
  type TurnToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { lifecycle, owner, setConversation } from '#test/support/chat/lifecycle.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

const build = async (ownerUid: string, turns: readonly TurnToBuild[], title = 'A trip') =>
  (await buildConversation(chat.dependencies.store, { turns, conversation: { ownerUid, title } }))
    .conversationId;

const linesOf = (text: string): ExportLine[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => exportLineResponse.parse(JSON.parse(line)));

async function all(pieces: AsyncIterable<string>): Promise<string[]> {
  const seen: string[] = [];
  for await (const piece of pieces) seen.push(piece);
  return seen;
}

const fatesOf = (lines: readonly ExportLine[]) =>
  lines.flatMap((line) => (line.type === 'message' ? [`${line.id} ${line.fate}`] : []));

test('a JSON-lines export has the conversation, then every message in order', async () => {
  const uid = randomUUID();
  const id = await build(uid, [{ user: 'Hi\nthere', answer: 'Hello.' }, {}]);

  const response = await chat.call(`/v1/conversations/${id}:export`, { uid });

  const lines = linesOf(await response.text());
  expect(response.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
  expect(response.headers.get('content-disposition')).toBe(
    `attachment; filename="conversation-${id}.jsonl"`,
  );
  expect(lines[0]).toMatchObject({ type: 'conversation', id, title: 'A trip', lastSeq: 2 });
  expect(lines[1]).toMatchObject({ parts: [{ text: 'Hi\nthere' }], conversationId: id });
  expect(fatesOf(lines)).toEqual([
    'message-1 answered',
    'm_1 answered',
    'message-2 answered',
    'm_2 answered',
  ]);
});

test('an export says which messages failed, were replaced, cancelled or deleted', async () => {
  const uid = randomUUID();
  const id = await build(uid, [
    { state: 'failed', answer: [] },
    { replacedBy: 4 },
    { state: 'cancelled', inContext: false },
    {},
  ]);
  const caller = { uid, tier: 'signedIn' } as const;
  await deleteMessage(chat.dependencies, { caller, conversationId: id, messageId: 'm_4' });

  const response = await chat.call(`/v1/conversations/${id}:export?format=jsonl`, { uid });

  expect(fatesOf(linesOf(await response.text()))).toEqual([
    'message-1 failed',
    'message-2 replaced',
    'm_2 replaced',
    'message-3 cancelled',
    'm_3 cancelled',
    'message-4 answerDeleted',
    'm_4 deleted',
  ]);
});

test('a Markdown export is for people', async () => {
  const uid = randomUUID();
  const code = 'Look:\n```ts\nlet a = 1;\n```';
  const id = await build(uid, [
    {
      user: 'Show me code.',
      answer: [
        { role: 'model', parts: [{ functionCall: { name: 'find', args: { text: '```' } } }] },
        { role: 'model', parts: [{ text: code }] },
      ],
    },
    { user: 'Old.', replacedBy: 3 },
  ]);

  const response = await chat.call(`/v1/conversations/${id}:export?format=markdown`, { uid });

  const text = await response.text();
  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  expect(text.startsWith('# A trip\n')).toBe(true);
  expect(text).toContain('Show me code.');
  expect(text).toContain(code);
  expect(text).toContain('````json call find\n');
  expect(text).toMatch(/## User, \S+ \(replaced by a later message\)\n\nOld\./);
});

test('an export is read as it is sent, and whole', async () => {
  const world = lifecycle();
  const { conversationId } = await buildConversation(world.store, { turns: 45 });
  let reads = 0;
  const store = {
    ...world.store,
    get: (paths: readonly string[]) => {
      reads += 1;
      return world.store.get(paths);
    },
  };
  const target = { caller: owner, conversationId, format: 'jsonl' } as const;

  const text = await exportConversation({ ...world.chat, store }, target);
  await text.next();
  await text.next();
  const readsForTwoLines = reads;
  const rest = await all(text);

  expect(readsForTwoLines).toBeLessThan(5);
  expect(rest).toHaveLength(89);
});

test('an export that breaks off ends the connection and is logged without content', async () => {
  const uid = randomUUID();
  const id = await build(
    uid,
    Array.from({ length: 45 }, () => ({})),
  );
  await chat.dependencies.store.commit([{ op: 'delete', path: turnPath(id, 40) }]);

  const response = await chat.call(`/v1/conversations/${id}:export`, { uid });

  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow('terminated');
  const broken = chat.logs.filter(({ event }) => event === 'export_broken');
  expect(broken).toEqual([
    {
      severity: 'WARNING',
      event: 'export_broken',
      fields: { requestId: expect.any(String), reason: 'STORE_UNAVAILABLE' },
    },
  ]);
});

test('a user’s export has all their conversations, deleted ones included, and nobody else’s', async () => {
  const uid = randomUUID();
  const live = await build(uid, [{}], 'live');
  const deleted = await build(uid, [{}, {}], 'deleted');
  const forking = await build(uid, [{}], 'forking');
  await build(randomUUID(), [{}], 'theirs');
  const { dependencies } = chat;
  const caller = { uid, tier: 'signedIn' } as const;
  await deleteConversation(dependencies, { caller, conversationId: deleted });
  await setConversation(dependencies, forking, { state: 'forking' });

  const response = await chat.call('/v1/users/me:export', { uid, method: 'POST' });

  const lines = linesOf(await response.text());
  expect(response.headers.get('content-disposition')).toBe(
    'attachment; filename="conversations.jsonl"',
  );
  const conversationDocuments = lines.filter((line) => line.type === 'conversation');
  expect(conversationDocuments.map(({ id }) => id).toSorted()).toEqual([live, deleted].toSorted());
  expect(lines).toHaveLength(2 + 2 + 4);
});
