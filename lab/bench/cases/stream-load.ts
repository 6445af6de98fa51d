import type { BenchCase, BenchGroup } from '../bench-case.ts';
import type { Script } from '../hosts/script.ts';
import { startCompactingChat } from '../worlds/compacting-chat.ts';
import { runStreams, startStreams, type StreamRun } from '../worlds/streams.ts';

/** As a model speaks: one event at a time. */
const talk = { events: 64, firstMs: 300, eventMs: 20 };
/** A long answer of a model that speaks at once. */
const longTalk = { events: 256, firstMs: 0, eventMs: 20 };
/** The same, of as many at once that a proxy on two processors is just able to follow, for eight seconds. */
const slowTalk = { events: 128, firstMs: 0, eventMs: 60 };
/** Faster than anybody can read. */
const burst = { events: 64, firstMs: 0, eventMs: 0 };

interface StreamCase extends Pick<
  BenchCase,
  'name' | 'unit' | 'direction' | 'aim' | 'samples' | 'isLong'
> {
  streams: number;
  script: Script;
  read: (run: StreamRun) => number;
  /** Whether the framework and the SDK are measured alone, too. */
  measuresSdksAlone?: boolean;
}

const first = { unit: 'ms', direction: 'atMost', aim: 1.5, script: talk } as const;
const flow = { unit: 'events/s', direction: 'atLeast', samples: 3, isLong: true } as const;
const p50 = ({ p50Ms }: StreamRun) => p50Ms;
const rate = ({ eventsPerSecond }: StreamRun) => eventsPerSecond;

const cases: StreamCase[] = [
  { name: 'ttft-1', ...first, streams: 1, samples: 7, read: p50 },
  {
    name: 'ttft-32-p95',
    ...first,
    isLong: true,
    streams: 32,
    samples: 5,
    read: ({ p95Ms }) => p95Ms,
  },
  {
    name: 'ttft-256',
    ...first,
    aim: 1.3,
    streams: 256,
    samples: 5,
    read: p50,
    measuresSdksAlone: true,
  },
  { name: 'stream-events', ...flow, aim: 0.9, streams: 256, script: longTalk, read: rate },
  { name: 'stream-events-1000', ...flow, aim: 0.85, streams: 1_000, script: slowTalk, read: rate },
  { name: 'stream-burst', ...flow, aim: 0.4, streams: 256, script: burst, read: rate },
  {
    name: 'stream-cpu',
    unit: 'ms',
    direction: 'atMost',
    aim: 1.4,
    samples: 5,
    streams: 256,
    script: talk,
    read: ({ cpuMsPerStream }) => cpuMsPerStream,
    measuresSdksAlone: true,
  },
];

const sideLabels: Readonly<Record<string, string>> = { sdksAlone: 'framework and SDK' };

/** What else was seen of a run, for the report. */
const described = (name: string, run: StreamRun) =>
  `${sideLabels[name] ?? name}: first text ${Math.round(run.p50Ms)} ms, p95 ${Math.round(run.p95Ms)}; ${run.cpuMsPerStream.toFixed(1)} ms of processor and ${Math.round(run.memoryKibPerStream)} KiB a stream`;

function proxiedCases(open: () => ReturnType<typeof startStreams>): BenchCase[] {
  return cases.map(({ streams, script, read, measuresSdksAlone = false, ...input }) => {
    const notes = new Map<string, string>();
    const sample = (side: 'recap' | 'proxy' | 'sdksAlone' | 'direct') => async () => {
      const world = await open();
      const run = await runStreams(world[side], {
        streams,
        script: await world.setScript(script),
      });
      notes.set(side, described(side, run));
      return read(run);
    };
    return {
      ...input,
      referenceName: 'a bare proxy',
      ours: sample('recap'),
      reference: async () => {
        await sample('direct')();
        return sample('proxy')();
      },
      ...(measuresSdksAlone && { sdksAlone: sample('sdksAlone') }),
      note: () => [...notes.values()].join('. '),
    };
  });
}

/** A thousand streams of processes that have seen nobody before: what they hold, above what they held. */
const memoryCase = (): BenchCase => {
  const side = (name: 'recap' | 'proxy') => async () => {
    const world = await startStreams();
    try {
      await runStreams(world[name], { streams: 8, script: await world.setScript(talk) });
      const script = await world.setScript({ events: 16, firstMs: 1_000, eventMs: 100 });
      return (await runStreams(world[name], { streams: 1_000, script })).memoryKibPerStream;
    } finally {
      await world.close();
    }
  };
  return {
    name: 'stream-memory',
    unit: 'KiB',
    referenceName: 'a bare proxy',
    direction: 'atMost',
    aim: 2,
    samples: 1,
    isLong: true,
    ours: side('recap'),
    reference: side('proxy'),
  };
};

/** Time to the first text of a turn whose conversation is being compacted. */
const compactingCase = (open: () => ReturnType<typeof startCompactingChat>): BenchCase => ({
  name: 'ttft-compacting',
  unit: 'ms',
  referenceName: 'the same without a compaction',
  direction: 'atMost',
  aim: 1.15,
  isLong: true,
  ours: async () => (await open()).whileCompacting(),
  reference: async () => (await open()).alone(),
});

/** Opens a world when it is first needed, once more where that failed; `close` ends one that was opened. */
function lazily<World extends { close(): Promise<void> }>(start: () => Promise<World>) {
  let opened: Promise<World> | undefined;
  return {
    open: () =>
      (opened ??= start().catch((error: unknown) => {
        opened = undefined;
        throw error;
      })),
    close: async () => (await opened)?.close(),
  };
}

/** Streams through the chat function, against a proxy that fetches and parses and does nothing else. */
export function streamGroup(): BenchGroup {
  const streams = lazily(startStreams);
  const compacting = lazily(startCompactingChat);
  return {
    name: 'streams',
    title: 'Streams',
    cases: [...proxiedCases(streams.open), memoryCase(), compactingCase(compacting.open)],
    close: async () => {
      await Promise.all([streams.close(), compacting.close()]);
    },
  };
}
