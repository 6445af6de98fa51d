import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { listMessages } from '#functions/chat/conversations/list-messages.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import {
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { restore } from '#test/support/compaction/restoring.ts';
import { lifecycle, owner, setConversation } from '#test/support/chat/lifecycle.ts';

/*
 * A conversation as an earlier version stored it (recorded 2026-11-26): twenty turns, two compactions, calls of a tool,
 * an edit. Documents of a deployment are never migrated, so what is stored today must read this for ever.
 */
const fixtureSchema = z.object({
  conversationId: z.string(),
  contents: z.array(z.unknown()),
  documents: z.array(z.object({ path: z.string(), fields: z.record(z.string(), z.unknown()) })),
});

/** JSON knows no times: they stand as `{ $date }`. */
const reviver = (_key: string, value: unknown): unknown => {
  const tagged = z.strictObject({ $date: z.iso.datetime() }).safeParse(value);
  return tagged.success ? new Date(tagged.data.$date) : value;
};

async function storedBefore() {
  const file = new URL('../../fixtures/stored-conversation.json', import.meta.url);
  const fixture = fixtureSchema.parse(JSON.parse(await readFile(file, 'utf8'), reviver));
  const world = lifecycle();
  for (const { path, fields } of fixture.documents)
    await world.store.commit([{ op: 'create', path, fields: fields as DocumentFields }]);
  return { ...fixture, world };
}

test('a conversation stored by an earlier version shows the same context', async () => {
  const { conversationId, contents, world } = await storedBefore();

  const { items } = await showContext(world.chat, { caller: owner, conversationId });

  expect(items.map(({ content }) => content)).toEqual(contents);
});

test('a conversation stored by an earlier version keeps its transcript', async () => {
  const { conversationId, documents, world } = await storedBefore();

  const { messages } = await listMessages(world.chat, {
    caller: owner,
    conversationId,
    order: 'asc',
    afterSeq: 0,
    pageSize: 100,
    pageToken: undefined,
  });

  const turns = documents.filter(({ path }) => /\/turns\/\d+$/.test(path));
  expect(new Set(messages.map(({ seq }) => seq)).size).toBe(turns.length);
});

test('a conversation stored by an earlier version is compacted and restored again', async () => {
  const { conversationId, world } = await storedBefore();
  const before = await see(world.store, conversationId);
  await setConversation(world, conversationId, { compactionRequests: manualRequest() });

  const result = await compactOnce(world.bench, conversationId);
  const record = await restore(world, conversationId, before.conversation.generation);

  const after = await see(world.store, conversationId);
  expect(result).toMatchObject({ state: 'COMPACTED' });
  expect(record).toMatchObject({ state: 'RESTORED', restoredFrom: before.conversation.generation });
  expect(after.history?.snapshotText).toBe(before.history?.snapshotText);
  expect(after.text).toBe(before.text);
});
