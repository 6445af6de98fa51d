import type { Pin } from '../documents/conversation.ts';
import { pinsAreWithin, type PinBudget } from './pin-budget.ts';
import { withPin } from './pins.ts';

/** The pins with one of a hook, without as many older hook pins as it takes; undefined: it does not fit. */
function roomForHookPin(pins: readonly Pin[], pin: Pin, budget: PinBudget): Pin[] | undefined {
  let next = withPin(pins, pin);
  while (!pinsAreWithin(next, budget)) {
    const oldest = next.find(({ id, source }) => source === 'hook' && id !== pin.id);
    if (!oldest) return undefined;
    next = next.filter((each) => each !== oldest);
  }
  return next;
}

interface HookPins {
  pins: readonly Pin[];
  /** Ids of those that did not fit. */
  leftOut: readonly string[];
}

/**
 * The pins with those that a hook returned. The newest wins: one takes the place of the pin that has its id,
 * and where the budget is full the oldest pins of hooks go. Pins of the owner never do: what does not fit
 * beside them is left out.
 */
export function withHookPins(
  pins: readonly Pin[],
  returned: readonly Pick<Pin, 'id' | 'text'>[],
  budget: PinBudget,
): HookPins {
  let next = pins;
  const leftOut: string[] = [];
  for (const { id, text } of returned) {
    const isSame = next.some((pin) => pin.id === id && pin.text === text);
    const room = isSame ? next : roomForHookPin(next, { id, text, source: 'hook' }, budget);
    if (room) next = room;
    else leftOut.push(id);
  }
  return { pins: next, leftOut };
}
