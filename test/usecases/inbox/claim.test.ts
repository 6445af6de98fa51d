import { findChat, openNamed } from '#functions/chat/facades/chat-names.ts';
import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { listDevices, putDevice } from '#functions/chat/features/devices.ts';
import { listMemories } from '#functions/chat/features/memories.ts';
import { createUpload, readUpload } from '#functions/chat/features/uploads.ts';
import { claimGuest } from '#functions/chat/inbox/claim-guest.ts';
import { listConversations } from '#functions/chat/inbox/list-conversations.ts';
import { markRead } from '#functions/chat/inbox/mark-read.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { runClaim } from '#functions/guests/run-claim.ts';
import { eraseConversation, markErasing } from '#functions/erasure/erase-conversation.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { decodeClaim } from '#shared/conversation/documents/claim.ts';
import { claimPath, turnPath, uploadPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { unreadUpload } from '#shared/uploads/upload-parts.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { createMemoryBucket } from '#test/fakes/memory-bucket.ts';
import { heldStreamer } from '#test/fakes/scripted-streamer.ts';
import { dyingAt, lifecycle, owner, stranger } from '#test/support/chat/lifecycle.ts';
import { queued, request } from '#test/support/chat/sending.ts';
import { pass, settle } from '#test/support/chat/streaming.ts';
import { neverAborted } from '#test/support/compaction/compacted-conversation.ts';
import { eventually } from '#test/support/eventually.ts';
import { storeNotes } from '#test/support/notes.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const guest: Caller = { uid: 'guest', tier: 'anonymous' };
const people: Readonly<Record<string, Caller>> = { guest, u1: owner, u2: stranger };

/** A token in these tests names its user; of nobody else is there one. */
const idTokens = {
  verify: (token: string) => {
    const caller = people[token];
    return caller
      ? Promise.resolve({ ...caller, signedInAt: new Date(0) })
      : Promise.reject(
          new AppError({
            status: 'UNAUTHENTICATED',
            reason: 'ID_TOKEN_INVALID',
            publicMessage: 'The ID token is not valid.',
          }),
        );
  },
};

function createWorld(overrides: Parameters<typeof lifecycle>[0] = {}) {
  const files = createMemoryBucket(() => new Date(0));
  const world = lifecycle({ idTokens, files, ...overrides });
  const sweep = () => runSweep({ ...world.bench, files }, neverAborted());
  return { ...world, files, sweep };
}
type ClaimWorld = ReturnType<typeof createWorld>;

const say = async ({ chat }: Pick<ClaimWorld, 'chat'>, conversationId: string, caller = guest) =>
  (await sendMessage(chat, { ...request(conversationId, 'Hello.'), caller })).result;

const uploadOf = async ({ chat, files }: ClaimWorld, text: string) => {
  const bytes = new TextEncoder().encode(text);
  const file = { mimeType: 'text/plain', sizeBytes: bytes.length };
  const { upload, request: put } = await createUpload(chat, { caller: guest, ...file });
  await files.put(put, bytes);
  return upload.id;
};

const sayWithFile = async (world: ClaimWorld, conversationId: string, uploadId: string) => {
  const asked = request(conversationId, 'Read this.');
  const parts = [...asked.message.parts, unreadUpload(uploadId)];
  const { result } = await sendMessage(world.chat, {
    ...asked,
    caller: guest,
    message: { ...asked.message, parts },
  });
  return result;
};

/** A guest who has one of everything. */
async function createGuest(world: ClaimWorld) {
  const { chat, store } = world;
  const [live, binned, named] = [randomUUID(), randomUUID(), randomUUID()];
  const uploadId = await uploadOf(world, 'What I think of temples.');
  await say(world, live);
  const { messageId } = (await sayWithFile(world, live, uploadId)).turn;
  await markRead(chat, { caller: guest, conversationId: live, seq: 1 });
  await say(world, binned);
  await deleteConversation(chat, { caller: guest, conversationId: binned });
  await storeNotes(store, guest.uid, [
    { id: 'n1', text: 'I like temples.', source: 'user', savedAt: new Date(1), revision: 1 },
  ]);
  const device = { deviceId: 'phone', token: 'token-of-phone', platform: 'ios' as const };
  await putDevice(chat, {
    caller: { ...guest, signedInAt: new Date(0) },
    locale: undefined,
    ...device,
  });
  const chatId = `chat:${named}`;
  const ofChat = await openNamed(chat, { caller: guest, chatId });
  return { live, binned, uploadId, messageId, chatId, ofChat };
}

const claim = ({ chat }: Pick<ClaimWorld, 'chat'>, caller = owner, guestToken = 'guest') =>
  claimGuest(chat, { caller, guestToken });

const listed = async ({ chat }: Pick<ClaimWorld, 'chat'>, caller: Caller) => {
  const lists = ['active', 'deleted'] as const;
  const pages = await Promise.all(
    lists.map((list) => listConversations(chat, { caller, list, pageSize: 50 })),
  );
  return pages.map(({ entries }) => entries.map(({ id }) => id));
};

const entryOf = async ({ chat }: Pick<ClaimWorld, 'chat'>, caller: Caller, id: string) => {
  const { entries } = await listConversations(chat, { caller, list: 'active', pageSize: 50 });
  return entries.find((each) => each.id === id)?.entry;
};

/** All that a claim moves, as the user sees it. */
async function shownTo(world: ClaimWorld, caller: Caller, chatId: string) {
  const { chat } = world;
  const { memories } = await listMemories(chat, caller);
  return {
    lists: await listed(world, caller),
    notes: memories.map(({ text }) => text),
    devices: (await listDevices(chat, caller)).map(({ token }) => token),
    chat: await findChat(chat, { caller, chatId }),
  };
}

/** Documents that are left of the guest, bare figures and the claim apart. */
const leftOf = async ({ documents }: Pick<ClaimWorld, 'documents'>) =>
  (await documents())
    .filter(
      ({ path, fields }) =>
        path.startsWith('users/guest/') ||
        (path.startsWith('conversations/') && fields['ownerUid'] === 'guest'),
    )
    .map(({ path }) => path);

async function expectMoved(world: ClaimWorld, made: Awaited<ReturnType<typeof createGuest>>) {
  const { live, binned, uploadId, chatId, ofChat } = made;
  expect(await shownTo(world, owner, chatId)).toEqual({
    lists: [[live], [binned]],
    notes: ['I like temples.'],
    devices: ['token-of-phone'],
    chat: ofChat,
  });
  expect(await entryOf(world, owner, live)).toMatchObject({ readSeq: 1, unread: true });
  const { upload } = await readUpload(world.chat, { caller: owner, uploadId });
  expect(await world.files.stat(upload.path ?? '')).toBeDefined();
  expect(Object.keys(upload.turns)).toEqual([`${live}_t_2`]);
  expect(await leftOf(world)).toEqual([]);
  const [document] = await world.store.get([claimPath('guest')]);
  expect(document?.fields).toMatchObject({ state: 'done', uid: 'u1', conversations: 2 });
}

describe('a guest who signs in to an account', () => {
  test('everything of a guest belongs to the account, and the guest has nothing any more', async () => {
    const world = createWorld();
    const made = await createGuest(world);

    const result = await claim(world);

    expect(result).toEqual({ conversations: 2 });
    await expectMoved(world, made);
    expect(await shownTo(world, guest, made.chatId)).toMatchObject({
      lists: [[], []],
      notes: [],
      devices: [],
      chat: undefined,
    });
    const target = { caller: guest, conversationId: made.live };
    await expect(readOwnConversation(world.chat, target)).rejects.toMatchObject({
      reason: 'CONVERSATION_NOT_FOUND',
    });
  });

  test('the same claim again moves what the guest began meanwhile', async () => {
    const world = createWorld();
    const made = await createGuest(world);
    await claim(world);
    const late = randomUUID();
    await say(world, late);

    expect(await claim(world)).toEqual({ conversations: 2 });
    // Both may have been written in one millisecond, so their order says nothing.
    const lists = (await listed(world, owner)).map((ids) => ids.toSorted());
    expect(lists).toEqual([[late, made.live].toSorted(), [made.binned]]);
    expect(await leftOf(world)).toEqual([]);
  });

  test('what the account has under the same name stays beside what the guest had', async () => {
    const world = createWorld();
    const { chat, store } = world;
    const made = await createGuest(world);
    const own = await openNamed(chat, { caller: owner, chatId: made.chatId });
    await storeNotes(store, owner.uid, [
      { id: 'n0', text: 'I live in Kyoto.', source: 'user', savedAt: new Date(1), revision: 1 },
      { id: 'n2', text: 'I like temples.', source: 'user', savedAt: new Date(1), revision: 1 },
    ]);
    const device = { deviceId: 'new', token: 'token-of-phone', platform: 'ios' as const };
    await putDevice(chat, {
      caller: { ...owner, signedInAt: new Date(0) },
      locale: undefined,
      ...device,
    });

    await claim(world);

    const shown = await shownTo(world, owner, made.chatId);
    expect(shown.chat).toBe(own);
    expect(shown.notes.toSorted()).toEqual(['I like temples.', 'I live in Kyoto.']);
    expect((await listDevices(chat, owner)).map(({ id }) => id)).toEqual(['new']);
  });

  test('an account keeps all its notes where those of the guest are too many', async () => {
    const world = createWorld();
    const notes = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        id: `${name}${i}`,
        text: `${name} ${i}`,
        source: 'user' as const,
        savedAt: new Date(i),
        revision: 1,
      }));
    await storeNotes(world.store, owner.uid, notes('own', 98));
    await storeNotes(world.store, guest.uid, notes('guest', 5));

    await claim(world);

    const { memories } = await listMemories(world.chat, owner);
    expect(memories).toHaveLength(100);
    expect(memories.filter(({ text }) => text.startsWith('guest')).map(({ text }) => text)).toEqual(
      expect.arrayContaining(['guest 3', 'guest 4']),
    );
  });
});

