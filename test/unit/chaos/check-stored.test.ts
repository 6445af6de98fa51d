import { describe, expect, test } from 'vitest';
import { createMemoryDocumentStore } from '../../../infra/local/embedded/memory-document-store.ts';
import { parseConfig } from '../../../functions/src/config.ts';
import type { Head } from '../../../shared/conversation/head.ts';
import { headPath } from '../../../shared/conversation/paths.ts';
import { assembleContext } from '../../../shared/conversation/assemble-context.ts';
import { checkStored, isSameContext } from '../../chaos/check-stored.ts';
import { readStoredConversation } from '../../chaos/stored-conversation.ts';
import { buildConversation } from '../../support/conversation-builder.ts';

const config = parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap', THRESHOLD_TOKENS: '100000' });

async function stored(head: Partial<Head> = {}) {
  const store = createMemoryDocumentStore();
  const { conversationId } = await buildConversation(store, { turns: 3, head });
  const read = await readStoredConversation(store, conversationId);
  if (!read) throw new Error('the conversation was not stored');
  return { store, read };
}

const findingsOf = (read: Parameters<typeof checkStored>[0]) =>
  checkStored(read, config).map(({ kind, what }) => `${kind}: ${what}`);

describe('the check of documents', () => {
  test('finds nothing in a conversation at rest', async () => {
    const { read } = await stored();

    expect(findingsOf(read)).toEqual([]);
  });

  test('finds a need that nobody served', async () => {
    const since = new Date('2026-01-01T00:00:00Z');
    const { read } = await stored({
      compactionNeeded: { auto: { requestId: 'r', since, trigger: 'auto' } },
    });

    expect(findingsOf(read)).toEqual([
      'unfinished: an automatic need waits since 2026-01-01T00:00:00.000Z',
    ]);
  });

  test('finds a turn that is missing', async () => {
    const { read } = await stored();

    expect(findingsOf({ ...read, turns: read.turns.slice(1) })).toEqual([
      'lost: 2 turns are stored, lastSeq is 3',
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

  test('finds a generation without its history', async () => {
    const { read } = await stored({ generation: 1 });

    expect(findingsOf(read)).toEqual(['lost: generation 1 has no history']);
  });

  test('finds a threshold that was crossed without a need or a record', async () => {
    const { read } = await stored();
    const { lastSeq: seq } = read.head;
    const head = { ...read.head, context: { ...read.head.context, tokens: 150_000, seq } };

    expect(findingsOf({ ...read, head })).toEqual([
      'unfinished: 150000 tokens crossed the threshold and nothing came of it',
    ]);
  });

  test('takes the context that the documents make, and no other', async () => {
    const { read } = await stored();
    const items = assembleContext({ ...read.head, ...read.contextParts });
    const shown = { generation: 0, items };

    expect(isSameContext(read, shown, config)).toBe(true);
    expect(isSameContext(read, { ...shown, items: items.slice(1) }, config)).toBe(false);
    expect(isSameContext(read, { ...shown, generation: 1 }, config)).toBe(false);
  });

  test('knows nothing of a conversation that nobody created', async () => {
    const { store, read } = await stored();
    await store.commit([{ op: 'delete', path: headPath(read.conversationId) }]);

    expect(await readStoredConversation(store, read.conversationId)).toBeUndefined();
  });
});
