import { describe, expect, test } from 'vitest';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { neverAborted } from '#test/support/compaction/compacted-conversation.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import {
  createToolStage,
  RESULT_TIMEOUT_MS,
  type ToolStage,
} from '#test/support/random-tools/tool-stage.ts';
import { responsesIn, say, useToolModel } from '#test/support/tools/tool-world.ts';

const { fakeGemini, model } = await useToolModel();

const caller = { uid: 'u1', tier: 'signedIn' } as const;
/** After the twelve turns of the stage. */
const SEQ = 13;

/** A turn that waits for the app, as long as `elapsedMs` by now. */
async function waitingFor(elapsedMs: number) {
  const stage = await createToolStage(model);
  await say(stage.chat, stage.conversationId, 'call weather {"city":"Oslo"}\ncall locate');
  stage.elapse(elapsedMs);
  return stage;
}

/** Resolves to how the turn ended for the app that posted, or to the reason why it is refused. */
const post = ({ chat, conversationId }: ToolStage): Promise<string> =>
  answerCalls(chat, {
    caller,
    conversationId,
    turnId: `t_${SEQ}`,
    results: [{ callId: `t_${SEQ}_c1`, kind: 'response', response: { lat: 1 } }],
    locale: undefined,
  })
    .then(async ({ result }) => (await result).turn.state)
    .catch((error: unknown) => (error instanceof AppError ? error.reason : String(error)));

const sweep = (stage: ToolStage, store: DocumentStore = stage.store) =>
  runSweep({ ...stage.worker(), store }, neverAborted());

const refusals = () => fakeGemini.journal().flatMap(({ refusal }) => refusal ?? []);

describe('a turn that waits for the app when a sweep comes', () => {
  test('a sweep leaves a turn that may still wait for the app', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS / 2);

    const counts = await sweep(stage);

    expect(counts.turnsClosed).toBe(0);
    expect(await post(stage)).toBe('done');
  });

  test('a sweep expires a turn that waited too long, closing its calls', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS + 1);

    const counts = await sweep(stage);

    expect(counts.turnsClosed).toBe(1);
    const turn = await storedTurn(stage.chat, stage.conversationId, SEQ);
    expect(turn).toMatchObject({ state: 'cancelled', inContext: true });
    expect(responsesIn(turn.contents)).toMatchObject([
      { response: { degrees: 21 } },
      { response: { error: 'expired' } },
    ]);
    const conversation = await readConversation(stage.store, stage.conversationId);
    expect(conversation?.value.open).toBeUndefined();
  });

  test('an expired turn accepts no results, and the next message reads its end', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS + 1);
    await sweep(stage);
    fakeGemini.clearJournal();

    const late = await post(stage);
    const { turn } = await say(stage.chat, stage.conversationId, 'And now?');

    expect(late).toBe('TOOL_RESULT_CONFLICT');
    expect(turn.state).toBe('done');
    expect(fakeGemini.journal()).toHaveLength(1);
    const sent = JSON.stringify(fakeGemini.requestBody(fakeGemini.journal()[0]?.n ?? 0));
    expect(sent).toContain('expired');
    expect(refusals()).toEqual([]);
  });
});

const closesTurn = (writes: readonly Write[]) =>
  writes.some(({ op, path }) => op === 'update' && path.includes('/turns/'));

describe('results that are posted while a sweep closes their turn', () => {
  test('results stored before the sweep’s closing win, and the sweep leaves the turn', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS + 1);
    let posted: string | undefined;
    const store: DocumentStore = {
      ...stage.store,
      commit: async (writes) => {
        if (posted === undefined && closesTurn(writes)) posted = await post(stage);
        return stage.store.commit(writes);
      },
    };

    const counts = await sweep(stage, store);

    const turn = await storedTurn(stage.chat, stage.conversationId, SEQ);
    expect([posted, turn.state, counts.turnsClosed]).toEqual(['done', 'done', 0]);
    expect(responsesIn(turn.contents)[1]).toMatchObject({ response: { lat: 1 } });
    expect(refusals()).toEqual([]);
  });

  test('results stored after the sweep’s closing are refused with the reason', async () => {
    const stage = await waitingFor(RESULT_TIMEOUT_MS + 1);
    let hasSwept = false;
    const store: DocumentStore = {
      ...stage.store,
      commit: async (writes) => {
        if (!hasSwept && closesTurn(writes)) {
          hasSwept = true;
          await sweep(stage);
        }
        return stage.store.commit(writes);
      },
    };

    const posted = await post({ ...stage, chat: { ...stage.chat, store } });

    const turn = await storedTurn(stage.chat, stage.conversationId, SEQ);
    expect([hasSwept, posted, turn.state]).toEqual([true, 'TOOL_RESULT_CONFLICT', 'cancelled']);
    expect(responsesIn(turn.contents)[1]).toMatchObject({ response: { error: 'expired' } });
  });
});