test('a sweep completes a claim whose instance has died, after a minute', async () => {
  const world = createWorld();
  const made = await createGuest(world);
  const chat = { ...world.chat, ...dyingAt('guest-documents-copied') };
  await expect(claim({ chat })).rejects.toThrow('guest-documents-copied');

  const early = await world.sweep();
  world.bench.clock.advance(61_000);
  const late = await world.sweep();

  expect([early.claimsFinished, early.failed, late.failed]).toEqual([0, 0, 0]);
  await expectMoved(world, made);
});

describe('what goes on while a guest is claimed', () => {
  const held = async () => {
    const { model, calls, answerAll } = heldStreamer();
    const clock = createManualClock();
    const world = createWorld({ model, clock });
    const conversationId = randomUUID();
    const asked = await sendMessage(world.chat, {
      ...request(conversationId, 'a question'),
      caller: guest,
    });
    await eventually('a call of the model', () =>
      Promise.resolve(calls.length > 0 ? calls : undefined),
    );
    return { world, conversationId, asked, answerAll, clock };
  };

  test.each([
    ['has looked at its turn since', 1_000],
    ['knows nothing of it', 0],
  ])('an answer whose producer %s ends in the inbox of the account', async (_, passedMs) => {
    const { world, conversationId, asked, answerAll, clock } = await held();

    await claim(world);
    const between = await entryOf(world, owner, conversationId);
    const [open] = await world.store.get([turnPath(conversationId, 1)]);
    clock.advance(passedMs);
    await settle();
    answerAll();
    const { turn } = await asked.result;

    expect(between).toMatchObject({ state: 'running', unread: false });
    expect(open?.fields['movedTo']).toBe('u1');
    expect(turn.state).toBe('done');
    expect(await entryOf(world, owner, conversationId)).toMatchObject({
      state: 'idle',
      unread: true,
      answered: { seq: 1, preview: 'Answer to a question.' },
    });
    expect(await leftOf(world)).toEqual([]);
  });

  test('an answer whose finish meets the claim is told to the account alone', async () => {
    const world = createWorld();
    const conversationId = randomUUID();
    // The producer knows nothing of the claim when it commits.
    const atCrashPoint = async (point: string) => {
      if (point === 'before-finish') await claim(world);
    };

    await say({ chat: { ...world.chat, atCrashPoint } }, conversationId);

    expect(await entryOf(world, owner, conversationId)).toMatchObject({
      unread: true,
      answered: { seq: 1, preview: 'Fine.' },
    });
    expect(await leftOf(world)).toEqual([]);
  });

  test('a message that waits in the queue is answered in the account', async () => {
    const { world, conversationId, asked, answerAll, clock } = await held();
    const second = await sendMessage(world.chat, {
      ...queued(conversationId, 'one more'),
      caller: guest,
    });

    await claim(world);
    answerAll();
    await asked.result;
    await pass(clock, 1_000);
    const { turn } = await second.result;

    expect(turn).toMatchObject({ seq: 2, state: 'done' });
    expect(await entryOf(world, owner, conversationId)).toMatchObject({
      state: 'idle',
      answered: { seq: 2 },
    });
    expect(await leftOf(world)).toEqual([]);
  });

  test('a fork that is being made while its source moves never becomes the guest’s', async () => {
    const world = createWorld();
    const { live } = await createGuest(world);
    let isClaimed = false;
    const atCrashPoint = async (point: string) => {
      if (point !== 'fork-copied' || isClaimed) return;
      isClaimed = true;
      await claim(world);
    };
    const chat = { ...world.chat, atCrashPoint };

    const fork = forkConversation(chat, { caller: guest, conversationId: live, messageId: 'm_1' });

    await expect(fork).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
    expect(await leftOf(world)).toEqual([]);
    expect((await listed(world, owner))[0]).toEqual([live]);
  });
});

