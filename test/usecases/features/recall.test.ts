import { recallHistory, RECALL_TURNS } from '#functions/chat/turns/tools/built-in-tools.ts';
import type { ToolCallContext } from '#functions/chat/turns/tools/toolbox.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import {
  lifecycle,
  CANARY,
  dyingAt,
  removeMessage,
  compactedTwice,
} from '#test/support/chat/lifecycle.ts';
import { edit, threeTurns, answered } from '#test/support/chat/sending.ts';
import { call, response } from '#test/support/tools/tool-conversation.ts';
import { turnPath, recallPath } from '#shared/conversation/documents/paths.ts';
import type { Item } from '#shared/conversation/documents/snapshot.ts';
import {
  rewriteHistory,
  buildDue,
  compactOnce,
  neverAborted,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { indexConversation } from '#functions/recall/index-turns.ts';
import { contentText } from '#shared/models/content.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  type ConversationToBuild,
  type TurnToBuild,
  buildConversation,
} from '#test/support/compaction/conversation-builder.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

const alice = { uid: 'u1', tier: 'signedIn' } as const;

/** What the tool tells of a turn. */
interface Hit {
  seq: number;
  role: string;
  time: string;
  snippet: string;
  beside?: { role: string; snippet: string };
}

const isHits = (value: unknown): value is Hit[] => Array.isArray(value);

type Asked = { query: string; before?: number } & Partial<ToolCallContext>;

/** What the tool answers to a call in the turn after the last one. */
async function recall(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'clock' | 'logger'>,
  conversationId: string,
  { query, before, ...context }: Asked,
) {
  const conversation = await readConversation(dependencies.store, conversationId);
  const seq = (conversation?.value.lastSeq ?? 0) + 1;
  const answer = await recallHistory(dependencies).run(
    { query, before },
    {
      caller: alice,
      conversationId,
      seq,
      key: `t_${seq}:0`,
      isApproved: false,
      signal: new AbortController().signal,
      ...context,
    },
  );
  const { hits, topics, searched, note } = answer;
  if (!isHits(hits)) throw new Error('no hits in the answer');
  return { hits, topics, searched, note };
}

/** A conversation of these turns, in an instance of its own. */
async function conversationOf(turns: readonly TurnToBuild[]) {
  const dependencies = chatDependencies();
  const { conversationId } = await buildConversation(dependencies.store, { turns });
  return { dependencies, conversationId };
}

/** Turns that say nothing. */
const filler = (count: number): TurnToBuild[] =>
  Array.from({ length: count }, (_, i) => ({ user: `Filler ${i}.`, answer: 'Nothing.' }));

test('recall_history finds a turn by other word forms and shows both sides', async () => {
  const { dependencies, conversationId } = await conversationOf([
    ...filler(2),
    { user: 'I bought two tickets to Lisbon.', answer: 'Seat 12A, then.' },
    ...filler(5),
  ]);

  const { hits, searched } = await recall(dependencies, conversationId, {
    query: 'When did I buy the ticket to Lisbon?',
  });

  expect(hits[0]).toEqual({
    seq: 3,
    role: 'user',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    snippet: 'I bought two tickets to Lisbon.',
    beside: { role: 'model', snippet: 'Seat 12A, then.' },
  });
  expect(searched).toEqual({ turns: 8, newestSeq: 8, oldestSeq: 1, isWhole: true });
});

test('recall_history does not find its own output', async () => {
  const echo = response('recall_history', 'the harbour of Piran');
  const turns = [
    { user: 'The harbour of Piran.', answer: 'Yes.' },
    ...filler(4),
    { user: 'Which one?', answer: [call('recall_history', { query: 'Piran' }), echo] },
    ...filler(4),
  ];
  const { dependencies, conversationId } = await conversationOf(turns);

  const { hits } = await recall(dependencies, conversationId, { query: 'Piran' });

  expect(hits.filter(({ snippet }) => snippet.includes('Piran')).map(({ seq }) => seq)).toEqual([
    1,
  ]);
});

test('recall_history leaves out what an edit replaced, also when already read', async () => {
  const { id, dependencies, messageIds } = await threeTurns();
  const before = await recall(dependencies, id, { query: 'two' });

  await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));
  const after = await recall(dependencies, id, { query: 'two' });

  const said = (hits: Hit[]) =>
    hits.map(({ snippet }) => snippet).filter((text) => text.includes('two'));
  expect(said(before.hits)).toEqual(['two']);
  expect(said(after.hits)).toEqual(['two, corrected']);
});

