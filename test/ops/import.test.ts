import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/models/content.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { sendAll } from '#test/support/chat/sending.ts';
import { compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import {
  answeredDocument,
  answeredDocuments,
  sentAt,
  storeDiscussion,
  transcript,
  killedAt,
  readImported,
  run,
  storedDiscussion,
  type ImportWorld,
} from '#test/support/import/extension.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { foundIn, verifyWorld } from '../support/compaction/verifying.ts';
import { expect, test } from 'vitest';

/* Discussions of the Firebase extension become conversations. */

const newWorld = (): ImportWorld => ({ ...verifyWorld(), tree: undefined });

test('an import makes one conversation of each discussion, with its owner, order and times, once --yes is given', async () => {
  const world = newWorld();
  const { collection, conversationId } = await storedDiscussion(world, answeredDocuments(3));

  const dry = await run(world);
  const before = await readImported(world, conversationId);
  const done = await run(world, '--yes');

  expect(dry.out).toContain('3 turns would be written\n--yes does it');
  expect(before).toBeUndefined();
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining('1 discussion: 1 created') });
  expect(await readImported(world, conversationId)).toMatchObject({
    ownerUid: 'u1',
    state: 'live',
    lastSeq: 3,
    title: 'Question 1',
    createTime: sentAt(1),
    metadata: { importedFrom: collection },
  });
  expect(await transcript(world.store, conversationId, 3)).toEqual(
    [1, 2, 3].map((n) => ({
      said: [`Question ${n}`, `Answer ${n}`],
      state: 'done',
      inContext: true,
      createTime: sentAt(n),
      finishTime: new Date(sentAt(n).getTime() + 4_000),
    })),
  );
  expect(await foundIn(world, conversationId)).toEqual([]);
});

test('a second import changes nothing, and one after new messages adds them alone', async () => {
  const world = newWorld();
  const { collection, conversationId } = await storedDiscussion(world, answeredDocuments(3));
  await run(world, '--yes');
  const first = await readConversation(world.store, conversationId);

  const second = await run(world, '--yes');
  const same = await readConversation(world.store, conversationId);
  const later = { later: answeredDocument(9, 'And now?', 'Now this.') };
  await storeDiscussion(world.store, collection, later);
  const third = await run(world, '--yes');

  expect(second.out).toContain('1 unchanged, 0 without a message; 0 turns written');
  expect(same).toEqual(first);
  expect(third.out).toContain('1 extended, 0 unchanged, 0 without a message; 1 turn written');
  const turns = await transcript(world.store, conversationId, 4);
  expect(turns.at(-1)?.said).toEqual(['And now?', 'Now this.']);
  expect(await foundIn(world, conversationId)).toEqual([]);
});

test('an import leaves conversations alone that went on in Recap, were deleted, or lost their order', async () => {
  const world = newWorld();
  const [continued, deleted, changed, large] = [
    await storedDiscussion(world, answeredDocuments(2)),
    await storedDiscussion(world, answeredDocuments(2)),
    await storedDiscussion(world, answeredDocuments(2)),
    await storedDiscussion(world, { a: answeredDocument(1, '\u0001'.repeat(700_000), 'Oh.') }),
  ];
  await run(world, '--yes');
  await sendAll(world.chat, continued.conversationId, ['I go on here.']);
  await deleteConversation(world.chat, {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId: deleted.conversationId,
  });
  const between = { y: answeredDocument(1.5, 'Between', '.') };
  for (const { collection } of [continued, changed])
    await storeDiscussion(world.store, collection, between);
  const ids = [continued, deleted, changed].map(({ conversationId }) => conversationId);
  const before = await Promise.all(ids.map((id) => readConversation(world.store, id)));

  const { code, out } = await run(world, '--yes');

  expect(code).toBe(1);
  for (const reason of ['continued', 'deleted', 'source-changed', 'too-large'])
    expect(out).toContain(`1 discussion left out (${reason})`);
  expect(out).toContain(large.collection);
  expect(await Promise.all(ids.map((id) => readConversation(world.store, id)))).toEqual(before);
});