describe('the files of a guest', () => {
  const paths = ({ files }: ClaimWorld) => files.paths();

  test('the files outlive an erasure of the guest, and go with the account', async () => {
    const world = createWorld();
    const { uploadId } = await createGuest(world);
    await claim(world);

    await eraseUser(world.chat, { caller: guest });
    const kept = paths(world);
    await eraseUser(world.chat, { caller: owner });

    expect(kept).toEqual([uploadPath('guest', uploadId)]);
    expect(paths(world)).toEqual([]);
  });

  test('a file goes with the last message of the account that names it', async () => {
    const world = createWorld();
    const { live } = await createGuest(world);
    await claim(world);
    const fork = await forkConversation(world.chat, {
      caller: owner,
      conversationId: live,
      messageId: 'm_2',
    });
    const erase = async (conversationId: string) => {
      await markErasing(world.chat, conversationId, () => true);
      await eraseConversation(world.chat, conversationId, neverAborted());
      return paths(world).length;
    };

    expect([await erase(live), await erase(fork.conversationId)]).toEqual([1, 0]);
  });

  test.each(['conversation-claimed', 'guest-documents-copied'])(
    'the file of a conversation that is erased at %s of the claim does not stay',
    async (moment) => {
      const world = createWorld();
      const { live } = await createGuest(world);
      let isErased = false;
      const atCrashPoint = async (point: string) => {
        if (point !== moment || isErased) return;
        isErased = true;
        await markErasing(world.chat, live, () => true);
        await eraseConversation(world.chat, live, neverAborted());
      };

      await claim({ chat: { ...world.chat, atCrashPoint } });

      expect(paths(world)).toEqual([]);
    },
  );
});

