import { eraseOwnConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { eraseEvent, sweepEvent } from '#shared/compaction/event.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { auto, compact, killing, since } from '../kill-matrix/killing.ts';
import { again, openBreaker, problemsOf, swapProblemsOf } from '../kill-matrix/recovery.ts';
import { madeUpQuestion } from '../support/compaction/conversation-builder.ts';
import { longListings } from '../support/tools/tool-conversation.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

/** Points that only an answer of more than 600 ms has. */
const FLUSHED_IN_BETWEEN: ReadonlySet<string> = new Set(['before-flush', 'flushed']);

const { victims, documentsOf, built, killAt, deliver } = killing();

describe('a killed chat function', () => {
  test.each([
    'turn-started',
    'before-flush',
    'flushed',
    'answer-streamed',
    'before-finish',
    'turn-finished',
    'turn-published',
  ])(
    'chat killed at %s answers a message once and starts its due compaction once',
    async (point) => {
      const id = randomUUID();
      const conversationId = await built({ turns: 7 });
      const text = `Tell me about the harbour. ${madeUpQuestion(8).repeat(4)}`;
      const message = { id, parts: [{ text }] };
      const path = `/v1/conversations/${conversationId}/messages`;
      const body = { message: { id, parts: [{ type: 'text', text }] } };

      victims().fakeGemini.setTiming({ tokensPerSecond: FLUSHED_IN_BETWEEN.has(point) ? 30 : 0 });
      await killAt(point, (victim) => victim.ask({ method: 'POST', path, body }));
      victims().fakeGemini.setTiming({ tokensPerSecond: 0 });
      const { turn } = await again(
        async () => (await sendMessage(victims().chat, { caller, conversationId, message })).result,
      );
      await deliver(compact(conversationId));

      const documents = await documentsOf(conversationId);
      expect(problemsOf(documents)).toEqual([]);
      const stored = documents.turns.filter(({ messageId }) => messageId === id);
      expect(stored).toMatchObject([{ seq: 8, state: 'done', contents: turn.contents }]);
      expect(stored.map(({ user }) => contentText(user))).toEqual([text]);
      expect(documents.conversation).toMatchObject({ lastSeq: 8, generation: 1 });
    },
    60_000,
  );

  test('chat killed at message-wiped leaves a deletion that the repeated request finishes', async () => {
    const conversationId = await built({ turns: [{ user: 'The word is zephyr.' }, {}] });

    await killAt('message-wiped', (victim) =>
      victim.ask({ method: 'DELETE', path: `/v1/conversations/${conversationId}/messages/m_1` }),
    );
    await again(() =>
      deleteMessage(victims().chat, { caller, conversationId, messageId: 'message-1' }),
    );

    const documents = await documentsOf(conversationId);
    expect(problemsOf(documents)).toEqual([]);
    expect(JSON.stringify(documents)).not.toContain('zephyr');
  });

  test.each(['fork-begun', 'fork-batch-copied', 'fork-copied', 'fork-live'])(
    'chat killed at %s leaves a fork that the repeated request finishes',
    async (point) => {
      const conversationId = await built({ turns: 4 });
      const id = randomUUID();

      await killAt(point, (victim) =>
        victim.ask({
          method: 'POST',
          path: `/v1/conversations/${conversationId}:fork`,
          body: { messageId: 'm_3', id },
        }),
      );
      await again(() =>
        forkConversation(victims().chat, { caller, conversationId, messageId: 'm_3', id }),
      );

      const [source, copy] = await Promise.all([documentsOf(conversationId), documentsOf(id)]);
      expect(problemsOf(copy)).toEqual([]);
      expect(copy.turns.map(({ user, contents }) => [user, contents])).toEqual(
        source.turns.slice(0, 3).map(({ user, contents }) => [user, contents]),
      );
    },
  );
});

describe('a worker that is killed', () => {
  test.each([
    'received',
    'before-claim',
    'claimed',
    'planned',
    'summarised',
    'status-written',
    'verified',
    'indexed',
    'before-swap',
    'swapped',
    'settled',
    'reported',
    'acknowledged',
  ])(
    'a worker killed at %s leaves a conversation that the next delivery compacts once',
    async (point) => {
      const conversationId = await built({ conversation: { compactionRequests: auto() } });

      await killAt(point, (victim) => victim.push(compact(conversationId)));
      await deliver(compact(conversationId));

      expect(swapProblemsOf(await documentsOf(conversationId))).toEqual([]);
    },
  );

  test('a worker killed at blobs-saved leaves a conversation that the next delivery compacts once', async () => {
    const conversationId = await built({
      turns: longListings(2),
      isReported: true,
      conversation: { compactionRequests: auto() },
    });
    await openBreaker(victims().chat.store, conversationId);

    await killAt('blobs-saved', (victim) => victim.push(compact(conversationId)));
    await deliver(compact(conversationId));

    expect(swapProblemsOf(await documentsOf(conversationId))).toEqual([]);
  });

  test('a worker killed at record-written leaves a compaction request that the next delivery settles', async () => {
    const manual = { requestId: 'manual-1', since: since() };
    const conversationId = await built({ conversation: { compactionRequests: { manual } } });
    const fault = { kind: 'emptyCandidates', shape: 'noParts', times: 100 } as const;
    victims().fakeGemini.queueFaults({ ...fault, match: { role: 'utility_compressor' } });

    await killAt('record-written', (victim) => victim.push(compact(conversationId)));
    victims().fakeGemini.clearFaults();
    await deliver(compact(conversationId));

    const documents = await documentsOf(conversationId);
    expect(problemsOf(documents)).toEqual([]);
    expect(documents.conversation?.generation).toBe(0);
    expect(documents.job?.records).toMatchObject([{ state: 'FAILED_EMPTY_SUMMARY' }]);
  });

  test.each([
    'erase-begun',
    'erase-pass-done',
    'erase-uploads-released',
    'erase-tombstone-written',
  ])('a worker killed at %s leaves an erasure that the next delivery finishes', async (point) => {
    const conversationId = await built({ turns: 4 });
    await eraseOwnConversation(victims().chat, { caller, conversationId });

    await killAt(point, (victim) => victim.push(eraseEvent({ conversationId })));
    await deliver(eraseEvent({ conversationId }));

    const { conversation, ...below } = await documentsOf(conversationId);
    expect(conversation).toMatchObject({ state: 'erased', ownerUid: '' });
    expect(below).toEqual({ job: undefined, turns: [], histories: [], messages: new Map() });
  });
});

const PAST = new Date(0);

/** Conversations that were left in every way that a sweep puts right. */
async function neglected() {
  const [left, binned, expired, due] = await Promise.all([
    built({ turns: 2, conversation: { open: { seq: 2, leaseUntil: PAST } } }),
    built({ turns: 2, conversation: { state: 'deleted', compactionRequests: auto() } }),
    built({ turns: 2, conversation: { expireTime: PAST } }),
    built({ conversation: { compactionRequests: auto() } }),
  ]);
  await victims().chat.store.commit([
    {
      op: 'update',
      path: turnPath(left, 2),
      fields: { state: 'running', leaseUntil: PAST, contents: [] },
      guard: { exists: true },
    },
  ]);
  return { left, binned, expired, due };
}

test.each([
  'sweep-turns-mended',
  'sweep-published',
  'sweep-request-dropped',
  'sweep-marked',
  'sweep-erased',
  'sweep-swept',
])('a sweep killed at %s is finished by the next one', async (point) => {
  const { left, binned, expired, due } = await neglected();

  await killAt(point, (victim) => victim.push(sweepEvent));
  await deliver(sweepEvent);
  await deliver(compact(due));

  expect(problemsOf(await documentsOf(left))).toEqual([]);
  expect((await documentsOf(left)).turns[1]?.state).toBe('failed');
  const [binnedConversation, ...tombstone] = await victims().chat.store.get([
    conversationPath(binned),
    conversationPath(expired),
    turnPath(expired, 1),
  ]);
  expect(binnedConversation?.fields['compactionRequests']).toEqual({});
  expect(tombstone.map((document) => document?.fields['state'])).toEqual(['erased', undefined]);
  expect(swapProblemsOf(await documentsOf(due))).toEqual([]);
});
