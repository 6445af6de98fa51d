import type { PhoneAction } from './phone.ts';
import type { Random } from '../random.ts';

/** Each action to one phone, in an order of its own: even a short run does each of them. */
export function deal(
  actions: readonly PhoneAction[],
  count: number,
  random: Random,
): PhoneAction[][] {
  const hands = Array.from({ length: count }, (): PhoneAction[] => []);
  const shuffled = actions
    .map((action) => ({ action, place: random.next() }))
    .toSorted((one, other) => one.place - other.place);
  for (const [index, { action }] of shuffled.entries()) hands[index % count]?.push(action);
  return hands;
}