test('recall_history never returns erased text, also when already read', async () => {
  const { dependencies, conversationId } = await conversationOf([
    ...filler(1),
    { user: 'My code is 7731.', answer: 'The code 7731, noted.' },
    ...filler(3),
  ]);
  const before = await recall(dependencies, conversationId, { query: 'code 7731' });

  await deleteMessage(dependencies, { caller: alice, conversationId, messageId: 'message-2' });
  const after = await recall(dependencies, conversationId, { query: 'code 7731' });

  expect(before.hits[0]?.seq).toBe(2);
  expect(JSON.stringify(after)).not.toContain('7731');
});

/** A conversation of `turns`, and the turns that are read of it. */
async function readingOf(turns: Parameters<typeof conversationOf>[0]) {
  const { dependencies, conversationId } = await conversationOf(turns);
  const read: string[] = [];
  const get = (paths: readonly string[]) => {
    read.push(...paths.filter((path) => path.includes('/turns/')));
    return dependencies.store.get(paths);
  };
  return {
    dependencies: { ...dependencies, store: { ...dependencies.store, get } },
    conversationId,
    read,
  };
}

test('recall_history searches a bounded number of turns and says how to continue', async () => {
  const { dependencies, conversationId, read } = await readingOf([
    { user: 'the oldest boat', answer: 'x' },
    ...filler(1),
  ]);

  const { hits, searched, note } = await recall(dependencies, conversationId, {
    query: 'oldest boat',
    seq: RECALL_TURNS + 2,
  });

  expect(read).toHaveLength(RECALL_TURNS);
  expect(searched).toMatchObject({ turns: RECALL_TURNS, oldestSeq: 2, isWhole: false });
  expect(hits.map(({ seq }) => seq)).not.toContain(1);
  expect(note).toContain('"before": 2');
  const [oldest] = await dependencies.store.get([turnPath(conversationId, 1)]);
  expect(oldest).toBeDefined();
});

type Topic = [title: string, from: number, through: number, day: string];

const topicItem = ([text, from, through, at]: Topic, index: number): Item => ({
  id: `t${index}`,
  text,
  sources: [from],
  through,
  at,
  importance: 2,
  by: 'model',
});

const trip: Topic[] = [
  ['flight to Lisbon booked', 1, 2, '2026-02-27'],
  ['secret word chosen', 3, 5, '2026-03-04'],
  ['hotel in Lisbon compared', 6, 8, '2026-03-09'],
  ['pottery class, first bowl', 9, 14, '2026-04-01'],
];

/** Topics that have left for the archive, the first ones. */
const ARCHIVED = 2;

/** A compacted conversation with this timeline. */
async function conversationWith(topics: readonly Topic[]) {
  const world = lifecycle();
  const conversationId = await compactedTwice(world, [['The user likes trams.', 1]]);
  const items = topics.map(topicItem);
  for (const generation of [1, 2])
    await rewriteHistory(
      world.store,
      { conversationId, generation },
      {
        snapshot: {
          schemaVersion: 1,
          profile: 'assistant',
          sections: { timeline: items.slice(ARCHIVED) },
          archive: items.slice(0, ARCHIVED).map((item) => ({ ...item, section: 'timeline' })),
          nextId: items.length + 1,
        },
      },
    );
  return { world, conversationId };
}

describe('the topics of recall_history', () => {
  test('a query that names a month gets the topics of that month, archived ones too, in order', async () => {
    const { world, conversationId } = await conversationWith(trip);

    const { topics } = await recall(world.chat, conversationId, {
      query: 'What did we talk about in March 2026?',
    });

    expect(topics).toEqual([
      { title: 'secret word chosen', from: 3, through: 5, day: '2026-03-04' },
      { title: 'hotel in Lisbon compared', from: 6, through: 8, day: '2026-03-09' },
    ]);
  });

  test.each(['while it is being erased', 'afterwards'])(
    'no topic of an erased turn comes %s, wherever in the topic the turn stands',
    async (when) => {
      const { world, conversationId } = await conversationWith(trip);
      const chat =
        when === 'afterwards' ? world.chat : { ...world.chat, ...dyingAt('message-wiped') };
      await removeMessage({ chat }, conversationId, 'message-7').catch(() => undefined);

      const { topics } = await recall(world.chat, conversationId, { query: 'hotel Lisbon secret' });

      expect(JSON.stringify(topics)).not.toContain('hotel');
      expect(JSON.stringify(topics)).not.toContain(CANARY);
    },
  );
});

const caller = { uid: 'u1', tier: 'signedIn' } as const;

const usage = { promptTokens: 700, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };

const PARROTS = 'The landlady keeps green parrots, which wake me early.';

/** Twenty turns, the third of which tells of parrots, the fourth of a cat. */
const told: TurnToBuild[] = Array.from({ length: 20 }, (_, i) => {
  if (i === 2) return { user: PARROTS, answer: 'Earplugs may help.' };
  return i === 3 ? { user: 'Our cat Biscuit needs drops twice a day.' } : {};
});

