import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { conversationPath, statusPath } from '#shared/conversation/documents/paths.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { conversationResponse } from '#shared/wire/resources/conversations.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { startChatServer, readAs } from '#test/support/chat/chat-server.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { request, sendAll } from '#test/support/chat/sending.ts';
import {
  buildDue,
  compactionBench,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { fixedPolicy } from '#test/support/fixed-policy.ts';
import { messageBody } from '#test/support/processes/fault-stack.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test, afterAll } from 'vitest';

describe('the threshold', () => {
  const usage = (promptTokens: number) => ({
    promptTokens,
    cachedTokens: 0,
    outputTokens: 10,
    thoughtsTokens: 0,
  });

  const reporting = (promptTokens: number) => ({
    dependencies: chatDependencies(
      { model: scriptedStreamer(textAnswer('A', usage(promptTokens))).model },
      { THRESHOLD_TOKENS: '1000' },
    ),
    id: randomUUID(),
  });

  test('a turn reaching the threshold stores a request with its finish, publishes once and tells the owner’s devices', async () => {
    const { dependencies, id } = reporting(990);

    await sendAll(dependencies, id, ['a', 'b']);

    const [status] = await dependencies.store.get([statusPath(id)]);
    expect(status?.fields).toMatchObject({
      tokens: 1_000,
      thresholdTokens: 1_000,
      compaction: { state: 'QUEUED', trigger: 'auto' },
    });

    const need = (await readConversation(dependencies.store, id))?.value.compactionRequests.auto;
    expect(need).toMatchObject({ trigger: 'auto' });
    expect(dependencies.published).toEqual([
      {
        topic: 'compaction',
        data: { schemaVersion: 1, conversationId: id, requestId: need?.requestId },
      },
    ]);
  });

  test('a turn below the threshold requests nothing', async () => {
    const { dependencies, id } = reporting(989);

    await sendAll(dependencies, id, ['a']);

    expect((await readConversation(dependencies.store, id))?.value.compactionRequests).toEqual({});
    expect(dependencies.published).toEqual([]);
  });
});

/** Fifty-five turns of about 130 tokens in a window of 8,000: a message of 3,000 fits once they are folded. */
async function fullConversation(dependencies: ReturnType<typeof chatDependencies>) {
  const { conversationId } = await buildConversation(dependencies.store, {
    turns: 55,
    conversation: { model: 'gemini-3.8-flash' },
  });
  return conversationId;
}

const smallWindow = { MODEL_WINDOWS: '{"gemini-3.8-flash":8000}' };
const tooLongForNow = 'word '.repeat(3_000);

describe('a message that cannot fit', () => {
  test('a message that cannot fit is refused with both counts before anything is written', async () => {
    const dependencies = chatDependencies({}, { MODEL_WINDOWS: '{"gemini-3.8-flash":1000}' });
    const id = randomUUID();

    const sent = sendMessage(dependencies, request(id, 'word '.repeat(5_000)));

    await expect(sent).rejects.toMatchObject({
      reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
      metadata: { estimatedRequestTokenCount: '5000', remainingTokenCount: '1000' },
    });
    expect(await dependencies.store.get([conversationPath(id)])).toEqual([undefined]);
  });

  test('a message that cannot fit requests a compaction, and republishes a request unsettled for a minute', async () => {
    const clock = createManualClock();
    const dependencies = chatDependencies({ clock }, smallWindow);
    const id = await fullConversation(dependencies);
    const refused = () => sendMessage(dependencies, request(id, tooLongForNow));
    await expect(refused()).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });
    const conversation = await readConversation(dependencies.store, id);
    expect(conversation?.value.compactionRequests.auto?.trigger).toBe('overflow');
    expect(conversation?.value.lastSeq).toBe(55);
    dependencies.published.length = 0;

    await expect(refused()).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });
    expect(dependencies.published).toHaveLength(0);
    clock.advance(60_001);
    await expect(refused()).rejects.toMatchObject({ reason: 'CONTEXT_WINDOW_WILL_OVERFLOW' });

    expect(dependencies.published).toMatchObject([
      { topic: 'compaction', data: { conversationId: id } },
    ]);
  });

  test('a message that no compaction can make room for requests none, and says so', async () => {
    const dependencies = chatDependencies({}, smallWindow);
    const id = await fullConversation(dependencies);

    const sent = sendMessage(dependencies, request(id, 'word '.repeat(9_000)));

    await expect(sent).rejects.toMatchObject({
      reason: 'CONTEXT_WINDOW_WILL_OVERFLOW',
      publicMessage: expect.stringContaining('Shorten it'),
    });
    expect((await readConversation(dependencies.store, id))?.value.compactionRequests).toEqual({});
    expect(dependencies.published).toEqual([]);
  });
});

