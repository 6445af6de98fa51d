import { fileURLToPath } from 'node:url';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { pushBody } from '#infra/local/embedded/push-delivery.ts';
import { chooseFreePort } from '#infra/local/processes/free-port.ts';
import { createTopic } from '#infra/local/stack/pubsub-setup.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { startFakeGemini, type FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import {
  demoProjectId,
  firestoreEmulatorHost,
  pubsubEmulatorHost,
} from '../support/processes/emulator-environment.ts';
import { forkHeld } from '../support/processes/held-process.ts';
import { eventually } from '../support/eventually.ts';

const script = fileURLToPath(new URL('held-functions.ts', import.meta.url));

/** Short, because every recovery waits for the lease of a dead process. */
const LEASE_MS = 1_000;

/** No request takes longer to come to a point, on a busy machine too. */
const REACH_MS = 20_000;

/** A process of both functions that is there to be killed. */
export interface Victim {
  /** One request to chat. Throws when it is refused; that it dies with its process is expected. */
  ask(request: { method: string; path: string; body?: object }): Promise<void>;
  /** One push to the worker. */
  push(event: object): Promise<void>;
  /** Kills it with SIGKILL when it has come to `point` during `work`. */
  killAt(point: string, work: (victim: Victim) => Promise<void>): Promise<void>;
}

interface Started {
  victim: Victim;
  kill(): Promise<void>;
}

export interface Victims {
  /** A server that lives: what people and the bus meet when they come again. */
  chat: ChatDependencies;
  worker: CompactionDependencies;
  fakeGemini: FakeGemini;
  /** The next process to be killed. */
  next(): Promise<Victim>;
  stop(): Promise<void>;
}

/** One request to a process that will be killed. Throws when it is refused, not when it dies with it. */
async function request(url: string, init: RequestInit): Promise<void> {
  const response = await fetch(url, init).catch(() => undefined);
  const text = await response?.text().catch(() => '');
  if (response && response.status >= 400 && response.status < 500)
    throw new Error(`${init.method} ${url} is refused: ${text}`);
}

async function startVictim(environment: NodeJS.ProcessEnv, token: string): Promise<Started> {
  const reserved = new Set<number>();
  const chatPort = await chooseFreePort(0, reserved);
  const workerPort = await chooseFreePort(0, reserved);
  const reached: string[] = [];
  const { child, kill } = await forkHeld(script, {
    arguments: [String(chatPort), String(workerPort)],
    environment,
    onReached: (point) => reached.push(point),
  });
  const victim: Victim = {
    ask: ({ method, path, body }) =>
      request(`http://127.0.0.1:${chatPort}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    push: (event) =>
      request(`http://127.0.0.1:${workerPort}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: pushBody(
          {
            messageId: '1',
            data: Buffer.from(JSON.stringify(event)).toString('base64'),
            attributes: {},
            publishTime: new Date().toISOString(),
          },
          'projects/demo/subscriptions/compaction',
        ),
      }),
    killAt: async (point, work) => {
      child.send(point);
      const worked = work(victim);
      const held = eventually(
        `a process at ${point}`,
        () => Promise.resolve(reached.includes(point) ? true : undefined),
        REACH_MS,
      );
      await Promise.race([held, worked.then(() => held)]);
      await kill();
      await worked;
    },
  };
  return { victim, kill };
}

/**
 * Functions on the emulators, in a project of their own: one that lives, in this process, and one after
 * the other that is killed. The next victim starts while the one before is being killed.
 */
export async function startVictims(): Promise<Victims> {
  const projectId = demoProjectId();
  const fakeGemini = await startFakeGemini();
  const emulators = { firestoreHost: firestoreEmulatorHost(), pubsubHost: pubsubEmulatorHost() };
  const environment = stackEnvironment({
    shell: process.env,
    model: { kind: 'stand-in' },
    fakeGeminiUrl: fakeGemini.url,
    emulators,
    settings: {
      GOOGLE_CLOUD_PROJECT: projectId,
      COMPACTION_TOPIC: 'compaction',
      EVENTS_TOPIC: 'events',
      // Prompts are compared with what was sent.
      TELL_TIME: 'with-context',
      TURN_LEASE_MS: String(LEASE_MS),
      COMPACTION_LEASE_MS: String(LEASE_MS),
    },
  });
  const place = { pubsubHost: emulators.pubsubHost, projectId };
  await Promise.all([createTopic(place, 'compaction'), createTopic(place, 'events')]);
  const own = createDependencies(localConfig(environment), { logger: { log: () => undefined } });
  const [chat, worker] = await Promise.all([own.chat(), own.compaction()]);
  const token = unsignedToken({ uid: 'u1', projectId, now: new Date() });
  const started: Promise<Started>[] = [];
  const start = () => {
    const starting = startVictim(environment, token);
    // Told by whoever takes this victim.
    starting.catch(() => undefined);
    started.push(starting);
  };
  start();
  return {
    chat,
    worker,
    fakeGemini,
    next: async () => {
      const present = started.at(-1);
      start();
      if (!present) throw new Error('there is no process');
      return (await present).victim;
    },
    stop: async () => {
      const all = await Promise.allSettled(started);
      for (const each of all) if (each.status === 'fulfilled') await each.value.kill();
      await fakeGemini.close();
    },
  };
}
