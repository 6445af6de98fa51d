import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { drainChat } from '#functions/chat/drain.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { Replacing } from '#functions/chat/turns/send/send-request.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { createPushHandler } from '#functions/worker/push/handle-push.ts';
import { pushBody } from '#infra/local/embedded/memory-bus.ts';
import { ownConversation, messageIdOf } from '#lab/property/actions/actors.ts';
import type { Interleaving } from '#lab/property/interleaving.ts';
import { questionText } from '#lab/property/scripted-models.ts';
import { sweepEvent } from '#shared/compaction/event.ts';
import type { OnBusy } from '#shared/conversation/documents/conversation.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { KilledWorld } from './killed-world.ts';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** A phone that hears nothing for so long sends again. */
const PHONE_TIMEOUT_MS = 20_000;
const PHONE_WAIT_MS = 1_000;
const PHONE_TRIES = 40;

/** As in the deployed subscription, but for the deadline: nobody has ten minutes. */
const DELIVERIES_MAX = 8;
const ACKNOWLEDGE_MS = 30_000;

interface Saying {
  name: string;
  onBusy?: OnBusy;
  replacing?: Replacing;
}

type Heard<T> = { value: T } | { error: unknown } | 'nothing';

/** What everybody before the servers shares. */
interface Scene {
  world: KilledWorld;
  interleaving: Interleaving;
  /** Whether who hears nothing tries again. */
  patience: { isLeft: boolean };
}

/** What comes of `work` on a server that may die, or be silent for too long. */
async function hear<T>(
  { world, interleaving }: Scene,
  input: { server: string; timeoutMs: number },
  work: Promise<T>,
): Promise<Heard<T>> {
  const done = new AbortController();
  const lane = interleaving.lane('a deadline');
  const late = interleaving
    .clock({ lane, process: undefined })
    .wait(input.timeoutMs, done.signal)
    .then(() => 'nothing' as const);
  const { crashed } = world.server(input.server).process;
  const heard = await Promise.race([
    work.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
    crashed.then(() => 'nothing' as const),
    late,
  ]);
  done.abort();
  return heard;
}

const pass = ({ interleaving }: Scene, ms: number) =>
  interleaving.clock({ lane: interleaving.lane('time'), process: undefined }).wait(ms);

/** Whether the phone has its answer, or one that ends its trying. */
function isFinal({ world }: Scene, what: string, heard: Heard<unknown>): boolean {
  if (heard === 'nothing') return false;
  if ('value' in heard) return true;
  const { error } = heard;
  const isClear = error instanceof AppError && error.reason !== 'INTERNAL';
  if (!isClear) world.journal.errors.push({ action: what, error });
  return !isClear || !error.retryable;
}

interface Asking<T> {
  what: string;
  ask: (chat: ChatDependencies) => Promise<T>;
  servers: readonly [string, string];
}

/** Asks the first server, and after it the second one, until the answer is final. */
async function phone<T>(scene: Scene, { what, ask, servers }: Asking<T>): Promise<T | undefined> {
  const { world, interleaving } = scene;
  for (let tries = 0; tries < PHONE_TRIES; tries++) {
    const server = servers[Math.min(tries, 1)] ?? servers[0];
    const input = world.server(server);
    const flow = { lane: interleaving.lane(what), process: input.process };
    const asked = ask(world.chat(input, flow));
    const heard = await hear(scene, { server, timeoutMs: PHONE_TIMEOUT_MS }, asked);
    if (isFinal(scene, what, heard))
      return heard !== 'nothing' && 'value' in heard ? heard.value : undefined;
    if (!scene.patience.isLeft) return undefined;
    await pass(scene, PHONE_WAIT_MS);
  }
  throw new Error(`${what}: asked ${PHONE_TRIES} times, and there is no final answer`);
}

interface Push {
  /** Ends with the handler. */
  handled: Promise<void>;
  /** What Pub/Sub has heard so far: an acknowledgement, a refusal, or nothing. */
  answer: () => { isAcknowledged: boolean; retryAfterMs: number } | undefined;
}

