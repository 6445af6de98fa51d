import { searchConversations } from '#functions/chat/inbox/search-conversations.ts';
import { searchMessages } from '#functions/chat/features/search-messages.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { firstInboxWrites } from '#shared/conversation/documents/inbox.ts';
import { conversationPath, inboxPath, turnPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  CANARY,
  compacted,
  dyingAt,
  lifecycle,
  owner,
  removeMessage,
  stranger,
} from '#test/support/chat/lifecycle.ts';
import { edit, answered, threeTurns } from '#test/support/chat/sending.ts';
import {
  buildConversation,
  type TurnToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { describe, expect, test } from 'vitest';

const START_MS = Date.parse('2026-01-02T03:04:05.000Z');
const still = { left: new AbortController().signal };

type Asked = Partial<Parameters<typeof searchConversations>[1]>;

const search = (dependencies: ChatDependencies, q: string, more: Asked = {}) =>
  searchConversations(dependencies, { caller: owner, q, pageSize: 30, ...still, ...more });

/** What was found, by the title of its conversation. */
const foundBy = ({ hits }: Awaited<ReturnType<typeof search>>) =>
  hits.map(({ title, role, seq }) => `${title} ${role}${seq}`);

/** Stores the entry that the inbox of a conversation's owner has of it. */
async function list(store: DocumentStore, conversationId: string) {
  const conversation = await readConversation(store, conversationId);
  if (!conversation) throw new Error('there is no such conversation');
  await store.commit(firstInboxWrites(conversationId, conversation.value, new Date(START_MS)));
}

/** A world in which conversations are stored with their entries, each newer than the one before. */
function world(overrides: Partial<ChatDependencies> = {}) {
  const store = createMemoryDocumentStore();
  const reads = { documents: 0, turns: 0, conversations: [] as string[] };
  const counted: DocumentStore = {
    ...store,
    get: (paths) => {
      reads.documents += paths.length;
      reads.turns += paths.filter((path) => path.includes('/turns/')).length;
      reads.conversations.push(...paths.filter((path) => path.split('/').length === 2));
      return store.get(paths);
    },
    query: async (query) => {
      const documents = await store.query(query);
      reads.documents += documents.length;
      return documents;
    },
  };
  let built = 0;
  const build = async (
    title: string,
    turns: readonly TurnToBuild[],
    fields: Partial<Conversation> = {},
  ) => {
    const createTime = new Date(START_MS + ++built * 60_000);
    const conversation = { title, createTime, ...fields };
    const { conversationId } = await buildConversation(store, {
      turns,
      conversation,
      now: createTime,
    });
    await list(store, conversationId);
    return conversationId;
  };
  const set = (path: string, fields: Record<string, string | number | boolean>) =>
    store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
  return { store, reads, build, set, chat: chatDependencies({ store: counted, ...overrides }) };
}

type World = ReturnType<typeof world>;

const filler = (count: number): TurnToBuild[] =>
  Array.from({ length: count }, (_, i) => ({ user: `Filler ${i}.`, answer: 'Nothing.' }));

describe('searching all conversations', () => {
  test('searching all conversations finds the messages of each, archived ones too, the best first', async () => {
    const { chat, build } = world();
    await build('rigging', [{ user: 'Where does one buy sails?', answer: 'At the harbour.' }]);
    await build('old', [{ user: 'My boat needs new sails.', answer: 'Then buy some.' }], {
      archived: true,
    });
    await build('cooking', [{ user: 'How long do eggs take?', answer: 'Six minutes.' }]);

    const found = await search(chat, 'boat sails');

    expect(foundBy(found)).toEqual(['old user1', 'rigging user1']);
    expect(found).toMatchObject({ searched: 3, unreached: [], titles: [] });
    expect(found.nextPageToken).toBeUndefined();
  });

  test('a hit is the one that the search of its conversation has, with the conversation beside it', async () => {
    const { chat, build } = world();
    const conversationId = await build('boats', [{ user: 'My boat is red.', answer: 'Nice.' }]);

    const [hit] = (await search(chat, 'boat')).hits;

    const one = await searchMessages(chat, {
      caller: owner,
      conversationId,
      q: 'boat',
      pageSize: 5,
    });
    const { score: _, ...same } = one.hits[0] ?? { score: 0 };
    expect(hit).toEqual({
      ...same,
      conversationId,
      title: 'boats',
      score: expect.any(Number),
    });
  });

  test('a conversation whose title has the words is named, once', async () => {
    const { chat, build } = world();
    const conversationId = await build('Boats and sails', [
      { user: 'boat one', answer: 'boat two' },
    ]);
    await build('cooking', [{ user: 'eggs', answer: 'six minutes' }]);

    const first = await search(chat, 'boat', { pageSize: 1 });
    const second = await search(chat, 'boat', { pageSize: 1, pageToken: first.nextPageToken });

    expect(first.titles).toEqual([{ conversationId, title: 'Boats and sails' }]);
    expect(second).toMatchObject({ titles: [], hits: [{ conversationId }] });
  });

  test('searching all conversations marks what an edit replaced', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    await answered(dependencies, edit(id, messageIds[2] ?? '', 'three, corrected'));

    const { hits } = await search(dependencies, 'three');

    const marks = hits.map(({ seq, replaced }) => [seq, replaced] as const);
    expect(Object.fromEntries(marks)).toEqual({ 3: true, 4: undefined });
  });

  test('folded turns are looked up in the index: of them only those that are shown are read', async () => {
    const lives = lifecycle();
    const { store } = lives;
    const id = await compacted(lives);
    await list(store, id);
    const folded = (await readConversation(store, id))?.value.coveredThrough.seq ?? 0;
    const read: string[] = [];
    const counted: DocumentStore = {
      ...store,
      get: (paths) => {
        read.push(...paths);
        return store.get(paths);
      },
    };

    const found = await search(chatDependencies({ store: counted }), CANARY);

    expect(folded).toBeGreaterThan(3);
    expect(found.hits).toMatchObject([{ conversationId: id, seq: 3, messageId: 'message-3' }]);
    const foldedTurns = Array.from({ length: folded }, (_, i) => turnPath(id, i + 1));
    expect(read.filter((path) => foldedTurns.includes(path))).toEqual([turnPath(id, 3)]);
    expect(found.unreached).toEqual([]);
  });

  test('searching all conversations gives every hit once, page by page', async () => {
    const { chat, build } = world();
    for (let i = 0; i < 12; i++)
      await build(`c${i}`, [
        { user: 'a boat', answer: 'a boat too' },
        { user: 'another boat', answer: 'ok' },
      ]);

    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await search(chat, 'boat', { pageSize: 7, pageToken });
      expect(page.hits.length).toBeLessThanOrEqual(7);
      seen.push(...foundBy(page));
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);

    expect(seen).toHaveLength(36);
    expect(new Set(seen).size).toBe(36);
  });

  test('a conversation gives its ten best messages', async () => {
    const { chat, build } = world();
    await build(
      'boats',
      Array.from({ length: 30 }, () => ({ user: 'a boat', answer: 'ok' })),
    );

    const { hits } = await search(chat, 'boat');

    expect(hits.map(({ seq }) => seq)).toEqual([30, 29, 28, 27, 26, 25, 24, 23, 22, 21]);
  });
});

