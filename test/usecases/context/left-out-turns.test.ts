import { describe, expect, test } from 'vitest';
import { readContext, toContextObject } from '#functions/chat/context/view-context.ts';
import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import type { ConversationSettings } from '#shared/conversation/documents/conversation.ts';
import { statusPath } from '#shared/conversation/documents/paths.ts';
import { contextObjectResponse } from '#shared/wire/resources/context-object.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { owner } from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';
import {
  compactOnce,
  compactionBench,
  storedConversation,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  buildConversation,
  madeUpAnswer,
  madeUpQuestion,
} from '#test/support/compaction/conversation-builder.ts';

const WINDOW_TOKENS = 3_000;

/** Chat and worker whose model has a window of 3,000 tokens and whose threshold is never reached. */
function neverAtAThreshold() {
  const parts = [{ text: madeUpAnswer(1) }];
  const { model, requests } = scriptedStreamer({ chunks: [{ parts, finishReason: 'STOP' }] });
  const chat = chatDependencies(
    { model, clock: createManualClock() },
    {
      THRESHOLD_FRACTION: '1',
      MODEL_WINDOWS: `{"gemini-2.5-flash":${WINDOW_TOKENS}}`,
      RECALL_TOKENS: '0',
    },
  );
  const { store, config } = chat;
  const bench = compactionBench({
    store,
    config,
    model: createScriptedModel({ answers: [snapshotAnswer()] }),
  });
  return { chat, bench, requests };
}

type World = ReturnType<typeof neverAtAThreshold>;

/** About 115 tokens a turn: 22 of them are over the hard threshold of 2,400, and within the window. */
const built = async ({ chat }: World, settings: ConversationSettings = {}, turns = 22) =>
  (await buildConversation(chat.store, { turns, conversation: { settings } })).conversationId;

async function send({ chat }: World, conversationId: string, message: string | SendRequest) {
  const target = typeof message === 'string' ? request(conversationId, message) : message;
  return (await sendMessage(chat, target)).result;
}

const objectOf = async ({ chat }: World, conversationId: string) =>
  toContextObject(chat, await readContext(chat, { caller: owner, conversationId }), undefined);

const statusOf = async ({ chat }: World, conversationId: string) =>
  (await chat.store.get([statusPath(conversationId)]))[0]?.fields;

test('with THRESHOLD_FRACTION=1 a turn without room for all requests a compaction and reports it', async () => {
  const world = neverAtAThreshold();
  const id = await built(world);

  const { context, turn } = await send(world, id, 'And now?');

  expect(turn.state).toBe('done');
  expect((await storedConversation(world.chat, id))?.compactionRequests.auto?.trigger).toBe(
    'overflow',
  );
  expect(world.chat.published).toHaveLength(1);
  expect(context.compaction?.state).toBe('QUEUED');
  expect(context.leftOut).toMatchObject({ from: 1, remedy: 'wait' });
});

test('with THRESHOLD_FRACTION=1 the context never outgrows the window or stays shortened', async () => {
  const world = neverAtAThreshold();
  const id = await built(world, {}, 1);
  let most = 0;

  for (let turn = 1; turn <= 60; turn++) {
    const { context } = await send(world, id, madeUpQuestion(turn));
    most = Math.max(most, context.percent);
    await compactOnce(world.bench, id);
    expect((await objectOf(world, id)).leftOut).toBeUndefined();
  }

  expect(most).toBeGreaterThan(75);
  expect(most).toBeLessThan(95);
  expect((await storedConversation(world.chat, id))?.generation).toBeGreaterThan(1);
});

describe.each(['manual', 'off'] as const)('with compaction %s', (compaction) => {
  test('without automatic compaction the app is told which turns the model does not see', async () => {
    const world = neverAtAThreshold();
    const id = await built(world, { compaction }, 40);

    const { context, turn, shrinkage } = await send(world, id, 'And now?');

    const leftOut = context.leftOut;
    expect(turn.state).toBe('done');
    expect((await storedConversation(world.chat, id))?.compactionRequests).toEqual({});
    expect(leftOut).toMatchObject({ from: 1, remedy: 'compact' });
    expect(leftOut?.turns).toBe(leftOut?.upTo);
    expect(leftOut?.message).toContain('compact the history');
    expect(context.thresholdTokens).toBeNull();
    expect(shrinkage).toMatchObject({ from: 1, upTo: shrinkage?.turnsLeftOut });
    expect(contextObjectResponse.parse(context)).toEqual(context);
    expect(await objectOf(world, id)).toMatchObject({ leftOut });
    const shown = await showContext(world.chat, { caller: owner, conversationId: id });
    expect(shown.shrunken).toMatchObject({ from: 1, upTo: leftOut?.upTo });
  });

  test('a compaction requested by the user brings left-out turns back as a summary', async () => {
    const world = neverAtAThreshold();
    const id = await built(world, { compaction }, 40);

    await requestCompaction(world.chat, { caller: owner, conversationId: id });
    const queued = await statusOf(world, id);
    await compactOnce(world.bench, id);

    expect(queued).toMatchObject({ leftOut: { remedy: 'wait' } });
    expect((await storedConversation(world.chat, id))?.generation).toBe(1);
    expect(await statusOf(world, id)).not.toHaveProperty('leftOut');
    expect((await objectOf(world, id)).leftOut).toBeUndefined();
  });

  test('the model is told that turns are left out, without a promise', async () => {
    const world = neverAtAThreshold();
    const id = await built(world, { compaction }, 40);

    await send(world, id, 'And now?');

    const sent = JSON.stringify(world.requests[0]?.contents);
    expect(sent).toContain('left out of this request');
    expect(sent).not.toMatch(/summari[sz]ed|summary/);
  });
});
