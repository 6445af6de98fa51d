import { once } from '#shared/once.ts';
import { percentile } from '#lab/eval/replay/percentiles.ts';
import type { BenchCase, BenchGroup } from '../bench-case.ts';
import { type QueueRun, runQueue } from '../worlds/queue-run.ts';

const CONVERSATIONS = 1_000;

const at = (latencies: readonly number[], percent: number) =>
  percentile(latencies, percent) ?? Number.NaN;

const spreadOf = (latencies: readonly number[]) =>
  `p50 ${Math.round(at(latencies, 50))} and p95 ${Math.round(at(latencies, 95))} ms of ${latencies.length}`;

function finishedNote({ settled, figures, weight }: QueueRun): string {
  const each = (sum: number) => (sum / weight.compacted).toFixed(1);
  return [
    `${weight.perSecond.toFixed(1)} conversations a second by one worker`,
    `${settled.twice} compacted twice`,
    `${figures.refused} pushes refused`,
    `each ${each(weight.reads)} reads, ${each(weight.writes)} writes in ${each(weight.commits)} batches, ${each(weight.cpuMs)} ms of processor`,
  ].join(', ');
}

const latencyNote = ({ beside, neutral, alone, chatCpuMs }: QueueRun): string =>
  `beside the queue ${spreadOf(beside)}, beside the neutral load ${spreadOf(neutral)}, alone ${spreadOf(alone)} and ${chatCpuMs.toFixed(1)} ms of chat's processor a turn`;

/** A thousand conversations that cross their threshold at once, and what chat feels of them. */
export function loadGroup(): BenchGroup {
  const measured = once(() => runQueue(CONVERSATIONS));
  const notes = { finished: '', latency: '' };
  const cases: BenchCase[] = [
    {
      name: 'queue-finished',
      unit: 'conversations',
      referenceName: 'those that crossed their threshold at once',
      direction: 'atLeast',
      aim: 1,
      samples: 1,
      isLong: true,
      ours: async () => {
        const run = await measured();
        notes.finished = finishedNote(run);
        return run.settled.once;
      },
      reference: () => CONVERSATIONS,
      note: () => notes.finished,
    },
    {
      name: 'queue-chat-latency',
      unit: 'ms',
      referenceName: 'p95 of a turn beside unrelated work of the same weight',
      direction: 'atMost',
      aim: 1.5,
      samples: 1,
      isLong: true,
      ours: async () => {
        const run = await measured();
        notes.latency = latencyNote(run);
        return at(run.beside, 95);
      },
      reference: async () => at((await measured()).neutral, 95),
      note: () => notes.latency,
    },
  ];
  return { name: 'load', title: 'A thousand conversations at once', cases };
}