const caller = { uid: 'u1', tier: 'signedIn' } as const;

/** Much that is no letter: the two rules are far apart on it. */
const systemInstruction = 'Ids: 4711-0815-4242; "x": [1, 2, 3]. '.repeat(20);

const server = await startChatServer({
  environment: { CLIENT_WRITABLE: 'profile,systemInstruction' },
});
afterAll(() => server.stop());

test('the meter keeps the system instruction apart from what is said', async () => {
  const created = await server.call('/v1/conversations', { body: { systemInstruction } });
  const { id } = await readAs(conversationResponse, created);
  await server.call(`/v1/conversations/${id}/messages`, { body: messageBody('Hi.') });

  const conversation = await readConversation(server.dependencies.store, id);

  expect(conversation?.value.context.overheadTokens).toBeGreaterThan(
    estimateTextTokens(systemInstruction, 'character-class') / 2,
  );
});

/** A conversation of about 2,600 tokens under a document `config/compaction`. */
async function world(fields: object) {
  const { config } = chatDependencies();
  const chat = chatDependencies({
    config: { ...config, remotePolicy: fixedPolicy({ ...fields }) },
  });
  const conversation = { ownerUid: caller.uid };
  const { conversationId } = await buildConversation(chat.store, { turns: 20, conversation });
  return { chat, target: { caller, conversationId } };
}

const shiftOf = async ({ chat, target }: Awaited<ReturnType<typeof world>>) =>
  (await chat.store.get([conversationPath(target.conversationId)]))[0]?.fields['thresholdShift'];

test('a manual compaction far below the threshold lowers it where learning is enabled', async () => {
  const learning = await world({ learnThreshold: true });
  const { chat, target } = learning;

  await requestCompaction(chat, target);

  expect(await shiftOf(learning)).toBe(-0.05);
  expect((await showContext(chat, target)).policy?.threshold).toEqual({
    tokens: 22_800,
    source: 'default',
    learned: -0.05,
  });
});

test('a turn after a swap requests nothing and hides no later compaction trigger', async () => {
  const gate = Promise.withResolvers<void>();
  const usage = { promptTokens: 5_000, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 };
  const { model } = scriptedStreamer({ ...textAnswer('Late.', usage), gate: gate.promise });
  const dependencies = chatDependencies({ model }, { THRESHOLD_TOKENS: '2000' });
  const { store, published } = dependencies;
  const id = await buildDue(dependencies, {
    conversation: { settings: { thresholdTokens: 2_000 }, compactionRequests: {} },
  });
  const handle = await sendMessage(dependencies, request(id, 'And now?'));
  await setConversation({ store }, id, { compactionRequests: { ...manualRequest() } });
  await compactOnce(compactionBench({ store }), id);

  gate.resolve();
  await handle.result;

  const { conversation } = await see(store, id);
  expect(conversation).toMatchObject({ generation: 1, compactionRequests: {} });
  expect(published).toEqual([]);
  await sendAll(dependencies, id, ['one more']);
  expect((await see(store, id)).conversation.compactionRequests.auto).toBeDefined();
});