test.each([1, 2, 3])(
  'an import killed at commit %i of a long discussion hides it, and the next run completes it',
  async (nth) => {
    const world = newWorld();
    const { conversationId } = await storedDiscussion(world, answeredDocuments(450));
    const killed = { ...world, chat: { ...world.chat, store: killedAt(world.store, nth) } };

    const first = await run(killed, '--yes');
    const between = await readImported(world, conversationId);
    const hidden = await foundIn(world, conversationId);
    const second = await run(world, '--yes');

    expect([first.code, second.code]).toEqual([1, 0]);
    expect(between?.state).toBe(nth === 1 ? undefined : 'deleted');
    expect(hidden).toEqual([]);
    expect((await readImported(world, conversationId))?.state).toBe('live');
    const turns = await transcript(world.store, conversationId, 450);
    expect(turns.map(({ said }) => said)).toEqual(
      Array.from({ length: 450 }, (_, i) => [`Question ${i + 1}`, `Answer ${i + 1}`]),
    );
    expect(await foundIn(world, conversationId)).toEqual([]);
  },
);

test('failed and empty answers keep their messages in the transcript and out of the context; what is no message is named with the reason', async () => {
  const world = newWorld();
  const { collection, conversationId } = await storedDiscussion(world, {
    a: answeredDocument(1, 'One', 'First.'),
    b: { prompt: 'Two', createTime: sentAt(2), status: { state: 'ERROR', error: 'No quota.' } },
    c: { prompt: 'Three', createTime: sentAt(3), status: { state: 'COMPLETED' }, response: '' },
    d: answeredDocument(4, 'Four', 'Fourth.'),
    e: { prompt: 3, createTime: sentAt(5) },
    f: { prompt: 'Six', response: 'Sixth.' },
    g: { createTime: sentAt(7) },
    h: { prompt: 'Eight', createTime: sentAt(8), status: { state: 'PROCESSING' } },
  });

  const { code, out } = await run(world, '--yes');

  expect(code).toBe(0);
  const turns = await transcript(world.store, conversationId, 4);
  expect(turns.map(({ said, state, inContext }) => [...said, state, inContext])).toEqual([
    ['One', 'First.', 'done', true],
    ['Two', 'failed', false],
    ['Three', 'failed', false],
    ['Four', 'Fourth.', 'done', true],
  ]);
  expect(out).toContain('2 documents left out (no-prompt)');
  expect(out).toMatch(new RegExp(`1 document left out \\(no-order\\): .*\n  ${collection}/f`));
  expect(out).toContain('1 document left out (not-answered)');
  expect(await foundIn(world, conversationId)).toEqual([]);
});

test('an imported conversation over its threshold is compacted after its next message, and recalls what was folded', async () => {
  const store = createMemoryDocumentStore();
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const chat = chatDependencies({ store, model }, { THRESHOLD_TOKENS: '1000' });
  const { bench } = verifyWorld(store);
  const world = { store, chat, bench: { ...bench, config: chat.config }, tree: undefined };
  const parrots = 'The landlady keeps green parrots, which wake me early.';
  const { conversationId } = await storedDiscussion(world, {
    ...answeredDocuments(30, ', which is about a harbour, a market and a bridge.'.repeat(5)),
    first: answeredDocument(0, parrots, 'Earplugs may help.'),
  });
  await run(world, '--yes');

  const before = await readImported(world, conversationId);
  await sendAll(chat, conversationId, ['And the market?']);
  const after = await readImported(world, conversationId);
  await compactOnce(world.bench, conversationId);
  await sendAll(chat, conversationId, ['Who keeps parrots?']);

  expect(before?.compactionRequests).toEqual({});
  expect(before?.context.tokens).toBeGreaterThan(1_000);
  expect(after?.compactionRequests.auto?.trigger).toBe('auto');
  expect((await readImported(world, conversationId))?.generation).toBe(1);
  const last = requests.at(-1)?.contents.at(-1);
  expect(last && contentText(last)).toContain(`\n2025-03-01\nuser: ${parrots}\n`);
  expect(await foundIn(world, conversationId)).toEqual([]);
});
