/** A seeded source of choices: the same seed and the same calls give the same values. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** True in `share` of the cases, 0 to 1. */
  chance(share: number): boolean;
  /** One of a list. Throws RangeError for an empty one. */
  pick<T>(list: readonly T[]): T;
  /** One of a list, more often the more it weighs. Throws RangeError when nothing weighs anything. */
  weighted<T extends { weight: number }>(list: readonly T[]): T;
  /** A UUID of version 4. */
  uuid(): string;
  /** A source of its own for one actor: how often others draw does not change what it draws. */
  fork(name: string): Random;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}

/** Tommy Ettinger's mulberry32: 32 bits of state are enough to choose faults. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function weighted<T extends { weight: number }>(list: readonly T[], next: () => number): T {
  const total = list.reduce((sum, { weight }) => sum + weight, 0);
  let left = next() * total;
  for (const entry of list) {
    left -= entry.weight;
    if (left < 0) return entry;
  }
  throw new RangeError('nothing to choose from: all weights are 0');
}

export function createRandom(seed: number | string): Random {
  const next = mulberry32(hash(String(seed)));
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const hex = (length: number) =>
    Array.from({ length }, () => integer(0, 15).toString(16)).join('');
  return {
    next,
    integer,
    chance: (share) => next() < share,
    pick: <T>(list: readonly T[]) => {
      if (list.length === 0) throw new RangeError('nothing to choose from: the list is empty');
      return list[integer(0, list.length - 1)] as T;
    },
    weighted: (list) => weighted(list, next),
    uuid: () =>
      `${hex(8)}-${hex(4)}-4${hex(3)}-${'89ab'.charAt(integer(0, 3))}${hex(3)}-${hex(12)}`,
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}