test('what a guest has deleted a moment ago is forgotten in the account, too', async () => {
  const world = createWorld();
  const { live, messageId } = await createGuest(world);
  const dying = { ...world.chat, ...dyingAt('message-wiped') };
  const deleted = deleteMessage(dying, { caller: guest, conversationId: live, messageId });
  await expect(deleted).rejects.toThrow('message-wiped');
  const from = { conversationId: live, seq: 2, saidIn: 2, saidAt: new Date(1) };
  const note = { id: 'n9', text: 'Read this.', source: 'tool' as const, savedAt: new Date(1) };
  await storeNotes(world.store, guest.uid, [{ ...note, revision: 1, from }]);

  await claim(world);
  world.bench.clock.advance(61_000);
  await world.sweep();

  expect(world.files.paths()).toEqual([]);
  expect((await listMemories(world.chat, owner)).memories).toEqual([]);
});

test('a sweep whose time is up leaves the rest of a claim to the next one', async () => {
  const world = createWorld();
  const made = await createGuest(world);
  const dying = { ...world.chat, ...dyingAt('claim-begun') };
  await expect(claim({ chat: dying })).rejects.toThrow('claim-begun');
  const [document] = await world.store.get([claimPath('guest')]);
  const begun = decodeClaim(document ?? { fields: {} });
  const stopped = runClaim(world.chat, begun, AbortSignal.abort());
  await expect(stopped).rejects.toThrow('aborted');

  world.bench.clock.advance(61_000);
  await world.sweep();

  await expectMoved(world, made);
});

