import type { Script } from '../hosts/script.ts';
import { atLeast, atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { openOnce } from '../worlds/open-once.ts';
import { runStreams, startStreams, type StreamRun } from '../worlds/streams.ts';

/** As a model speaks: one event at a time. */
const talk = { events: 64, firstMs: 300, eventMs: 20 };
/** A long answer of a model that speaks at once. */
const longTalk = { events: 256, firstMs: 0, eventMs: 20 };
/** Faster than anybody can read. */
const burst = { events: 64, firstMs: 0, eventMs: 0 };

interface StreamCase extends Pick<BenchCase, 'name' | 'unit' | 'aim' | 'samples' | 'isLong'> {
  streams: number;
  script: Script;
  read: (run: StreamRun) => number;
}

const p50 = ({ p50Ms }: StreamRun) => p50Ms;
const rate = ({ eventsPerSecond }: StreamRun) => eventsPerSecond;
const many = { streams: 256, samples: 5 };

const cases: StreamCase[] = [
  { name: 'ttft-1', unit: 'ms', aim: atMost(1.5), streams: 1, script: talk, read: p50 },
  { name: 'ttft-256', unit: 'ms', aim: atMost(1.3), ...many, script: talk, read: p50 },
  {
    name: 'stream-events',
    unit: 'events/s',
    aim: atLeast(0.9),
    ...many,
    isLong: true,
    script: longTalk,
    read: rate,
  },
  { name: 'stream-burst', unit: 'events/s', aim: atLeast(0.4), ...many, script: burst, read: rate },
  {
    name: 'stream-cpu',
    unit: 'ms',
    aim: atMost(1.4),
    ...many,
    script: talk,
    read: ({ cpuMsPerStream }) => cpuMsPerStream,
  },
];

/** Streams of processes that have seen nobody before: what they hold, above what they held. */
function memoryCase(): BenchCase {
  const side = (name: 'recap' | 'proxy') => async () => {
    const world = await startStreams();
    try {
      await runStreams(world[name], { streams: 8, script: await world.setScript(talk) });
      const script = await world.setScript({ events: 16, firstMs: 1_000, eventMs: 100 });
      return (await runStreams(world[name], { streams: 1_000, script })).memoryKibPerStream / 1_024;
    } finally {
      await world.close();
    }
  };
  return {
    name: 'stream-memory',
    unit: 'MiB',
    referenceName: 'a bare proxy, of a thousand streams one',
    aim: atMost(2),
    samples: 1,
    isLong: true,
    ours: side('recap'),
    reference: side('proxy'),
  };
}

/** Streams through the chat function, against a proxy that fetches and parses and does nothing else. */
export function streamGroup(): BenchGroup {
  const { open, close } = openOnce(startStreams);
  const proxied = cases.map(({ streams, script, read, ...input }): BenchCase => {
    const sample = (side: 'recap' | 'proxy') => async () => {
      const world = await open();
      return read(
        await runStreams(world[side], { streams, script: await world.setScript(script) }),
      );
    };
    return {
      ...input,
      referenceName: 'a bare proxy',
      ours: sample('recap'),
      reference: sample('proxy'),
    };
  });
  return { name: 'streams', title: 'Streams', cases: [...proxied, memoryCase()], close };
}