test('searching all conversations never finds what is in the bin', async () => {
  const { chat, build } = world();
  await build('gone', [{ user: 'boat', answer: 'ok' }], {
    state: 'deleted',
    deleteTime: new Date(START_MS),
  });

  expect(await search(chat, 'boat')).toMatchObject({ hits: [], searched: 0, unreached: [] });
});

test('searching all conversations never finds another user’s, whatever stands in the inbox', async () => {
  const { chat, store, build, set } = world();
  const theirs = await build('theirs boat', [{ user: 'boat', answer: 'ok' }], {
    ownerUid: stranger.uid,
  });
  const broken = await build('broken boat', [{ user: 'boat', answer: 'ok' }], {
    ownerUid: stranger.uid,
  });
  for (const id of [theirs, broken]) {
    const [entry] = await store.get([inboxPath(stranger.uid, id)]);
    const path = inboxPath(owner.uid, id);
    await store.commit([{ op: 'create', path, fields: entry?.fields ?? {} }]);
  }
  await set(conversationPath(broken), { schemaVersion: 2 });

  expect(await search(chat, 'boat')).toEqual({
    hits: [],
    titles: [],
    searched: 0,
    unreached: [],
  });
  expect((await search(chat, 'boat', { caller: stranger })).hits).toHaveLength(1);
});

test.each(['before', 'after'])(
  'searching all conversations never finds a deleted message of a folded turn, %s its erasure is done',
  async (when) => {
    const lives = lifecycle();
    const id = await compacted(lives);
    await list(lives.store, id);
    expect((await search(lives.otherChat, CANARY)).hits).toHaveLength(1);

    const chat = { ...lives.chat, ...(when === 'before' && dyingAt('message-wiped')) };
    await removeMessage({ chat }, id, 'message-3').catch(() => undefined);
    const pending = (await readConversation(lives.store, id))?.value.pendingErasure;

    expect(pending !== undefined).toBe(when === 'before');
    const hits = await Promise.all([search(lives.chat, CANARY), search(lives.otherChat, CANARY)]);
    expect(hits.map((found) => found.hits)).toEqual([[], []]);
  },
);

