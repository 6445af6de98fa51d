import { describe, expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { parseConfig } from '#functions/config.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { checkStored } from './check-stored.ts';
import { readStoredConversation } from './stored-conversation.ts';
import { verifyStored } from './verify-stored.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';

const config = parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap', THRESHOLD_TOKENS: '100000' });

async function stored(conversation: Partial<Conversation> = {}) {
  const store = createMemoryDocumentStore();
  const { conversationId } = await buildConversation(store, { turns: 3, conversation });
  const read = await readStoredConversation(store, conversationId);
  if (!read) throw new Error('the conversation was not stored');
  return { store, read };
}

const findingsOf = (read: Parameters<typeof checkStored>[0]) =>
  checkStored(read).map(({ kind, what }) => `${kind}: ${what}`);

describe('the check of documents', () => {
  test('finds nothing in a conversation at rest', async () => {
    const { read } = await stored();

    expect(findingsOf(read)).toEqual([]);
  });

  test('finds a need that nobody served', async () => {
    const since = new Date('2026-01-01T00:00:00Z');
    const { read } = await stored({
      compactionRequests: { auto: { requestId: 'r', since, trigger: 'auto' } },
    });

    expect(findingsOf(read)).toEqual([
      'unfinished: an automatic need waits since 2026-01-01T00:00:00.000Z',
    ]);
  });

  test('finds a turn that is still open', async () => {
    const { read } = await stored();
    const [first, ...rest] = read.turns;
    const turns = first ? [{ ...first, state: 'running' as const }, ...rest] : [];

    expect(findingsOf({ ...read, turns })).toEqual(['unfinished: turn 1 is running']);
  });

  test('finds a turn that was answered before an earlier one', async () => {
    const { read } = await stored();
    const finishTime = new Date('2036-01-01T00:00:00Z');
    const turns = read.turns.map((turn) => (turn.seq === 1 ? { ...turn, finishTime } : turn));

    expect(findingsOf({ ...read, turns })).toEqual([
      'mismatched: turn 2 was answered before turn 1',
    ]);
  });

  test('lets a turn that failed at first be answered after a later one', async () => {
    const { read } = await stored();
    const finishTime = new Date('2036-01-01T00:00:00Z');
    const turns = read.turns.map((turn) =>
      turn.seq === 1 ? { ...turn, finishTime, attempt: 2 } : turn,
    );

    expect(findingsOf({ ...read, turns })).toEqual([]);
  });

  test('knows nothing of a conversation that nobody created', async () => {
    const { store, read } = await stored();
    await store.commit([{ op: 'delete', path: conversationPath(read.conversationId) }]);

    expect(await readStoredConversation(store, read.conversationId)).toBeUndefined();
  });
});

describe('the check of invariants at rest', () => {
  const items = [{ kind: 'turn', seq: 1, content: { role: 'user', parts: [{ text: 'Other.' }] } }];

  test('calls what lacks lost, and another context than the documents make mismatched', async () => {
    const { store, read } = await stored();
    const { conversationId } = read;
    await store.commit([{ op: 'delete', path: turnPath(conversationId, 2) }]);

    const found = await verifyStored(
      { store, config, shown: { generation: 0, items } },
      conversationId,
    );

    expect(found.map(({ kind, what }) => `${kind}: ${what.split(' ', 2).join(' ')}`)).toEqual([
      'lost: I1 turn-missing',
      'lost: I1 guard-dangling',
      'mismatched: I9 context-differs:',
    ]);
  });

  test('finds nothing where everything is as it should be', async () => {
    const { store, read } = await stored();

    expect(await verifyStored({ store, config }, read.conversationId)).toEqual([]);
  });
});
