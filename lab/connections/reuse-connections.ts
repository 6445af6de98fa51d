import { Agent, request as send } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** What is sent on a connection, time and again. */
interface Call {
  url: string;
  headers: Record<string, string>;
  body: string;
}

interface ReuseOptions {
  /** How many clients call at the same time, each over a connection of its own. */
  clients: number;
  /** When no client begins another call, ms from the beginning. */
  durationMs: number;
  /** Pauses between two calls of a client, ms; each is drawn from this range. */
  pauseMs: { from: number; to: number };
  call: () => Call;
  /** What a complete answer ends with. */
  lastWords: string;
}

export interface ReuseFigures {
  requests: number;
  /** Requests on a connection that had served another before. */
  reused: number;
  /** Connections that were closed under a request, by the client's code of the error. */
  resets: Record<string, number>;
  /** Answers with another status than 200, or without their end. */
  incomplete: number;
}

/**
 * Keeps idle connections for as long as the server does, like Google's front end. Node's own agent closes one a second
 * before the time that the server announced, and so hides a server that closes early.
 */
class PatientAgent extends Agent {
  override keepSocketAlive(socket: Duplex): boolean {
    if ('unref' in socket && typeof socket.unref === 'function') socket.unref();
    return true;
  }
}

type Outcome = 'complete' | 'incomplete' | { code: string };

function callOnce(agent: Agent, { url, headers, body }: Call, lastWords: string) {
  const { promise, resolve } = Promise.withResolvers<{ outcome: Outcome; isReused: boolean }>();
  const settle = (outcome: Outcome) => resolve({ outcome, isReused: request.reusedSocket });
  const fail = (error: Error) =>
    settle({ code: 'code' in error ? String(error.code) : error.message });
  const request = send(url, { method: 'POST', headers, agent }, (response) => {
    let said = '';
    response.setEncoding('utf8');
    response.on('data', (text: string) => (said += text));
    response.on('error', fail);
    response.on('end', () => {
      const isComplete = response.statusCode === 200 && said.includes(lastWords);
      settle(isComplete ? 'complete' : 'incomplete');
    });
  });
  request.on('error', fail).end(body);
  return promise;
}

/** One client: calls, pauses and calls again over its one connection, and never tries a call again. */
async function runClient(options: ReuseOptions, figures: ReuseFigures): Promise<void> {
  const { durationMs, pauseMs, call, lastWords } = options;
  const agent = new PatientAgent({ keepAlive: true, maxSockets: 1 });
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    const { outcome, isReused } = await callOnce(agent, call(), lastWords);
    figures.requests += 1;
    if (isReused) figures.reused += 1;
    if (outcome === 'incomplete') figures.incomplete += 1;
    if (typeof outcome === 'object')
      figures.resets[outcome.code] = (figures.resets[outcome.code] ?? 0) + 1;
    await wait(pauseMs.from + Math.random() * (pauseMs.to - pauseMs.from));
  }
  agent.destroy();
}

/** Lets clients reuse their connections until the time is over; resolves to what they saw. */
export async function reuseConnections(options: ReuseOptions): Promise<ReuseFigures> {
  const figures: ReuseFigures = { requests: 0, reused: 0, resets: {}, incomplete: 0 };
  await Promise.all(Array.from({ length: options.clients }, () => runClient(options, figures)));
  return figures;
}
