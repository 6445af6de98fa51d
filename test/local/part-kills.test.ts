import { expect, test } from 'vitest';
import { createPartKills } from '#infra/local/supervisor/part-kills.ts';
import type { RestartablePart } from '#infra/local/stack/stack-children.ts';

/** A stack of two functions whose restarts end as the test says. */
function stackOf(restarts: readonly (() => Promise<void>)[]) {
  const asked: RestartablePart[] = [];
  const failures: unknown[] = [];
  const kills = createPartKills({
    stack: {
      processIds: () => [
        { part: 'chat', processId: 11 },
        { part: 'compaction', processId: 12 },
      ],
      restart: (part) => {
        asked.push(part);
        return restarts[asked.length - 1]?.() ?? Promise.resolve();
      },
    },
    onFailure: (_part, error) => failures.push(error),
  });
  return { kills, asked, failures };
}
const notReady = () => Promise.reject(new Error('was not ready after 15000 ms'));

test('a part that is restarting is not killed again', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { kills, asked } = stackOf([() => promise]);

  const first = kills.kill('chat');
  const second = kills.kill('chat');
  resolve();
  await kills.settled();

  expect([first, second]).toEqual([{ kind: 'killed', processId: 11 }, { kind: 'is-down' }]);
  expect(asked).toEqual(['chat']);
  expect(kills.state()[0]).toEqual({ part: 'chat', processId: 11, kills: 1, isDown: false });
});

test('a part that is not ready in time is restarted', async () => {
  const { kills, asked, failures } = stackOf([notReady, notReady]);

  kills.kill('compaction');
  await kills.settled();

  expect(asked).toEqual(['compaction', 'compaction', 'compaction']);
  expect(failures).toHaveLength(2);
  expect(kills.kill('compaction').kind).toBe('killed');
});

test('a part that never starts is given up, reported, and can be tried again', async () => {
  const { kills, asked, failures } = stackOf([notReady, notReady, notReady]);

  kills.kill('chat');
  await kills.settled();

  expect([asked.length, failures.length]).toEqual([3, 3]);
  expect(kills.state()[0]?.isDown).toBe(false);
});
