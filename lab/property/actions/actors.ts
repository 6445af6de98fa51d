import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { Replacing } from '#functions/chat/turns/send/send-request.ts';
import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { indexConversation } from '#functions/recall/index-turns.ts';
import { runWhenDue, SHORT_PAUSE_MS } from '#functions/worker/compaction/run-compaction.ts';
import { CONVERSATION } from '#lab/property/initial-state.ts';
import type { Flow, Interleaving } from '#lab/property/interleaving.ts';
import { questionText } from '#lab/property/scripted-models.ts';
import type { World } from '#lab/property/world.ts';
import { workerEventSchema } from '#shared/compaction/event.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';

/** One thing that a client, the bus or the passing of time does. */
export interface Action {
  /** What a person reads in a failing program. */
  text: string;
  /** The server that it happens on; absent: none. */
  server?: string;
  run(stage: Stage): Promise<void>;
}

/** Where an action runs: the flow is that of its strand on its server. */
export interface Stage {
  world: World;
  interleaving: Interleaving;
  flow: Flow;
}

export const caller = { uid: 'u1', tier: 'signedIn' } as const;
export const ownConversation = { caller, conversationId: CONVERSATION };

export const messageIdOf = (name: string) => `message-${name}`;

/** The chat function on the server of the action, for one request. */
export function chatOf({ world, flow }: Stage): ChatDependencies {
  return world.chat(world.server(flow.process?.name ?? ''), flow);
}

/** A message to send, by the name in its marks. */
export interface Sending {
  name: string;
  text?: string;
  replacing?: Replacing | undefined;
}

/** Sends a message and waits for its answer, as a client that stays on the line. */
export async function send(stage: Stage, { name, text, replacing }: Sending): Promise<void> {
  const { journal } = stage.world;
  const id = messageIdOf(name);
  const said = text ?? (replacing?.kind === 'regenerate' ? undefined : questionText(name));
  if (!journal.sent.has(id)) journal.sent.set(id, { name, replacing });
  const handle = await sendMessage(chatOf(stage), {
    ...ownConversation,
    message: { id, parts: said === undefined ? [] : [{ text: said }] },
    ...(replacing && { replacing }),
  });
  const { turn } = await handle.result;
  // One that waits for the app has no answer yet.
  if (isTerminal(turn.state)) journal.acknowledged.push({ messageId: id, text: said, turn });
}

/** What the subscription does: then the event goes to the dead-letter topic. */
const DELIVERIES_MAX = 8;
/** After a crash the bus waits for the acknowledgement deadline. */
const ACKNOWLEDGE_MS = 10_000;

const compaction = { kind: 'compact', conversationId: CONVERSATION } as const;

/** What an event asks for; a sweep is an action of its own. */
type Asked = Readonly<{
  kind: 'compact' | 'erase' | 'index';
  conversationId: string;
  isBroken?: boolean | undefined;
}>;

/** `later` is acknowledged; `refused` is delivered again. */
type Delivered = { reason?: string | undefined } & (
  | { kind: 'done' }
  | { kind: 'later'; retryAfterMs?: number }
  | { kind: 'refused'; retryAfterMs: number }
);

/** One push to the worker of the flow, answered as the push handler answers. */
export async function deliverOnce(
  world: World,
  flow: Flow,
  asked: Asked = compaction,
): Promise<Delivered> {
  const dependencies = world.worker(world.server(flow.process?.name ?? ''), flow);
  const { signal } = new AbortController();
  const { kind, conversationId, isBroken = false } = asked;
  try {
    if (kind === 'compact') {
      const result = await runWhenDue(dependencies, { conversationId, signal });
      if (result.kind !== 'retry') return result;
      // Published anew, or left to the sweep.
      const { retryAfterMs, reason } = result;
      return retryAfterMs <= SHORT_PAUSE_MS
        ? { kind: 'refused', retryAfterMs: 1, reason }
        : { kind: 'later', retryAfterMs, reason };
    }
    if (kind === 'index')
      await indexConversation(dependencies, { conversationId, isBroken }, signal);
    else await eraseConversation(dependencies, conversationId, signal);
    return { kind: 'done' };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.retryable
      ? { kind: 'refused', retryAfterMs: error.retryAfterMs ?? 1_000, reason: error.reason }
      : { kind: 'done', reason: error.reason };
  }
}

/** A push that is repeated until it is acknowledged. */
export async function deliver(world: World, interleaving: Interleaving, flow: Flow): Promise<void> {
  for (let delivery = 0; delivery < DELIVERIES_MAX; delivery++) {
    const result = await deliverOnce(world, flow);
    if (result.kind !== 'refused') return;
    await interleaving.clock(flow).wait(Math.max(1, result.retryAfterMs));
  }
}

/** Pushes every published event until it is acknowledged, to one worker and then to the other. */
export function connectBus(world: World, interleaving: Interleaving): void {
  let events = 0;

  async function deliverEvent(event: number, asked: Asked): Promise<void> {
    const lane = interleaving.lane(`event ${event}`);
    for (let delivery = 0; delivery < DELIVERIES_MAX; delivery++) {
      await interleaving.step({ lane, process: undefined }, () => 'is delivered');
      const { process } = world.server(`worker-${(event + delivery) % 2}`);
      const result = await Promise.race([
        deliverOnce(world, { lane, process }, asked),
        process.crashed.then((): Delivered => ({
          kind: 'refused',
          retryAfterMs: ACKNOWLEDGE_MS,
          reason: 'CRASHED',
        })),
      ]);
      if (result.kind !== 'refused') return;
      await interleaving.clock({ lane, process: undefined }).wait(Math.max(1, result.retryAfterMs));
    }
  }

  world.onEvent((data) => {
    const asked = workerEventSchema.parse(data);
    if (asked.kind === 'sweep') return;
    deliverEvent(events++, asked).catch((error: unknown) =>
      world.journal.errors.push({ action: 'delivery', error }),
    );
  });
}
