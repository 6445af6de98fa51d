import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { Replacing } from '#functions/chat/turns/send/send-request.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { CONVERSATION } from '../initial-state.ts';
import type { Interleaving } from '../interleaving.ts';
import type { Flow } from '../flow.ts';
import { questionText } from '../scripted-models.ts';
import type { World } from '../world.ts';

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
