import { registerFunctions } from '#functions/bootstrap/register.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { pass, settle } from '#test/support/chat/streaming.ts';
import { compactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { openForTest } from '#test/support/open-for-test.ts';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { describe, expect, test } from 'vitest';

const serve = async (target: 'chat' | 'compaction') =>
  `${(await openForTest(getTestServer(target))).url}/`;

const notHere = () => Promise.reject(new Error('not here'));
const never = { clock: createManualClock(), drainMs: 8_000, chat: notHere, compaction: notHere };

test('a function whose start failed once starts with the next request, only once', async () => {
  let starts = 0;
  registerFunctions({
    ...never,
    compaction: () => {
      starts += 1;
      return starts === 1
        ? Promise.reject(new Error('the metadata server did not answer'))
        : Promise.resolve(compactionBench());
    },
  });
  const url = await serve('compaction');

  const statuses: number[] = [];
  for (let request = 0; request < 3; request++) statuses.push((await fetch(url)).status);

  expect(statuses).toEqual([500, 405, 405]);
  expect(starts).toBe(2);
});

describe('a process that is stopped', () => {
  /** A function whose loading the test ends, with one request that waits for it. */
  async function loading(target: 'chat' | 'compaction') {
    const clock = createManualClock();
    const begun = Promise.withResolvers<void>();
    const loaded = Promise.withResolvers<ChatDependencies>();
    const load = () => {
      begun.resolve();
      return loaded.promise;
    };
    const functions = registerFunctions(
      target === 'chat'
        ? { ...never, clock, chat: load }
        : { ...never, clock, compaction: () => load().then(() => compactionBench({ clock })) },
    );
    const answer = fetch(`${await serve(target)}v1/health`);
    answer.catch(() => undefined);
    await begun.promise;
    return { clock, functions, answer, loaded };
  }

  test('a process told to end answers the request whose function is still loading', async () => {
    const { clock, functions, answer, loaded } = await loading('chat');

    let isDrained = false;
    const drained = functions.drain().then(() => (isDrained = true));
    await settle();
    expect(isDrained).toBe(false);
    loaded.resolve(chatDependencies({ clock }));

    expect((await answer).status).toBe(200);
    expect(await drained).toBe(true);
  });

  test.each(['chat', 'compaction'] as const)(
    'a process told to end waits for a %s request within its time',
    async (target) => {
      const { clock, functions } = await loading(target);

      let isDrained = false;
      const drained = functions.drain().then(() => (isDrained = true));
      await pass(clock, 9_000, 500);
      expect(isDrained).toBe(false);
      await pass(clock, 500, 500);

      expect(await drained).toBe(true);
    },
  );
});
