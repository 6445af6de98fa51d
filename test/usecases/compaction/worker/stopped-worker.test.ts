import { StoppedError } from '#functions/worker/compaction/job-lease.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  see,
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';
import { describe, expect, test } from 'vitest';

const dyingAt = (bench: CompactionBench, point: string) =>
  compactionBench({
    ...bench,
    atCrashPoint: (name) =>
      name === point ? Promise.reject(new Error(`died at ${name}`)) : Promise.resolve(),
  });

describe('a worker that is stopped, dies or meets others', () => {
  test('a deadline while the model writes is ABORTED and keeps the request', async () => {
    const controller = new AbortController();
    const bench = compactionBench({
      model: createScriptedModel({
        answers: [
          () => {
            controller.abort(new StoppedError({ state: 'ABORTED', reason: 'DEADLINE' }));
            return Promise.reject(new DOMException('stopped', 'AbortError'));
          },
        ],
      }),
    });
    const conversationId = await buildDue(bench);

    const result = await runCompaction(bench, { conversationId, signal: controller.signal });

    const { conversation, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'DEADLINE' });
    expect(conversation).toMatchObject({ generation: 0, compactionRequests: autoRequest() });
    expect(job).toMatchObject({ owner: '', brake: { failures: 0 } });
    expect(job?.records).toMatchObject([{ state: 'ABORTED' }]);
  });

  test('the lease is renewed while the model writes', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const seen: (Date | undefined)[] = [];
    const slow = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async () => {
            const before = await see(bench.store, conversationId);
            bench.clock.advance(20_000);
            for (let tries = 0; tries < 100; tries++) {
              const { job } = await see(bench.store, conversationId);
              seen.push(job?.leaseUntil);
              if (job && before.job && job.leaseUntil > before.job.leaseUntil) break;
            }
            return snapshotAnswer();
          },
          snapshotAnswer(),
        ],
      }),
    });

    const result = await compactOnce(slow, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(seen.at(-1)?.getTime()).toBe(bench.clock.now().getTime() + 60_000);
  });

  test('a lost lease stops the model call', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const slow = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async (_, signal) => {
            await bench.store.commit([
              {
                op: 'update',
                path: compactionJobPath(conversationId),
                fields: { owner: 'another', fence: 2 },
                guard: { exists: true },
              },
            ]);
            const { promise, reject } = Promise.withResolvers<string>();
            signal.addEventListener('abort', () => {
              reject(signal.reason);
            });
            bench.clock.advance(20_000);
            return promise;
          },
        ],
      }),
    });

    const result = await compactOnce(slow, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
    expect(job).toMatchObject({ owner: 'another', records: [] });
  });

  test('the next worker waits until a dead worker’s lease has expired', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await expect(compactOnce(dyingAt(bench, 'claimed'), conversationId)).rejects.toThrow('died');

    const result = await compactOnce(bench, conversationId);

    expect(result).toEqual({ kind: 'later', reason: 'LEASE_HELD' });
  });

  test('a request whose worker always dies is settled after three attempts', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(compactOnce(dyingAt(bench, 'planned'), conversationId)).rejects.toThrow('died');
      bench.clock.advance(61_000);
    }

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'FAILED_ERROR', reason: 'ATTEMPTS_USED_UP' });
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });

  test('five deliveries at once after an earlier compaction make one worker’s calls', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    for (let more = 0; more < 10; more++)
      await addTurn(bench.store, conversationId, {
        user: `More ${more}. `.repeat(40),
        answer: 'Yes.',
      });
    const manual = { requestId: 'request-2', since: bench.clock.now() };
    await setConversation(bench, conversationId, { 'compactionRequests.manual': manual });
    const calls = bench.model.calls.length;

    const results = await Promise.all(
      Array.from({ length: 5 }, () => compactOnce(compactionBench({ ...bench }), conversationId)),
    );

    expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    expect(bench.model.calls).toHaveLength(calls + 1);
  });
});