describe('the bounds of searching all conversations', () => {
  test('a request looks into fifty conversations, those with the newest message first', async () => {
    const { chat, reads, build } = world();
    for (let i = 1; i <= 53; i++) await build(`c${i}`, [{ user: `boat ${i}`, answer: 'ok' }]);

    const first = await search(chat, 'boat', { pageSize: 100 });
    const { documents } = reads;
    const second = await search(chat, 'boat', { pageSize: 100, pageToken: first.nextPageToken });

    // Of each conversation its document and its turn; ten lists, each with one entry more than it shows.
    expect(documents).toBe(50 + 50 + 60);
    expect(first).toMatchObject({ searched: 50, unreached: [] });
    expect(first.hits).toHaveLength(50);
    expect(foundBy(second)).toEqual(['c3 user1', 'c2 user1', 'c1 user1']);
    expect(second.nextPageToken).toBeUndefined();
  });

  test('of a long conversation that is not folded, the newest 200 turns are looked into and the others counted', async () => {
    const { chat, reads, build } = world();
    const conversationId = await build('long', [
      { user: 'the oldest boat', answer: 'ok' },
      ...filler(249),
      { user: 'the newest boat', answer: 'ok' },
    ]);

    const found = await search(chat, 'boat');

    expect(foundBy(found)).toEqual(['long user251']);
    expect(found.unreached).toEqual([{ conversationId, title: 'long', turns: 51 }]);
    expect(reads.turns).toBe(200);
  });

  test('a request that has read 2,000 documents, or has taken three seconds, goes on with the next one', async () => {
    const { build, chat } = world();
    for (let i = 0; i < 15; i++) await build(`c${i}`, filler(200));
    const clock = createManualClock();
    const slow: DocumentStore = {
      ...chat.store,
      get: (paths) => {
        if (paths.some((path) => path.split('/').length === 2)) clock.advance(2_000);
        return chat.store.get(paths);
      },
    };

    const many = await search(chat, 'boat');
    const late = await search({ ...chat, store: slow, clock }, 'boat');
    const rest = await search(chat, 'boat', { pageToken: many.nextPageToken });

    expect(many.searched).toBe(10);
    expect(late.searched).toBe(10);
    expect(rest.searched).toBe(5);
    expect(late.nextPageToken).toBe(many.nextPageToken);
  });

  test('searching all conversations ends when its reader leaves', async () => {
    const { build, chat } = world();
    for (let i = 0; i < 12; i++) await build(`c${i}`, [{ user: 'boat', answer: 'ok' }]);
    const leaving = new AbortController();
    let lists = 0;
    const store: DocumentStore = {
      ...chat.store,
      query: (query) => {
        if (++lists === 2) leaving.abort();
        return chat.store.query(query);
      },
    };

    const searching = search({ ...chat, store }, 'boat', { left: leaving.signal });

    await expect(searching).rejects.toMatchObject({ reason: 'ABORTED' });
    expect(lists).toBe(2);
  });
});

test.each<[string, (made: World, id: string) => Promise<unknown>]>([
  [
    'a conversation of a later version',
    ({ set }, id) => set(conversationPath(id), { schemaVersion: 2 }),
  ],
  [
    'a conversation that is damaged',
    ({ set }, id) => set(conversationPath(id), { lastSeq: 'many' }),
  ],
  [
    'a conversation with a turn of a later version',
    ({ set }, id) => set(turnPath(id, 1), { schemaVersion: 2 }),
  ],
])('searching all conversations names %s, and finds the others', async (_, damage) => {
  const made = world();
  await made.build('first', [{ user: 'boat', answer: 'ok' }]);
  const conversationId = await made.build('second', [{ user: 'boat', answer: 'ok' }]);
  await made.build('third', [{ user: 'boat', answer: 'ok' }]);
  await damage(made, conversationId);

  const found = await search(made.chat, 'boat');

  expect(foundBy(found)).toEqual(['third user1', 'first user1']);
  expect(found.unreached).toEqual([{ conversationId, title: 'second' }]);
});

test('searching all conversations finds what a conversation says whose entry in the inbox is of a later version', async () => {
  const { chat, build, set } = world();
  const conversationId = await build('boats', [{ user: 'boat', answer: 'ok' }]);
  await set(inboxPath(owner.uid, conversationId), { schemaVersion: 2 });

  const { hits, unreached } = await search(chat, 'boat');

  expect(hits).toMatchObject([{ conversationId, seq: 1 }]);
  expect(unreached).toEqual([]);
});
