import { randomUUID } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import { fileURLToPath } from 'node:url';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { startStack } from '#infra/local/stack/start-stack.ts';
import { cpuMsOf, watchMemory } from '../hosts/process-use.ts';
import { lastWordsOf, scriptSchema, type Script } from '../hosts/script.ts';
import { startHost } from '../hosts/start-host.ts';
import { median } from '../measure.ts';

const MESSAGE = 'Tell me about the harbour.';

export interface StreamRun {
  /** From the request to its first text, ms. */
  p50Ms: number;
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
  /** Stands in every event with text, and in no other. */
  textMark: string;
  target: () => { url: string; headers: Record<string, string>; body: string };
}

interface Streams {
  recap: Side;
  proxy: Side;
  /** Sets how the model speaks from then on. */
  setScript(script: Partial<Script>): Promise<Script>;
  close(): Promise<void>;
}

const scriptAt = (name: string) => fileURLToPath(new URL(`../hosts/${name}.ts`, import.meta.url));

const sideOf = (processId: number, target: Side['target']): Side => ({
  processId,
  agent: new Agent({ keepAlive: true, maxFreeSockets: Number.POSITIVE_INFINITY }),
  textMark: '"text-delta"',
  target,
});

/** The first message of a new conversation, as a client of the local stack sends it, whose answer is to be a stream. */
export const sendRequest = (chatUrl: string, text: string) => ({
  url: `${chatUrl}/v1/conversations/${randomUUID()}/messages`,
  headers: {
    authorization: `Bearer ${unsignedToken({ uid: 'bench', projectId: localProjectId, now: new Date() })}`,
    accept: 'text/event-stream',
    'content-type': 'application/json',
  },
  body: JSON.stringify({ message: { id: randomUUID(), parts: [{ type: 'text', text }] } }),
});

/** Both functions over a store in memory, and a bare proxy, before one scripted model; a process each. */
export async function startStreams(): Promise<Streams> {
  const model = await startHost(scriptAt('scripted-model'));
  const [stack, proxy] = await Promise.all([
    startStack({
      embedded: true,
      shell: { PATH: process.env['PATH'] },
      sweepSeconds: 0,
      environment: { GEMINI_BASE_URL: model.url },
      log: () => undefined,
    }),
    startHost(scriptAt('bare-proxy'), [model.url]),
  ]);
  const functions = stack.processIds().find(({ part }) => part === 'functions');
  const recap = sideOf(functions?.processId ?? 0, () => sendRequest(stack.chatUrl, MESSAGE));
  const proxied = sideOf(proxy.processId, () => ({ url: proxy.url, headers: {}, body: MESSAGE }));
  return {
    recap,
    proxy: proxied,
    setScript: async (script) => {
      const request = { method: 'POST', body: JSON.stringify(script) };
      return scriptSchema.parse(await (await fetch(`${model.url}/script`, request)).json());
    },
    close: async () => {
      for (const { agent } of [recap, proxied]) agent.destroy();
      await Promise.all([proxy.close(), stack.stop()]);
      await model.close();
    },
  };
}

/** Reads one stream to its end; resolves to ms from the request to its first text. Throws Error unless it said all. */
function firstTextMs({ target, agent, textMark }: Side, lastWords: string): Promise<number> {
  const { url, headers, body } = target();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const startedAt = performance.now();
  const request = send(url, { method: 'POST', headers, agent }, (response) => {
    let firstMs: number | undefined;
    let said = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      if (firstMs === undefined && text.includes(textMark)) firstMs = performance.now() - startedAt;
      said += text;
    });
    response.on('error', reject);
    response.on('end', () =>
      firstMs !== undefined && said.includes(lastWords)
        ? resolve(firstMs)
        : reject(new Error(`${url} did not say all, HTTP ${response.statusCode}`)),
    );
  });
  request.on('error', reject).end(body);
  return promise;
}

/** So many streams at once on one side, while the model speaks as `script` says. */
export async function runStreams(
  side: Side,
  { streams, script }: { streams: number; script: Script },
): Promise<StreamRun> {
  const lastWords = lastWordsOf(script);
  const cpuBeforeMs = await cpuMsOf(side.processId);
  const memory = await watchMemory(side.processId);
  const startedAt = performance.now();
  const running = Array.from({ length: streams }, () => firstTextMs(side, lastWords));
  const firstMs = await Promise.all(running);
  const ms = performance.now() - startedAt;
  return {
    p50Ms: median(firstMs),
    eventsPerSecond: (streams * script.events) / (ms / 1_000),
    cpuMsPerStream: ((await cpuMsOf(side.processId)) - cpuBeforeMs) / streams,
    memoryKibPerStream: (await memory.addedKib()) / streams,
  };
}
