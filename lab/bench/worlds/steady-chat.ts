import { randomUUID } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';

/** Time between two messages, ms. */
const PACE_MS = 125;
/** Conversations that take turns, so that no two messages meet in one. */
const CONVERSATIONS = 50;

const token = unsignedToken({ uid: 'bench', projectId: localProjectId, now: new Date() });
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

export interface TimedTurn {
  /** On the clock of `performance.now`. */
  startedAtMs: number;
  /** From the request to the whole answer. */
  ms: number;
}

function oneTurn(url: string, agent: Agent): Promise<TimedTurn> {
  const startedAtMs = performance.now();
  const parts = [{ type: 'text', text: 'Where is it quiet in the morning?' }];
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST', headers, agent }, (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () =>
        response.statusCode === 200
          ? resolve({ startedAtMs, ms: performance.now() - startedAtMs })
          : reject(new Error(`${url} answered ${response.statusCode}`)),
      );
    });
    request.on('error', reject).end(JSON.stringify({ message: { id: randomUUID(), parts } }));
  });
}

export interface SteadyChat {
  /** Sends a message every 125 ms until `signal` fires, however long answers take. */
  during(signal: AbortSignal): Promise<TimedTurn[]>;
  close(): void;
}

/** Users who write at a steady pace to the chat function at `chatUrl`. */
export function createSteadyChat(chatUrl: string): SteadyChat {
  const agent = new Agent({ keepAlive: true });
  const urls = Array.from(
    { length: CONVERSATIONS },
    () => `${chatUrl}/v1/conversations/${randomUUID()}/messages`,
  );
  let next = 0;
  return {
    during: async (signal) => {
      const running: Promise<TimedTurn>[] = [];
      while (!signal.aborted) {
        running.push(oneTurn(urls[next++ % CONVERSATIONS] ?? '', agent));
        await delay(PACE_MS);
      }
      return Promise.all(running);
    },
    close: () => agent.destroy(),
  };
}
