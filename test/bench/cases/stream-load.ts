import { once } from '../../../shared/once.ts';
import type { BenchCase, BenchGroup } from '../bench-case.ts';
import { runStreams, startStreams, type StreamRun } from '../worlds/streams.ts';

/** What the model itself takes until its first token, in the cases of time. */
const MODEL_MS = 300;

interface StreamCase {
  name: string;
  unit: BenchCase['unit'];
  direction: BenchCase['direction'];
  aim: number;
  streams: number;
  modelMs: number;
  samples: number;
  read: (run: StreamRun) => number;
}

const cases: StreamCase[] = [
  {
    name: 'ttft-1',
    unit: 'ms',
    direction: 'atMost',
    aim: 1.5,
    streams: 1,
    modelMs: MODEL_MS,
    samples: 7,
    read: ({ p50Ms }) => p50Ms,
  },
  {
    name: 'ttft-32-p95',
    unit: 'ms',
    direction: 'atMost',
    aim: 1.5,
    streams: 32,
    modelMs: MODEL_MS,
    samples: 5,
    read: ({ p95Ms }) => p95Ms,
  },
  {
    name: 'ttft-256',
    unit: 'ms',
    direction: 'atMost',
    aim: 1.5,
    streams: 256,
    modelMs: MODEL_MS,
    samples: 3,
    read: ({ p50Ms }) => p50Ms,
  },
  {
    name: 'stream-events',
    unit: 'events/s',
    direction: 'atLeast',
    aim: 0.8,
    streams: 256,
    modelMs: 0,
    samples: 3,
    read: ({ eventsPerSecond }) => eventsPerSecond,
  },
  {
    name: 'stream-cpu',
    unit: 'ms',
    direction: 'atMost',
    aim: 1.6,
    streams: 256,
    modelMs: 0,
    samples: 3,
    read: ({ cpuMsPerStream }) => cpuMsPerStream,
  },
];

/** Streams through the chat function, against a proxy that fetches and parses and does nothing else. */
export function streamGroup(): BenchGroup {
  let isOpen = false;
  const open = once(() => {
    isOpen = true;
    return startStreams();
  });
  const toCase = ({ streams, modelMs, read, ...of }: StreamCase): BenchCase => {
    const notes = new Map<string, string>();
    const sample = (side: 'recap' | 'proxy') => async () => {
      const world = await open();
      await world.setTiming({ timeToFirstTokenMs: modelMs });
      const run = await runStreams(world[side], streams);
      notes.set(
        side,
        `${side} ${Math.round(run.memoryMiB)} MiB, ${run.cpuMsPerStream.toFixed(1)} ms of processor a stream`,
      );
      return read(run);
    };
    return {
      ...of,
      referenceName: 'a bare proxy',
      ours: sample('recap'),
      reference: sample('proxy'),
      note: () => [...notes.values()].join(', '),
    };
  };
  return {
    name: 'streams',
    title: 'Streams',
    cases: cases.map(toCase),
    close: async () => {
      if (isOpen) await (await open()).close();
    },
  };
}