describe('claims that are refused', () => {
  test.each([
    ['of the caller', owner, 'u1', 'GUEST_TOKEN_INVALID'],
    ['of a user who has signed in', owner, 'u2', 'GUEST_TOKEN_INVALID'],
    ['that is forged', owner, 'forged', 'GUEST_TOKEN_INVALID'],
    ['sent by a guest', { uid: 'other', tier: 'anonymous' as const }, 'guest', 'CALLER_IS_GUEST'],
  ])('a token %s moves nothing', async (_, caller, token, reason) => {
    const world = createWorld();
    await createGuest(world);
    const before = await world.documents();

    await expect(claim(world, caller, token)).rejects.toMatchObject({ reason });

    expect(await world.documents()).toEqual(before);
  });

  test('a sign-in of a guest that was revoked moves nothing', async () => {
    const revoked = new AppError({
      status: 'UNAUTHENTICATED',
      reason: 'ID_TOKEN_REVOKED',
      publicMessage: 'The sign-in has been revoked.',
    });
    const check = ({ uid }: Caller) =>
      uid === 'guest' ? Promise.reject(revoked) : Promise.resolve();
    const world = createWorld({ revocations: { check } });
    await createGuest(world);
    const before = await world.documents();
    const config = { ...world.chat.config, CHECK_REVOKED: 'erasures' as const };

    await expect(claim({ chat: { ...world.chat, config } })).rejects.toMatchObject({
      reason: 'GUEST_TOKEN_INVALID',
    });

    expect(await world.documents()).toEqual(before);
  });

  test('a guest belongs to the first account that claims it, also before all has moved', async () => {
    const world = createWorld();
    const made = await createGuest(world);
    const atCrashPoint = () => Promise.reject(new Error('died'));
    await expect(claim({ chat: { ...world.chat, atCrashPoint } })).rejects.toThrow('died');

    await expect(claim(world, stranger)).rejects.toMatchObject({ reason: 'GUEST_CLAIMED' });
    await claim(world);
    await expect(claim(world, stranger)).rejects.toMatchObject({ reason: 'GUEST_CLAIMED' });

    await expectMoved(world, made);
  });

  test('what a guest has left does not come to an account that was erased meanwhile', async () => {
    const world = createWorld();
    const { live } = await createGuest(world);
    const atCrashPoint = () => Promise.reject(new Error('died'));
    await expect(claim({ chat: { ...world.chat, atCrashPoint } })).rejects.toThrow('died');

    await eraseUser(world.chat, { caller: owner });
    world.bench.clock.advance(61_000);
    await world.sweep();

    expect(await listed(world, owner)).toEqual([[], []]);
    expect(await entryOf(world, guest, live)).toBeDefined();
  });

  test.each(['conversation-claimed', 'guest-documents-copied'])(
    'nor does it come to one that is erased at %s of the claim',
    async (point) => {
      const world = createWorld();
      const made = await createGuest(world);
      let isErased = false;
      const atCrashPoint = async (passed: string) => {
        if (passed !== point || isErased) return;
        isErased = true;
        await eraseUser(world.chat, { caller: owner });
      };

      await claim({ chat: { ...world.chat, atCrashPoint } }).catch(() => undefined);

      expect(isErased).toBe(true);
      expect(await shownTo(world, owner, made.chatId)).toEqual({
        lists: [[], []],
        notes: [],
        devices: [],
        chat: undefined,
      });
    },
  );
});
