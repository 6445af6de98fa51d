import { onTestFinished } from 'vitest';
import { createFcmNotifier } from '#functions/adapters/fcm.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { devicePath } from '#shared/conversation/documents/paths.ts';
import {
  turnFinishedEvent,
  turnWaitingEvent,
  type TurnFinished,
  type TurnWaiting,
} from '#shared/notification/published-event.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import {
  buildConversation,
  type ConversationToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import {
  compactionBench,
  workerConfig,
  type CompactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { post, pushOf, serve } from '#test/support/processes/pushing.ts';

/** The time of the turns that `buildConversation` stores, and a little more. */
export const NOW = new Date('2026-01-02T03:04:30.000Z');

/** Registers a device of `ownerUid`. */
const addDevice = (
  store: DocumentStore,
  device: { uid: string; id: string; token: string; locale?: string },
) =>
  store.commit([
    {
      op: 'create',
      path: devicePath(device.uid, device.id),
      fields: {
        schemaVersion: 1,
        token: device.token,
        platform: 'android',
        ...(device.locale !== undefined && { locale: device.locale }),
        updateTime: NOW,
      },
    },
  ]);

/** The end of turn 1, which nobody saw. */
export const endOf = (conversationId: string, more: Partial<TurnFinished> = {}): TurnFinished =>
  turnFinishedEvent({
    conversationId,
    turnId: 't_1',
    attempt: 1,
    state: 'done',
    kind: 'message',
    isAttended: false,
    ...more,
  });

/** Turn 1 waits for the app in its first round, and nobody sees it. */
export const pauseOf = (conversationId: string, more: Partial<TurnWaiting> = {}): TurnWaiting => ({
  ...turnWaitingEvent({
    conversationId,
    turnId: 't_1',
    attempt: 1,
    round: 1,
    kind: 'message',
    isAttended: false,
  }),
  ...more,
});

/** Access tokens `access-1`, `access-2`, …: another one each time one is refused. */
function countedTokens() {
  let n = 1;
  return {
    get: () => Promise.resolve(`access-${n}`),
    renew: () => Promise.resolve(`access-${++n}`),
  };
}

/** A worker behind HTTP that sends notifications to a fake of FCM. */
export async function notifyingWorker(
  options: { environment?: Record<string, string>; bench?: Partial<CompactionBench> } = {},
) {
  const fakeGemini = await startFakeGemini();
  onTestFinished(() => fakeGemini.close());
  const clock = createManualClock(NOW);
  const bench = compactionBench({
    clock,
    config: workerConfig({ FCM_PROJECT: 'demo-recap', ...options.environment }),
    notifier: createFcmNotifier({
      projectId: 'demo-recap',
      baseUrl: fakeGemini.url,
      accessTokens: countedTokens(),
      clock,
    }),
    ...options.bench,
  });
  const url = await serve(bench);
  return {
    bench,
    clock,
    messaging: fakeGemini.messaging,
    /** Delivers an event; resolves to the status that Pub/Sub sees. */
    deliver: async (event: object) => (await post(url, pushOf(event))).status,
  };
}

/** A conversation of `u1` with one answered turn, and devices of theirs by token. */
export async function buildAnswered(
  { store }: Pick<CompactionBench, 'store'>,
  options: { tokens?: readonly string[]; built?: Partial<ConversationToBuild> } = {},
): Promise<string> {
  const { tokens = ['phone', 'tablet'], built } = options;
  const { conversationId } = await buildConversation(store, { turns: 1, now: NOW, ...built });
  for (const token of tokens) await addDevice(store, { uid: 'u1', id: `id-${token}`, token });
  return conversationId;
}
