import { describe, expect, test } from 'vitest';
import { compactionCrashPoints, type CompactionCrashPoint } from '#functions/lib/crash-points.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  neverAborted,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { longListings, openBreaker } from '#test/support/tools/tool-conversation.ts';

const dyingAt = (bench: CompactionBench, point: string) =>
  compactionBench({
    ...bench,
    atCrashPoint: (name) =>
      name === point ? Promise.reject(new Error(`died at ${name}`)) : Promise.resolve(),
  });

/** Conversations whose compaction takes another way. */
const ways = {
  straight: (bench: CompactionBench) => buildDue(bench),
  /** Tool outputs are shortened without a model. */
  shortened: async (bench: CompactionBench) => {
    const conversationId = await buildDue(bench, { turns: longListings(2) });
    await openBreaker(bench, conversationId);
    return conversationId;
  },
};

const pointsOnTheWay: Record<keyof typeof ways, CompactionCrashPoint[]> = {
  straight: [
    'received',
    'before-claim',
    'claimed',
    'planned',
    'call-held',
    'call-answered',
    'call-settled',
    'summarised',
    'status-written',
    'verified',
    'indexed',
    'before-swap',
    'swapped',
    'settled',
    'reported',
  ],
  shortened: ['blobs-saved'],
};

const rows = Object.entries(pointsOnTheWay).flatMap(([way, points]) =>
  points.map((point) => [point, way as keyof typeof ways] as const),
);

describe('crashes', () => {
  test.each(rows)(
    'a worker that dies at %s (%s) is finished by sweep and redelivery, with one swap',
    async (point, way) => {
      const bench = compactionBench();
      const conversationId = await ways[way](bench);
      await expect(compactOnce(dyingAt(bench, point), conversationId)).rejects.toThrow(
        `died at ${point}`,
      );

      bench.clock.advance(61_000);
      await runSweep(bench, neverAborted());
      await compactOnce(bench, conversationId);

      const { conversation, job } = await see(bench.store, conversationId);
      expect(conversation).toMatchObject({ generation: 1, compactionRequests: {} });
      expect(job?.owner).toBe('');
      expect(job?.records.filter(({ generation }) => generation === 1)).toHaveLength(1);
    },
  );

  test('a worker that dies after recording a failure leaves the request for the next one', async () => {
    const bench = compactionBench({
      model: createScriptedModel({ answers: ['', snapshotAnswer()] }),
    });
    const conversationId = await buildDue(bench);
    await expect(compactOnce(dyingAt(bench, 'record-written'), conversationId)).rejects.toThrow(
      'died at record-written',
    );
    const between = await see(bench.store, conversationId);

    bench.clock.advance(61_000);
    await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(between.conversation.compactionRequests).toEqual(autoRequest());
    expect(between.job).toMatchObject({ owner: '', attempts: { auto: { count: 1 } } });
    expect(conversation).toMatchObject({ generation: 1, compactionRequests: {} });
    expect(job?.records.map(({ state }) => state)).toEqual(['FAILED_EMPTY_SUMMARY', 'COMPACTED']);
  });

  test.each<[CompactionCrashPoint]>([
    ['sweep-turns-mended'],
    ['sweep-published'],
    ['sweep-request-dropped'],
    ['sweep-marked'],
    ['erase-begun'],
    ['erase-pass-done'],
    ['erase-uploads-released'],
    ['erase-tombstone-written'],
    ['sweep-erased'],
    ['sweep-swept'],
  ])('a sweep that dies at %s is finished by the next one', async (point) => {
    const bench = compactionBench();
    const past = new Date(0);
    bench.clock.advance(120_000);
    const due = await buildDue(bench);
    const deleted = await buildDue(bench, { conversation: { state: 'deleted' } });
    const open = await buildDue(bench, {
      conversation: { open: { seq: 20, leaseUntil: past }, compactionRequests: {} },
    });
    const expired = await buildDue(bench, {
      conversation: { expireTime: past, compactionRequests: {} },
    });
    const reached: string[] = [];
    const dying = compactionBench({
      ...bench,
      atCrashPoint: (name) => {
        reached.push(name);
        return name === point ? Promise.reject(new Error('died')) : Promise.resolve();
      },
    });

    await runSweep(dying, neverAborted()).catch(() => undefined);
    await runSweep(bench, neverAborted());

    const [dueConversation, deletedConversation, openConversation, expiredConversation] =
      await Promise.all(
        [due, deleted, open, expired].map(
          async (id) => (await see(bench.store, id).catch(() => undefined))?.conversation,
        ),
      );
    expect(reached).toContain(point);
    expect(bench.published).toContainEqual(
      expect.objectContaining({ data: expect.objectContaining({ conversationId: due }) }),
    );
    expect(dueConversation?.compactionRequests).toEqual(autoRequest());
    expect(deletedConversation?.compactionRequests).toEqual({});
    expect(openConversation?.open).toBeUndefined();
    expect(expiredConversation?.state).toBe('erased');
  });

  test('a test dies at every crash point', () => {
    const tried = new Set<string>([...rows.map(([point]) => point), 'record-written']);
    const elsewhere = Object.keys(compactionCrashPoints).filter((point) => !tried.has(point));

    expect(elsewhere.toSorted()).toEqual([
      'acknowledged',
      'erase-begun',
      'erase-pass-done',
      'erase-tombstone-written',
      'erase-uploads-released',
      'request-renewed',
      'sweep-erased',
      'sweep-marked',
      'sweep-published',
      'sweep-request-dropped',
      'sweep-swept',
      'sweep-turns-mended',
    ]);
  });

  test('the next worker waits until a dead worker’s lease has expired', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const dying = compactionBench({
      ...bench,
      atCrashPoint: (name) =>
        name === 'claimed' ? Promise.reject(new Error('died')) : Promise.resolve(),
    });
    await expect(compactOnce(dying, conversationId)).rejects.toThrow('died');

    const result = await compactOnce(bench, conversationId);

    expect(result).toEqual({ kind: 'later', reason: 'LEASE_HELD' });
  });

  test('a request whose worker always dies is settled after three attempts', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const dying = compactionBench({
      ...bench,
      atCrashPoint: (name) =>
        name === 'planned' ? Promise.reject(new Error('died')) : Promise.resolve(),
    });
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(compactOnce(dying, conversationId)).rejects.toThrow('died');
      bench.clock.advance(61_000);
    }

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'FAILED_ERROR', reason: 'ATTEMPTS_USED_UP' });
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });
});