/** Chat and worker on one store, and a conversation that was compacted once. */
async function folded(
  options: Partial<ConversationToBuild> = {},
  environment: Record<string, string> = {},
) {
  const streamer = scriptedStreamer(textAnswer('Fine.', usage));
  const logged: { event: string; fields: object }[] = [];
  const chat = chatDependencies(
    {
      model: streamer.model,
      logger: { log: (_severity, event, fields) => void logged.push({ event, fields }) },
    },
    environment,
  );
  const bench = compactionBench({ store: chat.store });
  const conversationId = await buildDue(bench, { turns: told, ...options });
  await compactOnce(bench, conversationId);
  return {
    chat,
    bench,
    conversationId,
    logged,
    /** What the model reads as the last content of the first call. */
    ask: async (text: string, request: Partial<SendRequest> = {}) => {
      const message = { id: randomUUID(), parts: [{ text }] };
      const handle = await sendMessage(chat, { caller, conversationId, message, ...request });
      const { turn, context } = await handle.result;
      const last = streamer.requests.at(-1)?.contents.at(-1);
      return { text: last ? contentText(last) : '', turn, context };
    },
  };
}

describe('a message about what was folded', () => {
  test('a message about folded turns is answered with their records, day and speaker named', async () => {
    const { ask } = await folded();
    const asked = await ask('Who keeps parrots?');
    expect(asked.text).toContain(`\n2026-01-02\nuser: ${PARROTS}\n`);
    expect(asked.text.endsWith('Who keeps parrots?')).toBe(true);
  });

  test('a recalling message’s context names the source turns and keeps no word', async () => {
    const { ask, chat, conversationId } = await folded();
    const { context, turn } = await ask('Who keeps parrots?');
    expect(context.recalled?.turns).toContain('t_3');
    expect(context.recalled?.count).toBe(context.recalled?.turns.length);
    expect(context.recalled?.tokens).toBeGreaterThan(20);
    expect(JSON.stringify(turn)).not.toContain('green parrots');
    expect((await see(chat.store, conversationId)).text).not.toContain('<recalled>');
  });

  test('recalled records count in the request and never for the threshold', async () => {
    const [plain, recalling] = await Promise.all([folded({}, { RECALL_TOKENS: '0' }), folded()]);
    const text = 'Who keeps parrots?';
    // Both models report the same prompt: what was brought back is a part of it, and not of the next one.
    const [whole, without] = [(await plain.ask(text)).context, (await recalling.ask(text)).context];
    expect(whole.tokens - without.tokens).toBeGreaterThanOrEqual(
      without.recalled?.tokens ?? Infinity,
    );
  });

  test.each([
    ['the deployment', {}, { RECALL_TOKENS: '0' }, {}],
    ['the conversation', { settings: { thresholdTokens: 1_000, recallTokens: 0 } }, {}, {}],
    ['the message', {}, {}, { recallTokens: 0 }],
  ] as const)(
    'a message recalls nothing where %s says so',
    async (...[, conversation, environment, request]) => {
      const { ask } = await folded({ conversation }, environment);
      expect((await ask('Who keeps parrots?', request)).text).not.toContain('<recalled>');
    },
  );
});

test('a message does not wait long for the recall index', async () => {
  const { ask, chat, conversationId, logged } = await folded();
  const get = chat.store.get.bind(chat.store);
  chat.store.get = (paths) =>
    paths.includes(recallPath(conversationId, 1)) ? new Promise(() => undefined) : get(paths);
  expect((await ask('Who keeps parrots?')).text).not.toContain('<recalled>');
  expect(logged.map(({ event }) => event)).toContain('recall_late');
});

test('a missing recall index is requested and built by the worker', async () => {
  const { ask, chat, bench, conversationId } = await folded();
  await chat.store.commit([{ op: 'delete', path: recallPath(conversationId, 1) }]);
  expect((await ask('Who keeps parrots?')).text).not.toContain('<recalled>');
  expect(chat.published).toContainEqual({
    topic: 'compaction',
    data: { schemaVersion: 1, kind: 'index', conversationId, isBroken: true },
  });
  await indexConversation(bench, { conversationId, isBroken: true }, neverAborted());
  expect((await ask('Who keeps parrots?')).text).toContain('green parrots');
});

test('the recall index has nothing of a deleted message', async () => {
  const { ask, chat, conversationId } = await folded();
  await ask('Who keeps parrots?');
  await deleteMessage(chat, { caller, conversationId, messageId: 'message-3' });
  expect((await ask('Who keeps parrots?')).text).not.toContain('green parrots');
});
