import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { usagePath } from '#shared/conversation/documents/paths.ts';
import { encodeUsage, noUsage, toDay } from '#shared/quota/usage.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { answerOrReason, limitedChat, usageOf } from '#test/support/chat/quotas.ts';

const LIMIT = 10_000;
const SENDS = 50;
/** Below what is reserved for a message of one word. */
const usage = { promptTokens: 300, cachedTokens: 0, outputTokens: 50, thoughtsTokens: 0 };

/** Fifty messages of one user at once, over four instances, with `left` of the day's tokens. */
async function raceFor(store: DocumentStore, left: number) {
  const uid = randomUUID();
  const now = new Date();
  const day = toDay(now);
  const fields = encodeUsage({ ...noUsage, tokens: LIMIT - left }, now);
  await store.commit([{ op: 'create', path: usagePath(uid, day), fields }]);
  const asked: string[] = [];
  const { model } = scriptedStreamer(textAnswer('Fine.', usage));
  const instances = Array.from({ length: 4 }, () =>
    limitedChat(
      { USER_DAILY_TOKENS: String(LIMIT) },
      {
        store,
        model: {
          stream: (modelRequest, signal) => {
            asked.push(modelRequest.promptId);
            return model.stream(modelRequest, signal);
          },
        },
      },
    ),
  );
  const caller = { uid, tier: 'signedIn' as const };
  const ends = await Promise.all(
    Array.from({ length: SENDS }, (_, i) => {
      const chat = instances[i % instances.length];
      if (!chat) throw new Error('there are four');
      return answerOrReason(chat, randomUUID(), { caller });
    }),
  );
  const after = await usageOf(store, { uid, day });
  return { ends, asked, after };
}

/** The same on the embedded store and on the database. */
export function raceTests(storeOf: () => DocumentStore): void {
  test('fifty messages for the last 1,000 tokens overspend none of them', async () => {
    const { ends, asked, after } = await raceFor(storeOf(), 1_000);

    const answered = ends.filter((end) => end === 'done').length;
    expect(answered).toBeGreaterThanOrEqual(1);
    expect(answered).toBeLessThanOrEqual(2);
    expect(ends.filter((end) => end === 'USER_DAILY_TOKENS')).toHaveLength(SENDS - answered);
    expect(asked).toHaveLength(answered);
    expect(after).toMatchObject({ messages: answered, open: [] });
    expect(after.tokens).toBe(LIMIT - 1_000 + answered * 350);
    expect(after.tokens).toBeLessThanOrEqual(LIMIT);
  });
}
