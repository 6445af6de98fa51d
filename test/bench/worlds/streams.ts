import { createHash, randomUUID } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import { fileURLToPath } from 'node:url';
import { startStack } from '../../../infra/local/stack.ts';
import { localProjectId } from '../../../infra/local/stack-environment.ts';
import { unsignedToken } from '../../../infra/local/unsigned-token.ts';
import { percentile } from '../../eval/percentiles.ts';
import { type ProcessUse, useOf } from '../hosts/process-use.ts';
import { startHost } from '../hosts/start-host.ts';

const MESSAGE = 'Tell me about the harbour.';
/** Of about eight tokens each, as the stand-in cuts them. */
const EVENTS = 64;
const ANSWER = Array.from(
  { length: EVENTS },
  (_, index) => `Quay ${String(index).padStart(3, '0')} has boats at all hours. `,
).join('');

export interface StreamRun {
  /** From the request to its first text, ms, at the median and at 95 %. */
  p50Ms: number;
  p95Ms: number;
  /** Of the model, all streams together. */
  eventsPerSecond: number;
  cpuMsPerStream: number;
  memoryMiB: number;
}

interface Side {
  processId: number;
  target: () => { url: string; headers: Record<string, string>; body: string };
}

export interface Streams {
  recap: Side;
  proxy: Side;
  setTiming(timing: { timeToFirstTokenMs: number }): Promise<void>;
  close(): Promise<void>;
}

const proxyScript = fileURLToPath(new URL('../hosts/bare-proxy.ts', import.meta.url));

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body) }).then((reply) => reply.arrayBuffer());

/** Both functions over a store in memory, and a bare proxy, before one stand-in; a process each. */
export async function startStreams(): Promise<Streams> {
  const stack = await startStack({
    embedded: true,
    shell: { PATH: process.env['PATH'] },
    sweepSeconds: 0,
    // What is said again and again is no loop here.
    environment: { LOOP_DETECTION: 'off', TITLES: 'off' },
    log: () => undefined,
  });
  const { standInUrl = '', chatUrl } = stack;
  const proxy = await startHost(proxyScript, [standInUrl]);
  const userHash = createHash('sha256').update(MESSAGE).digest('hex');
  const contents = [{ role: 'model', parts: [{ text: ANSWER }] }];
  await post(`${standInUrl}/control/answers`, { answers: [{ userHash, ordinal: 1, contents }] });
  const token = unsignedToken({ uid: 'bench', projectId: localProjectId, now: new Date() });
  const functions = stack.processIds().find(({ part }) => part === 'functions');
  return {
    recap: {
      processId: functions?.processId ?? 0,
      target: () => ({
        url: `${chatUrl}/v1/conversations/${randomUUID()}/messages`,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          message: { id: randomUUID(), parts: [{ type: 'text', text: MESSAGE }] },
        }),
      }),
    },
    proxy: {
      processId: proxy.processId,
      target: () => ({ url: proxy.url, headers: {}, body: MESSAGE }),
    },
    setTiming: async (timing) => void (await post(`${standInUrl}/control/timing`, timing)),
    close: async () => {
      await Promise.all([proxy.close(), stack.stop()]);
    },
  };
}

/** One stream from the request to its end; resolves to ms until its first text. */
function oneStream({ target }: Side, agent: Agent): Promise<number> {
  const { url, headers, body } = target();
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    let firstMs: number | undefined;
    const request = send(url, { method: 'POST', headers, agent }, (response) => {
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        if (firstMs === undefined && text.includes('"text-delta"'))
          firstMs = performance.now() - startedAt;
      });
      response.on('error', reject);
      response.on('end', () =>
        firstMs === undefined
          ? reject(new Error(`${url} said nothing, HTTP ${response.statusCode}`))
          : resolve(firstMs),
      );
    });
    request.on('error', reject).end(body);
  });
}

/** So many streams at once on one side. */
export async function runStreams(side: Side, count: number): Promise<StreamRun> {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const before: ProcessUse = await useOf(side.processId);
  const startedAt = performance.now();
  const running = Array.from({ length: count }, () => oneStream(side, agent));
  const firstMs = await Promise.all(running);
  const ms = performance.now() - startedAt;
  const after = await useOf(side.processId);
  agent.destroy();
  return {
    p50Ms: percentile(firstMs, 50) ?? Number.NaN,
    p95Ms: percentile(firstMs, 95) ?? Number.NaN,
    eventsPerSecond: (count * EVENTS) / (ms / 1_000),
    cpuMsPerStream: (after.cpuMs - before.cpuMs) / count,
    memoryMiB: after.memoryMiB,
  };
}
