import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { startStack } from '#infra/local/stack/start-stack.ts';
import { percentile } from '#lab/eval/replay/percentiles.ts';
import { useOf, watchMemory } from '../hosts/process-use.ts';
import { lastWordsOf, MODEL_PATH, scriptSchema, type Script } from '../hosts/script.ts';
import { startHost } from '../hosts/start-host.ts';
import { firstTextMs, type StreamToRead } from './first-text.ts';
import { sendRequest } from './send-request.ts';

const MESSAGE = 'Tell me about the harbour.';

export interface StreamRun {
  /** From the request to its first text, ms, at the median and at 95 %. */
  p50Ms: number;
  p95Ms: number;
  /** Of the model, all streams together. */
  eventsPerSecond: number;
  cpuMsPerStream: number;
  /** Resident memory at its highest, above that before the run. */
  memoryKibPerStream: number;
}

/** What is asked: Recap, the proxy, or the model itself. */
interface Side {
  processId: number;
  /** Keeps its connections, as those who stand between phones and functions do. */
  agent: Agent;
  textMark: string;
  target: () => Pick<StreamToRead, 'url' | 'headers' | 'body'>;
}

interface Streams {
  recap: Side;
  proxy: Side;
  /** A function of the framework and the SDK alone. */
  sdksAlone: Side;
  direct: Side;
  /** How the model speaks from then on. */
  setScript(script: Partial<Script>): Promise<Script>;
  close(): Promise<void>;
}

const modelScript = fileURLToPath(new URL('../hosts/scripted-model.ts', import.meta.url));
const proxyScript = fileURLToPath(new URL('../hosts/bare-proxy.ts', import.meta.url));
const sdksAloneScript = fileURLToPath(new URL('../hosts/sdks-alone.ts', import.meta.url));

const sideOf = (
  processId: number,
  { target, textMark = '"text-delta"' }: { target: Side['target']; textMark?: string },
): Side => ({
  processId,
  agent: new Agent({ keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY }),
  textMark,
  target,
});

async function setScript(modelUrl: string, script: Partial<Script>): Promise<Script> {
  const request = { method: 'POST', body: JSON.stringify(script) };
  const reply = await fetch(`${modelUrl}/script`, request);
  return scriptSchema.parse(await reply.json());
}

/** Both functions over a store in memory, and a bare proxy, before one scripted model; a process each. */
export async function startStreams(): Promise<Streams> {
  const model = await startHost(modelScript);
  const [stack, proxy, sdksAlone] = await Promise.all([
    startStack({
      embedded: true,
      shell: { PATH: process.env['PATH'] },
      sweepSeconds: 0,
      environment: { GEMINI_BASE_URL: model.url },
      log: () => undefined,
    }),
    startHost(proxyScript, [model.url]),
    startHost(sdksAloneScript, [model.url]),
  ]);
  const functions = stack.processIds().find(({ part }) => part === 'functions');
  const sides = {
    recap: sideOf(functions?.processId ?? 0, {
      target: () => sendRequest(stack.chatUrl, { conversationId: randomUUID(), text: MESSAGE }),
    }),
    proxy: sideOf(proxy.processId, {
      target: () => ({ url: proxy.url, headers: {}, body: MESSAGE }),
    }),
    sdksAlone: sideOf(sdksAlone.processId, {
      target: () => ({
        url: sdksAlone.url,
        headers: { 'content-type': 'text/plain' },
        body: MESSAGE,
      }),
    }),
    direct: sideOf(model.processId, {
      target: () => ({ url: `${model.url}${MODEL_PATH}`, headers: {}, body: '{}' }),
      textMark: '"text"',
    }),
  };
  return {
    ...sides,
    setScript: (script) => setScript(model.url, script),
    close: async () => {
      for (const { agent } of Object.values(sides)) agent.destroy();
      await Promise.all([proxy.close(), sdksAlone.close(), stack.stop()]);
      await model.close();
    },
  };
}

/** So many streams at once on one side, while the model speaks as `script` says. */
export async function runStreams(
  { processId, target, agent, textMark }: Side,
  { streams, script }: { streams: number; script: Script },
): Promise<StreamRun> {
  const lastWords = lastWordsOf(script);
  const before = await useOf(processId);
  const memory = watchMemory(processId);
  const startedAt = performance.now();
  const running = Array.from({ length: streams }, () =>
    firstTextMs({ ...target(), agent, textMark, lastWords }),
  );
  const firstMs = await Promise.all(running);
  const ms = performance.now() - startedAt;
  const peakMiB = await memory.peakMiB();
  const after = await useOf(processId);
  return {
    p50Ms: percentile(firstMs, 50) ?? Number.NaN,
    p95Ms: percentile(firstMs, 95) ?? Number.NaN,
    eventsPerSecond: (streams * script.events) / (ms / 1_000),
    cpuMsPerStream: (after.cpuMs - before.cpuMs) / streams,
    memoryKibPerStream: ((peakMiB - before.memoryMiB) * 1_024) / streams,
  };
}
