import type { Head } from '#shared/conversation/documents/head.ts';
import { newHead } from '#shared/conversation/documents/new-head.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** The head of a conversation that begins now, with the deployment's settings. */
export function firstHead(
  { config, randomness, clock }: Pick<ChatDependencies, 'config' | 'randomness' | 'clock'>,
  caller: Caller,
  memoryRevision: number,
): Head {
  return newHead({
    epoch: randomness.uuid(),
    ownerUid: caller.uid,
    model: config.MODEL,
    profile: config.PROFILE,
    systemInstruction: config.SYSTEM_INSTRUCTION,
    memoryRevision,
    now: clock.now(),
  });
}