/** One push of an event to a worker, through its handler and without a network. */
function pushEvent(dependencies: WorkerDependencies, event: { id: string; data: object }): Push {
  const request = new IncomingMessage(new Socket());
  request.method = 'POST';
  request.url = '/';
  request.push(
    pushBody(
      {
        messageId: event.id,
        data: Buffer.from(JSON.stringify(event.data)).toString('base64'),
        attributes: {},
        publishTime: '2026-01-02T03:04:05Z',
      },
      'projects/demo-recap/subscriptions/compaction',
    ),
  );
  request.push(null);
  const response = new ServerResponse(request);
  return {
    handled: createPushHandler(dependencies)(request, response),
    answer: () =>
      response.writableEnded
        ? {
            isAcknowledged: response.statusCode === 204,
            retryAfterMs: Number(response.getHeader('retry-after') ?? 1) * 1_000,
          }
        : undefined,
  };
}

/**
 * An event is delivered to the first worker, and after it to the second one, until one acknowledges; after
 * eight times it is a dead letter, and the sweep finds what it was about.
 */
async function deliver(scene: Scene, event: { id: string; data: object }): Promise<void> {
  const { world, interleaving, patience } = scene;
  for (let delivery = 0; delivery < DELIVERIES_MAX; delivery++) {
    const server = `worker-${Math.min(delivery, 1)}`;
    const input = world.server(server);
    const flow = { lane: interleaving.lane(event.id), process: input.process };
    const { handled, answer } = pushEvent(world.worker(input, flow), event);
    const heard = await hear(scene, { server, timeoutMs: ACKNOWLEDGE_MS }, handled);
    if (heard !== 'nothing' && 'error' in heard)
      world.journal.errors.push({ action: event.id, error: heard.error });
    if (answer()?.isAcknowledged === true || !patience.isLeft) return;
    await pass(scene, answer()?.retryAfterMs ?? PHONE_WAIT_MS);
  }
}

/** A message as a phone sends it; the answer is remembered, however late it comes. */
function sending({ world: { journal } }: Scene, { name, onBusy, replacing }: Saying) {
  const id = messageIdOf(name);
  const text = replacing?.kind === 'regenerate' ? undefined : questionText(name);
  const message = { id, parts: text === undefined ? [] : [{ text }] };
  journal.sent.set(id, { name, replacing });
  return async (chat: ChatDependencies) => {
    const handle = await sendMessage(chat, {
      ...ownConversation,
      message,
      ...(onBusy && { onBusy }),
      ...(replacing && { replacing }),
    });
    const { turn } = await handle.result;
    journal.acknowledged.push({ messageId: id, text, turn });
    return turn;
  };
}

/** The process is told to end. */
async function drain({ world, interleaving }: Scene, server: string): Promise<void> {
  const input = world.server(server);
  const flow = { lane: interleaving.lane('drain'), process: input.process };
  world.shutdownOf(input).abort();
  await Promise.race([
    drainChat(world.chat(input, flow), new Set()).catch(() => undefined),
    input.process.crashed,
  ]);
}

const FIRST_THEN_SECOND = ['chat-0', 'chat-1'] as const;

export type Stage = ReturnType<typeof createStage>;

/**
 * Phones and a bus before the servers of a world: both try again until they hear something final, or,
 * `isLeftAlone`, never.
 */
export function createStage(
  world: KilledWorld,
  { interleaving, isLeftAlone }: { interleaving: Interleaving; isLeftAlone: boolean },
) {
  const scene: Scene = { world, interleaving, patience: { isLeft: !isLeftAlone } };
  let events = 0;
  const deliverNext = (data: object) => deliver(scene, { id: `event ${events++}`, data });
  world.onEvent((data) => {
    deliverNext(data).catch((error: unknown) =>
      world.journal.errors.push({ action: 'delivery', error }),
    );
  });
  return {
    world,
    interleaving,
    pass: (ms: number) => pass(scene, ms),
    phone: <T>(
      what: string,
      ask: (chat: ChatDependencies) => Promise<T>,
      servers: readonly [string, string] = FIRST_THEN_SECOND,
    ) => phone(scene, { what, ask, servers }),
    deliver: deliverNext,
    /** The scheduler comes again and again, whoever else does not. */
    sweep: () => deliverNext(sweepEvent),
    /** From here on everybody comes back. */
    insist: <T>(work: () => Promise<T>): Promise<T> => {
      scene.patience.isLeft = true;
      return work();
    },
    /** Says something, and stays on the line until it is answered. */
    say: (saying: Saying, servers: readonly [string, string] = FIRST_THEN_SECOND) =>
      phone(scene, { what: `saying ${saying.name}`, ask: sending(scene, saying), servers }),
    drain: (server: string) => drain(scene, server),
  };
}
