import { z } from 'zod';
import {
  decodeConversation,
  type Conversation,
  type Pin,
} from '#shared/conversation/documents/conversation.ts';
import { withHookPins } from '#shared/conversation/pins/hook-pins.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { pinBudget } from '#shared/conversation/pins/pin-budget.ts';
import type { Write } from '#shared/ports/ports.ts';
import { safeParse } from '#shared/safe-parse.ts';
import { pinIdSchema, pinTextSchema } from '#shared/wire/resources/pins.ts';
import { StoppedError } from './outcome.ts';
import type { ClaimedRun } from './run.ts';

const returnedPin = z.object({ id: pinIdSchema, text: pinTextSchema });

/** What a hook wants pinned. */
export interface ReturnedPins {
  hook: string;
  /** As the hook gave them. */
  pins: readonly unknown[];
}

type HookPin = Pick<Pin, 'id' | 'text'>;

/** Tells the operator, without any text; nothing stops. */
function warn(run: ClaimedRun, hook: string, leftOut: { reason: string; pins: number }) {
  if (leftOut.pins === 0) return;
  const { conversationId } = run.reading;
  const fields = { conversationId, hook, ...leftOut };
  run.dependencies.logger.log('WARNING', 'compaction_hook_pins_left_out', fields);
}

/** The pins that can be stored: half a surrogate pair would make every write of the conversation document fail. */
function usablePins(run: ClaimedRun, { hook, pins }: ReturnedPins): HookPin[] {
  const usable = pins.flatMap((pin) => {
    const read = safeParse(returnedPin, pin);
    return read.success ? [read.data] : [];
  });
  warn(run, hook, { reason: 'UNUSABLE', pins: pins.length - usable.length });
  return usable;
}

interface Placed {
  pins: readonly Pin[];
  leftOut: { hook: string; pins: number }[];
}

/** All hooks' pins put to those of a conversation document, in the order in which the hooks ran. */
function place(
  run: ClaimedRun,
  conversation: Conversation,
  returned: readonly { hook: string; pins: HookPin[] }[],
): Placed {
  const budget = pinBudget(run.reading.policy, conversation.context);
  let pins: readonly Pin[] = conversation.pins;
  const leftOut: Placed['leftOut'] = [];
  for (const each of returned) {
    const placed = withHookPins(pins, each.pins, budget);
    pins = placed.pins;
    leftOut.push({ hook: each.hook, pins: placed.leftOut.length });
  }
  return { pins, leftOut };
}

/**
 * The conversation document as it is now, to be written under its update time. Throws StoppedError when it moved on.
 */
async function readConversationOfRun({ dependencies, reading }: ClaimedRun) {
  const [document] = await dependencies.store.get([conversationPath(reading.conversationId)]);
  const conversation = document && decodeConversation(document);
  if (conversation?.value.state !== 'live')
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'NOT_LIVE' });
  if (conversation.value.generation !== reading.conversation.value.generation)
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'GENERATION_MOVED' });
  return conversation;
}

/**
 * Writes what PreCompact hooks want pinned to the conversation document, in one batch of its own under the conversation
 * document's update time, and returns the run with the pins as they are now. A pin that stands already writes nothing.
 * What cannot be pinned is logged as WARNING and left out. Throws StoppedError, GuardLostError when others won every
 * try, StoreUnavailableError.
 */
export async function storeHookPins(
  run: ClaimedRun,
  returned: readonly ReturnedPins[],
): Promise<ClaimedRun> {
  const usable = returned.map((each) => ({ hook: each.hook, pins: usablePins(run, each) }));
  if (usable.every(({ pins }) => pins.length === 0)) return run;
  const { conversationId, conversation } = run.reading;
  let placed: Placed = { pins: conversation.value.pins, leftOut: [] };
  await run.lease.commit(async (): Promise<Write[]> => {
    const now = await readConversationOfRun(run);
    placed = place(run, now.value, usable);
    if (placed.pins === now.value.pins) return [];
    return [
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { pins: [...placed.pins], updateTime: run.dependencies.clock.now() },
        guard: { updateTime: now.updateTime },
      },
    ];
  });
  for (const { hook, pins } of placed.leftOut) warn(run, hook, { reason: 'PIN_BUDGET', pins });
  const pins = [...placed.pins];
  return {
    ...run,
    reading: {
      ...run.reading,
      conversation: { ...conversation, value: { ...conversation.value, pins } },
    },
  };
}
